//===- FileAgreement.cpp - files that all ranks must have alike -----------===//

#include "FileAgreement.h"

#include "Collectives/Collectives.h"
#include "Core/Checksum.h"
#include "Core/Error.h"

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

using namespace dtc::rt;

/// Total size of the files that are read as a whole.
static constexpr size_t wholeBytes = 256 << 20;
/// The size of a sample of a file. A disk reads a block in one piece.
static constexpr size_t blockBytes = 4096;
/// Samples of all files together, and the fewest and the most samples of one
/// file.
static constexpr size_t allBlocks = 2048, leastBlocks = 8, mostBlocks = 256;

//===----------------------------------------------------------------------===//
// Checksums
//===----------------------------------------------------------------------===//

/// The first block has the header. The last block changes when samples are
/// added.
static uint64_t sampledChecksum(std::string_view bytes, size_t blocks,
                                uint64_t seed) {
  Checksum sum;
  auto add = [&](size_t place) {
    std::string_view block = bytes.substr(place, blockBytes);
    sum.update(block.data(), int64_t(block.size()));
  };
  size_t last = (bytes.size() - 1) / blockBytes;
  std::mt19937_64 random(seed);
  add(0);
  add(last * blockBytes);
  for (size_t i = 2; i < blocks; ++i)
    add(random() % last * blockBytes);
  return sum.value();
}

std::vector<uint64_t> dtc::rt::checksums(const std::vector<ComparedFile> &files,
                                         const FileCoverage &coverage) {
  std::vector<std::pair<size_t, size_t>> bySize;
  bySize.reserve(files.size());
  for (size_t file = 0; file < files.size(); ++file)
    bySize.emplace_back(files[file].bytes.size(), file);
  std::sort(bySize.begin(), bySize.end());
  std::vector<uint64_t> sums(files.size());
  size_t read = 0, left = files.size();
  for (auto [size, file] : bySize) {
    size_t blocks = std::clamp(allBlocks / left--, leastBlocks, mostBlocks);
    read += size;
    bool isWhole =
        coverage.isWhole || read <= wholeBytes || size <= blocks * blockBytes;
    std::string_view bytes = files[file].bytes;
    sums[file] = isWhole ? Checksum::of(bytes)
                         : sampledChecksum(bytes, blocks, coverage.seed + file);
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// The text of every rank, by rank; nothing if all are the same. Met by all
/// ranks.
static std::vector<std::string> gatherDifferent(const std::string &own,
                                                Collectives &collectives) {
  struct Digest {
    uint64_t hash;
    int64_t size;
  } digest{Checksum::of(own), int64_t(own.size())};
  std::vector<Digest> digests(size_t(collectives.size()));
  collectives.gatherData(&digest, digests.data(), sizeof digest);
  bool areSame = true;
  int64_t longest = 0;
  for (const Digest &other : digests) {
    areSame &= other.hash == digests[0].hash && other.size == digests[0].size;
    longest = std::max(longest, other.size);
  }
  if (areSame)
    return {};
  std::string text = own;
  text.resize(size_t(longest));
  std::string all(text.size() * digests.size(), '\0');
  collectives.gatherData(text.data(), all.data(), longest);
  std::vector<std::string> texts;
  texts.reserve(digests.size());
  for (size_t rank = 0; rank < digests.size(); ++rank)
    texts.push_back(all.substr(rank * text.size(), size_t(digests[rank].size)));
  return texts;
}

/// Finds the lowest rank whose text differs from that of rank 0.
static size_t findOther(const std::vector<std::string> &texts) {
  return size_t(std::find_if(texts.begin(), texts.end(),
                             [&](auto &text) { return text != texts[0]; }) -
                texts.begin());
}

using Sizes = std::map<std::string, int64_t>;

/// Parses lines "SIZE NAME".
static Sizes parseSizes(const std::string &text) {
  Sizes sizes;
  std::istringstream lines(text);
  std::string name;
  for (int64_t size; lines >> size && std::getline(lines.ignore(), name);)
    sizes[name] = size;
  return sizes;
}

static constexpr const char *advice = "give all ranks the same";

static void compareSizes(const std::vector<ComparedFile> &files,
                         Collectives &collectives) {
  std::string own;
  for (const ComparedFile &file : files)
    own += format("%zu %s\n", file.bytes.size(), file.name.c_str());
  std::vector<std::string> texts = gatherDifferent(own, collectives);
  if (texts.empty())
    return;
  size_t rank = findOther(texts);
  Sizes first = parseSizes(texts[0]), other = parseSizes(texts[rank]);
  for (const auto &[name, size] : first) {
    auto found = other.find(name);
    if (found == other.end())
      fail("rank %zu has no %s, which rank 0 has; %s", rank, name.c_str(),
           advice);
    if (found->second != size)
      fail("rank %zu has %s of %lld bytes, rank 0 has %lld bytes; %s", rank,
           name.c_str(), (long long)found->second, (long long)size, advice);
  }
  for (const auto &[name, size] : other)
    if (!first.contains(name))
      fail("rank %zu has %s, which rank 0 does not have; %s", rank,
           name.c_str(), advice);
}

static void compareContents(const std::vector<ComparedFile> &files,
                            const FileCoverage &coverage,
                            Collectives &collectives) {
  std::vector<uint64_t> sums = checksums(files, coverage);
  std::vector<std::string> texts =
      gatherDifferent({reinterpret_cast<const char *>(sums.data()),
                       sums.size() * sizeof sums[0]},
                      collectives);
  if (texts.empty())
    return;
  size_t rank = findOther(texts);
  auto at =
      std::mismatch(texts[0].begin(), texts[0].end(), texts[rank].begin());
  size_t file = size_t(at.first - texts[0].begin()) / sizeof sums[0];
  fail("rank %zu has other bytes in %s than rank 0; %s", rank,
       files[file].name.c_str(), advice);
}

void dtc::rt::expectSameFiles(const std::vector<ComparedFile> &files,
                              const FileCoverage &coverage,
                              Collectives &collectives) {
  if (collectives.size() == 1)
    return;
  // Ranks compare sizes first: other sizes would select other files to read as
  // a whole.
  compareSizes(files, collectives);
  compareContents(files, coverage, collectives);
}
