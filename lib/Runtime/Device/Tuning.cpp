//===- Tuning.cpp - the fastest way to compute, as measured ---------------===//

#include "Tuning.h"

#include "Core/ForeignJson.h"
#include "Core/Outcome.h"
#include "Core/WriteFile.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace dtc::rt;
using nlohmann::json;

/// The one member of the file, of which the rest are by device.
static constexpr const char *member = "tuning";
/// What a way must save to be taken instead of the first: less is noise.
static constexpr double worthwhile = 0.02;
static constexpr int rounds = 4;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static std::map<std::string, Tuning::Ways> readFile(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return {};
  try {
    std::ifstream file(path);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file)
      fail("%s", strerror(errno));
    return parseJson<json>(text).at(member);
  } catch (const std::exception &failure) {
    fail("'%s' is not a file that --tune wrote (%s); remove it to measure "
         "again, or give --tune another name",
         path.c_str(), failure.what());
  }
}

/// In place of a former one as a whole, since other programs may read it.
static void replaceFile(const std::string &path, const std::string &text) {
  std::string beside = path + "." + std::to_string(getpid()) + ".tmp";
  writeFile(beside, text);
  if (rename(beside.c_str(), path.c_str()) != 0) {
    int error = errno;
    unlink(beside.c_str());
    fail("cannot write '%s': %s", path.c_str(), strerror(error));
  }
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
      known = readFile(this->path);
      if (known.empty()) // nor may it turn out later that nothing can be kept
        replaceFile(this->path, json{{member, json::object()}}.dump() + "\n");
    });
  known = json::parse(gatherTexts(collectives, json(known).dump()).front());
  if (outcome.failed)
    fail("%s", outcome.message.c_str());
}

size_t Tuning::finish() {
  isFirstStep = false;
  json own = json::object();
  if (!measured.empty())
    own[device] = measured;
  size_t count = 0;
  std::map<std::string, Ways> found;
  for (const std::string &text : gatherTexts(collectives, own.dump()))
    for (const auto &[where, ways] :
         json::parse(text).get<std::map<std::string, Ways>>())
      for (const auto &[what, way] : ways)
        count += found[where].emplace(what, way).second;
  for (const auto &[where, ways] : found)
    for (const auto &[what, way] : ways)
      known[where][what] = way;
  if (count > 0 && collectives.rank() == 0)
    replaceFile(path, json{{member, known}}.dump(1) + "\n");
  return count;
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
  const Ways &own = known[device];
  if (auto found = own.find(what); found != own.end())
    if (size_t number = numberOf(found->second); number < ways.size())
      return number;
  if (!isFirstStep || ways.size() == 1 || measured.contains(what))
    return 0;
  // All take turns: what else the machine does hits one as the other.
  std::vector<double> least(ways.size(), INFINITY);
  for (int round = 0; round <= rounds; ++round)
    for (size_t i = 0; i < ways.size(); ++i) {
      double time = seconds(i);
      if (round > 0) // else it warms up
        least[i] = std::min(least[i], time);
    }
  auto fastest = size_t(std::ranges::min_element(least) - least.begin());
  if (least[fastest] > (1 - worthwhile) * least[0])
    fastest = 0;
  measured[what] = ways[fastest];
  return 0;
}
