//===- OptionAgreement.cpp - options that all ranks must have alike -------===//

#include "OptionAgreement.h"

#include "Collectives/Collectives.h"
#include "Core/Checksum.h"
#include "Core/Error.h"

#include <cstring>
#include <filesystem>

using namespace dtc::rt;

namespace {

/// A digest of the options and the program.
struct Digest {
  uint64_t hash;
  int64_t size;
  bool operator==(const Digest &) const = default;
};

} // namespace

/// Lines of a name and a value.
static std::string serialize(const Program &program, const Options &options) {
  std::string text;
  for (const auto &[name, value] : options.given)
    text += name + "=" + value + "\n";
  std::error_code none;
  auto size = std::filesystem::file_size("/proc/self/exe", none);
  return text + format("program=%s, %s, manifest %016llx, %llu bytes\n",
                       program.model.c_str(), program.mesh.describe().c_str(),
                       (unsigned long long)program.manifestHash,
                       (unsigned long long)size);
}

static GivenOptions deserialize(const char *text) {
  GivenOptions given;
  while (const char *equals = strchr(text, '=')) {
    const char *end = strchr(equals, '\n');
    given[std::string(text, equals)] = std::string(equals + 1, end);
    text = end + 1;
  }
  return given;
}

/// "--lr 0.1", "no --lr" or "--check-replicas".
static std::string describe(const std::string &name, const std::string &value) {
  if (name == "program")
    return "another program (" + value + ")";
  if (value.empty())
    return "no " + name;
  return value == "true" ? name : name + " " + value;
}

static std::string valueIn(const GivenOptions &given, const std::string &name) {
  auto found = given.find(name);
  return found == given.end() ? std::string() : found->second;
}

/// Says what differs between two ranks, and what to do.
static std::string compare(const GivenOptions &first, int rank,
                           const GivenOptions &other) {
  // Another program also has other options, which do not matter then.
  std::string program = "program";
  if (valueIn(first, program) != valueIn(other, program))
    return format("rank %d has %s, rank 0 has %s; start all ranks with the "
                  "same program",
                  rank, describe(program, valueIn(other, program)).c_str(),
                  valueIn(first, program).c_str());
  for (const auto &[name, value] : first)
    if (valueIn(other, name) != value)
      return format("rank %d has %s, rank 0 has %s; give all ranks the same",
                    rank, describe(name, valueIn(other, name)).c_str(),
                    describe(name, value).c_str());
  return {};
}

void dtc::rt::expectAgreement(const Program &program, const Options &options,
                              Collectives &collectives) {
  if (collectives.size() == 1)
    return;
  std::string text = serialize(program, options);
  Digest own{Checksum::of(text), int64_t(text.size())};
  std::vector<Digest> all(static_cast<size_t>(collectives.size()));
  collectives.gatherData(&own, all.data(), sizeof own);
  int other = 0;
  int64_t longest = 0;
  for (int rank = collectives.size(); rank-- > 0;) {
    longest = std::max(longest, all[size_t(rank)].size);
    if (!(all[size_t(rank)] == all[0]))
      other = rank;
  }
  if (other == 0)
    return;
  text.resize(size_t(longest) + 1);
  std::vector<char> texts(text.size() * all.size());
  collectives.gatherData(text.data(), texts.data(), int64_t(text.size()));
  fail("%s", compare(deserialize(texts.data()), other,
                     deserialize(texts.data() + size_t(other) * text.size()))
                 .c_str());
}
