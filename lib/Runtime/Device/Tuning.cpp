//===- Tuning.cpp - the fastest way to compute, as measured ---------------===//

#include "Tuning.h"

#include "Core/ForeignJson.h"
#include "Core/Outcome.h"
#include "Core/WriteFile.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace dtc::rt;
using nlohmann::json;

/// The one member of the file, of which the rest are by device.
static constexpr const char *member = "tuning";
/// What a way must save to be taken instead of the first: less is noise.
static constexpr double leastGain = 0.02;
/// How often each is measured, unless all together take longer than that: other
/// ranks wait.
static constexpr int mostRounds = 5;
static constexpr double mostSeconds = 1;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static std::string readText(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    fail("cannot read '%s': it is no file", path.c_str());
  errno = 0;
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file)
    fail("cannot read '%s': %s", path.c_str(), strerror(errno));
  return text;
}

static std::map<std::string, Tuning::Ways> readWays(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return {};
  std::string text = readText(path);
  try {
    return parseJson<json>(text).at(member);
  } catch (const std::exception &failure) {
    fail("'%s' is not a file that --autotune wrote (%s); remove it to measure "
         "again, or give --autotune another name",
         path.c_str(), describeJsonError<json>(failure).c_str());
  }
}

/// Other programs may read it meanwhile. A link to it stays, and who may read
/// it.
static void writeWays(const std::string &path,
                      const std::map<std::string, Tuning::Ways> &ways) {
  std::error_code error;
  std::filesystem::path place = std::filesystem::weakly_canonical(path, error);
  auto status = std::filesystem::status(place, error);
  mode_t mode =
      exists(status) ? mode_t(status.permissions()) & mode_t(0777) : 0644;
  if (!replaceFile(place, json{{member, json(ways)}}.dump(1) + "\n", mode))
    fail("cannot write '%s': %s", path.c_str(), strerror(errno));
}

/// The text of each rank.
static std::vector<std::string> gatherTexts(Collectives &collectives,
                                            const std::string &own) {
  std::vector<int64_t> sizes(static_cast<size_t>(collectives.size()));
  auto size = int64_t(own.size());
  collectives.gatherData(&size, sizes.data(), sizeof size);
  auto longest = size_t(*std::ranges::max_element(sizes));
  std::string padded = own, all(longest * sizes.size(), '\0');
  padded.resize(longest);
  if (longest > 0)
    collectives.gatherData(padded.data(), all.data(), int64_t(longest));
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (size_t rank = 0; rank < sizes.size(); ++rank)
    texts.push_back(all.substr(rank * longest, size_t(sizes[rank])));
  return texts;
}

Tuning::Tuning(std::string path, std::string device, Collectives &collectives)
    : path(std::move(path)), device(std::move(device)),
      collectives(collectives) {
  Outcome outcome;
  if (collectives.rank() == 0)
    outcome = attempt([&] {
      known = readWays(this->path);
      if (known.empty()) // nor may it turn out later that nothing can be kept
        writeWays(this->path, known);
    });
  known = json::parse(gatherTexts(collectives, json(known).dump()).front());
  std::vector<std::string> devices = gatherTexts(collectives, this->device);
  if (outcome.failed)
    fail("%s", outcome.message.c_str());
  // Or replicas would compute in different ways, and drift apart.
  for (size_t rank = 1; rank < devices.size(); ++rank)
    if (devices[rank] != devices[0])
      fail("found --autotune on rank %zu with '%s' and on rank 0 with '%s', "
           "expected the same on all",
           rank, devices[rank].c_str(), devices[0].c_str());
}

size_t Tuning::finish() {
  isFirstStep = false;
  Ways found;
  for (const std::string &text :
       gatherTexts(collectives, json(measured).dump()))
    found.merge(json::parse(text).get<Ways>());
  auto addTo = [&](std::map<std::string, Ways> &all) {
    for (const auto &[what, way] : found)
      all[device][what] = way;
  };
  addTo(known);
  if (!found.empty() && collectives.rank() == 0) {
    // Another program may have added to it meanwhile.
    std::map<std::string, Ways> all = readWays(path);
    addTo(all);
    writeWays(path, all);
  }
  return found.size();
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

size_t Tuning::choose(const std::string &what,
                      const std::vector<std::string> &ways,
                      const std::function<double(size_t)> &seconds) {
  auto numberOf = [&](const std::string &way) {
    return size_t(std::ranges::find(ways, way) - ways.begin());
  };
  if (auto own = known.find(device); own != known.end())
    if (auto found = own->second.find(what); found != own->second.end())
      if (size_t number = numberOf(found->second); number < ways.size())
        return number;
  if (!isFirstStep || ways.size() == 1 || measured.contains(what))
    return 0;
  // All take turns: what else the machine does hits one as the other.
  std::vector<double> least(ways.size(), INFINITY);
  double total = 0;
  for (int round = 0; round < mostRounds && total < mostSeconds; ++round)
    for (size_t i = 0; i < ways.size(); ++i) {
      double time = seconds(i);
      least[i] = std::min(least[i], time);
      total += time;
    }
  auto fastest = size_t(std::ranges::min_element(least) - least.begin());
  if (least[fastest] > (1 - leastGain) * least[0])
    fastest = 0;
  measured[what] = ways[fastest];
  return 0;
}
