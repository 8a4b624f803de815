//===- Arrivals.cpp - the order of what a server did ----------------------===//

#include "Arrivals.h"

#include "Core/Error.h"
#include "System/WriteFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace dtc::rt;

static std::string makeHeader(int64_t workers) {
  return format("dtc-arrivals 1 workers %lld", (long long)workers);
}

static std::string describe(const Arrival &arrival) {
  long long step = arrival.share.step, index = arrival.share.index;
  return arrival.isGiven ? format("give %lld %lld %lld\n", step, index,
                                  (long long)arrival.worker)
                         : format("apply %lld %lld\n", step, index);
}

ArrivalFile::ArrivalFile(const std::string &path, int64_t workers,
                         int64_t firstStep) {
  std::string text = makeHeader(workers) + "\n";
  bool goesOn = firstStep > 1 && std::filesystem::is_regular_file(path);
  if (goesOn) {
    for (const Arrival &arrival : readArrivals(path, workers))
      if (arrival.share.step < firstStep)
        text += describe(arrival);
    // A kill leaves the former file, or this one.
    if (!replaceFile(path, text, 0644))
      fail("cannot write '%s': %s", path.c_str(), strerror(errno));
  }
  file = RecordFile(path, /*append=*/goesOn);
  if (!goesOn)
    file.begin(text);
}

void ArrivalFile::write(const Arrival &arrival) {
  // Without the rest of the order, the training could not be repeated.
  if (file.isOpen())
    file.begin(describe(arrival));
}

std::vector<Arrival> dtc::rt::readArrivals(const std::string &path,
                                           int64_t workers) {
  std::ifstream file(path);
  if (!file)
    fail("cannot open the order of arrival '%s': %s", path.c_str(),
         strerror(errno));
  // Not all of a device without an end.
  char header[64] = {};
  file.getline(header, sizeof header);
  std::string line = header;
  if (line != makeHeader(workers))
    fail("the order of arrival '%s' begins with '%s', expected '%s': a file of "
         "--record-arrivals with as many workers",
         path.c_str(), line.c_str(), makeHeader(workers).c_str());
  std::vector<Arrival> arrivals;
  for (int64_t number = 2; std::getline(file, line) && !file.eof(); ++number) {
    std::istringstream text(line);
    std::string kind, rest;
    Arrival arrival{};
    text >> kind >> arrival.share.step >> arrival.share.index;
    arrival.isGiven = kind == "give";
    if (arrival.isGiven)
      text >> arrival.worker;
    bool isValid = !text.fail() && (arrival.isGiven || kind == "apply") &&
                   arrival.share.step >= 1 &&
                   arrival.worker >= (arrival.isGiven ? 1 : 0) &&
                   arrival.worker <= workers && !(text >> rest);
    if (!isValid)
      fail("line %lld of the order of arrival '%s' is '%.60s', expected 'give "
           "STEP SHARE WORKER' or 'apply STEP SHARE'",
           (long long)number, path.c_str(), line.c_str());
    arrivals.push_back(arrival);
  }
  return arrivals;
}
