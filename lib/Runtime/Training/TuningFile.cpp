//===- TuningFile.cpp - the fastest ways to compute, in a file ------------===//

#include "TuningFile.h"

#include "Core/ForeignJson.h"
#include "Core/Outcome.h"
#include "System/WriteFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace dtc::rt;
using nlohmann::json;

/// The only member of the file: ways by device.
static constexpr const char *member = "tuning";

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

/// Replaces the file as a whole, because other programs may read it. A symbolic
/// link and the file's permissions stay.
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

TuningFile::TuningFile(std::string path, std::string device,
                       Collectives &collectives)
    : path(std::move(path)), device(std::move(device)),
      collectives(collectives) {
  std::map<std::string, Ways> all;
  Outcome outcome;
  if (collectives.rank() == 0)
    outcome = attempt([&] {
      all = readWays(this->path);
      if (all.empty()) // fail now, not after the first step
        writeWays(this->path, all);
    });
  all = json::parse(gatherTexts(collectives, json(all).dump()).front());
  known = all[this->device];
  std::vector<std::string> devices = gatherTexts(collectives, this->device);
  if (outcome.failed)
    fail("%s", outcome.message.c_str());
  // On different devices, replicas would compute in different ways, and drift
  // apart.
  for (size_t rank = 1; rank < devices.size(); ++rank)
    if (devices[rank] != devices[0])
      fail("found --autotune on rank %zu with '%s' and on rank 0 with '%s', "
           "expected the same on all",
           rank, devices[rank].c_str(), devices[0].c_str());
}

size_t TuningFile::finish() {
  isFirstStep = false;
  Ways found;
  for (const std::string &text :
       gatherTexts(collectives, json(measured).dump()))
    found.merge(json::parse(text).get<Ways>());
  auto addTo = [&](Ways &ways) {
    for (const auto &[what, way] : found)
      ways[what] = way;
  };
  addTo(known);
  if (!found.empty() && collectives.rank() == 0) {
    // Another program may have added to the file meanwhile.
    std::map<std::string, Ways> all = readWays(path);
    addTo(all[device]);
    writeWays(path, all);
  }
  return found.size();
}
