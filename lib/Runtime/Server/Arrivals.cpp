//===- Arrivals.cpp - the order of what a server did ----------------------===//

#include "Arrivals.h"

#include "Core/Error.h"
#include "System/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace dtc::rt;

static std::string makeHeader(int workers) {
  return format("dtc-arrivals 1 workers %d", workers);
}

static std::string describe(const Arrival &arrival) {
  long long step = arrival.share.step, index = arrival.share.index;
  return arrival.isGiven
             ? format("give %lld %lld %d\n", step, index, arrival.worker)
             : format("apply %lld %lld\n", step, index);
}

ArrivalFile::ArrivalFile(const std::string &path, int workers,
                         int64_t firstStep) {
  std::string text = makeHeader(workers) + "\n";
  if (firstStep > 1 && fileExists(path))
    for (const Arrival &arrival : readArrivals(path, workers))
      if (arrival.share.step < firstStep)
        text += describe(arrival);
  file = RecordFile(path, /*append=*/false);
  file.begin(text);
}

void ArrivalFile::write(const Arrival &arrival) {
  if (!file.isOpen())
    return;
  if (std::string warning = file.write(describe(arrival), arrival.share.step);
      !warning.empty())
    fail("--record-arrivals: %s", warning.c_str());
}

std::vector<Arrival> dtc::rt::readArrivals(const std::string &path,
                                           int workers) {
  std::ifstream file(path);
  if (!file)
    fail("cannot open the order of arrival '%s': %s", path.c_str(),
         strerror(errno));
  std::string line;
  std::getline(file, line);
  if (line != makeHeader(workers))
    fail("the order of arrival '%s' begins with '%.60s', expected '%s': a file "
         "of --record-arrivals with as many workers",
         path.c_str(), line.c_str(), makeHeader(workers).c_str());
  std::vector<Arrival> arrivals;
  for (int64_t number = 2; std::getline(file, line); ++number) {
    std::istringstream text(line);
    std::string kind, rest;
    Arrival arrival{};
    text >> kind >> arrival.share.step >> arrival.share.index;
    arrival.isGiven = kind == "give";
    if (arrival.isGiven)
      text >> arrival.worker;
    bool isValid = !text.fail() && (arrival.isGiven || kind == "apply") &&
                   arrival.share.step >= 1 && arrival.worker >= 0 &&
                   arrival.worker < workers && !(text >> rest);
    if (!isValid)
      fail("line %lld of the order of arrival '%s' is '%.60s', expected 'give "
           "STEP SHARE WORKER' or 'apply STEP SHARE'",
           (long long)number, path.c_str(), line.c_str());
    arrivals.push_back(arrival);
  }
  return arrivals;
}
