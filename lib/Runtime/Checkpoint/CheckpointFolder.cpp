//===- CheckpointFolder.cpp - the checkpoints of a training ---------------===//

#include "CheckpointFolder.h"

#include "Core/Checksum.h"
#include "Core/Error.h"
#include "System/MappedFile.h"
#include "System/WriteFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace dtc::rt;
namespace fs = std::filesystem;

static constexpr const char *manifestName = "checkpoint.json";
/// A file that exists while ranks find out whether they see one folder.
static constexpr const char *markName = ".rank-0-is-here";
static constexpr const char *namePattern = "step-%08lld";
/// Endings of the names of folders that are half written, half removed, or have
/// lost their manifest.
static constexpr const char *temporaryEnd = ".tmp", *removedEnd = ".removed",
                            *keptEnd = ".incomplete";

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string CheckpointFolder::folderOf(int64_t step) const {
  return path + "/" + format(namePattern, (long long)step);
}

/// The same on all ranks. `own` removes files that an earlier program left.
std::string CheckpointFolder::temporaryOf(int64_t step) const {
  return folderOf(step) + temporaryEnd;
}

std::string CheckpointFolder::shardName(int rank) {
  return format("rank-%05d.safetensors", rank);
}

/// The step in a folder's name; -1 if the name is not that of a checkpoint.
static int64_t stepOf(const std::string &name) {
  constexpr std::string_view prefix = "step-";
  int64_t step = -1;
  if (name.starts_with(prefix))
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(),
                    step);
  return step >= 0 && name == format(namePattern, (long long)step) ? step : -1;
}

std::vector<int64_t> CheckpointFolder::steps() const {
  std::vector<int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error))
    if (int64_t step = stepOf(it->path().filename().string()); step >= 0)
      if (fileExists(folderOf(step) + "/" + manifestName))
        steps.push_back(step);
  if (error && error != std::errc::no_such_file_or_directory)
    fail("cannot read the folder of checkpoints '%s': %s", path.c_str(),
         error.message().c_str());
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string readText(const std::string &name) {
  return std::string(MappedFile(name).bytes());
}

static void makeFolder(const std::string &name) {
  std::error_code error;
  fs::create_directories(name, error);
  if (error)
    fail("cannot make folder '%s': %s", name.c_str(), error.message().c_str());
}

static void removeFolder(const std::string &name) {
  std::error_code error;
  fs::remove_all(name, error);
  if (error)
    fail("cannot remove '%s': %s", name.c_str(), error.message().c_str());
}

/// Renames the folder first: it is no checkpoint from then on, even if the
/// removal is interrupted.
static void removeCheckpoint(const std::string &name) {
  std::string removed = name + removedEnd;
  removeFolder(removed);
  if (rename(name.c_str(), removed.c_str()) != 0)
    fail("cannot rename '%s': %s", name.c_str(), strerror(errno));
  removeFolder(removed);
}

/// Renames a folder to a free name, which it returns.
static std::string keepAside(const std::string &name) {
  std::string aside = name + keptEnd;
  for (int number = 2; fileExists(aside); ++number)
    aside = name + keptEnd + format("-%d", number);
  if (rename(name.c_str(), aside.c_str()) != 0)
    fail("cannot rename '%s': %s", name.c_str(), strerror(errno));
  return aside;
}

//===----------------------------------------------------------------------===//
// Owner
//===----------------------------------------------------------------------===//

CheckpointFolder::~CheckpointFolder() {
  if (lock >= 0)
    close(lock);
}

bool CheckpointFolder::isThere() const { return fileExists(path); }

void CheckpointFolder::takeLock() {
  makeFolder(path);
  // A lock of the folder itself leaves nothing behind.
  lock = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    fail("cannot open the folder of checkpoints '%s': %s", path.c_str(),
         strerror(errno));
  // A program that was killed holds the lock until its data are on disk.
  for (int tries = 0; flock(lock, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno == ENOSYS || errno == ENOLCK || errno == EOPNOTSUPP)
      break; // there are file systems without locks
    if (errno != EWOULDBLOCK)
      fail("cannot lock the folder of checkpoints '%s': %s", path.c_str(),
           strerror(errno));
    if (tries == 10)
      fprintf(stderr,
              "waiting up to 15 s for another program to leave the folder of "
              "checkpoints '%s'\n",
              path.c_str());
    if (tries == 150)
      fail("another program writes to the folder of checkpoints '%s'; give "
           "each its own",
           path.c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (access(path.c_str(), W_OK) != 0)
    fail("cannot write to the folder of checkpoints '%s': %s", path.c_str(),
         strerror(errno));
}

std::vector<std::string> CheckpointFolder::own() {
  takeLock();
  std::vector<std::string> names, warnings;
  for (const fs::directory_entry &entry : fs::directory_iterator(path))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  for (const std::string &name : names) {
    std::string full = path + "/" + name;
    for (std::string end : {temporaryEnd, removedEnd})
      if (name.ends_with(end) &&
          stepOf(name.substr(0, name.size() - end.size())) >= 0)
        removeFolder(full);
    if (stepOf(name) >= 0 && !fileExists(full + "/" + manifestName))
      warnings.push_back(format(
          "the checkpoint '%s' is not used: it has no %s; it is kept as '%s'",
          full.c_str(), manifestName, keepAside(full).c_str()));
  }
  writeFile(path + "/" + markName, "");
  return warnings;
}

bool CheckpointFolder::renew() {
  struct stat owned, present;
  if (lock < 0 || fstat(lock, &owned) != 0 ||
      (stat(path.c_str(), &present) == 0 && owned.st_dev == present.st_dev &&
       owned.st_ino == present.st_ino))
    return false;
  close(std::exchange(lock, -1));
  takeLock();
  return true;
}

void CheckpointFolder::unmark() const {
  unlink((path + "/" + markName).c_str());
}

void CheckpointFolder::expectVisible() const {
  if (!fileExists(path + "/" + markName))
    fail("'%s' is not the folder that rank 0 has under this name; expected a "
         "folder that all ranks see, on a file system of all machines",
         path.c_str());
}

void CheckpointFolder::commit(CheckpointManifest manifest, int ranks) {
  int64_t step = manifest.state.step;
  std::string folder = temporaryOf(step);
  // Ranks write their shards at the same time, so the last one comes soon.
  auto pause = std::chrono::milliseconds(1);
  for (int rank = 0; rank < ranks; ++rank) {
    std::string done = folder + "/" + shardName(rank) + ".done";
    while (!fileExists(done)) {
      if (isCancelled)
        fail("the shard of rank %d is missing", rank);
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(50));
    }
    std::string text = readText(done);
    const char *end = text.data() + text.size();
    int64_t bytes;
    uint64_t sum;
    auto [at, error] = std::from_chars(text.data(), end, bytes);
    if (error != std::errc() || at == end ||
        std::from_chars(at + 1, end, sum, /*base=*/16).ec != std::errc())
      fail("'%s' has changed since a rank wrote it", done.c_str());
    manifest.shards.push_back({shardName(rank), bytes, sum});
    unlink(done.c_str());
  }
  std::string manifestFile = folder + "/" + manifestName;
  writeFile(manifestFile, manifest.toJson());
  syncFolder(folder);
  std::string name = folderOf(step);
  if (fileExists(name)) // damaged, or else it would have been resumed from
    removeCheckpoint(name);
  if (rename(folder.c_str(), name.c_str()) != 0)
    fail("cannot rename '%s': %s", folder.c_str(), strerror(errno));
  syncFolder(path);
}

void CheckpointFolder::keepNewest(int64_t step, int64_t count,
                                  const std::set<int64_t> &others) const {
  for (int64_t other : steps())
    if (other <= step && count-- <= 0 && !others.contains(other))
      removeCheckpoint(folderOf(other));
}

void CheckpointFolder::removeAfter(int64_t step) const {
  for (int64_t other : steps())
    if (other > step)
      removeCheckpoint(folderOf(other));
}

//===----------------------------------------------------------------------===//
// Every rank
//===----------------------------------------------------------------------===//

CheckpointManifest CheckpointFolder::readManifest(int64_t step) const {
  CheckpointManifest manifest =
      CheckpointManifest::read(folderOf(step) + "/" + manifestName);
  if (manifest.state.step != step)
    fail("'%s' is of step %lld", folderOf(step).c_str(),
         (long long)manifest.state.step);
  return manifest;
}

void CheckpointFolder::verify(int64_t step,
                              const CheckpointManifest::Shard &shard) const {
  std::string name = folderOf(step) + "/" + shard.file;
  MappedFile file(name);
  if (int64_t(file.bytes().size()) != shard.bytes)
    fail("'%s' has %zu bytes, expected %lld", name.c_str(), file.bytes().size(),
         (long long)shard.bytes);
  if (Checksum::of(file.bytes()) != shard.checksum)
    fail("'%s' is damaged: its checksum differs", name.c_str());
}

void CheckpointFolder::writeShard(
    int64_t step, int rank, const std::vector<KeptPiece> &pieces,
    const std::function<void(const KeptPiece &,
                             const std::function<void(const char *)> &)> &read)
    const {
  std::string folder = temporaryOf(step);
  makeFolder(folder);
  std::string name = folder + "/" + shardName(rank);
  ShardSummary summary = rt::writeShard(name, pieces, read);
  // The file is complete when it has its name.
  writeFile(name + ".part", format("%lld %016llx\n", (long long)summary.bytes,
                                   (unsigned long long)summary.checksum));
  if (rename((name + ".part").c_str(), (name + ".done").c_str()) != 0)
    fail("cannot rename '%s.part': %s", name.c_str(), strerror(errno));
}

void CheckpointFolder::abandon(int64_t step) const {
  std::error_code ignored;
  fs::remove_all(temporaryOf(step), ignored);
}
