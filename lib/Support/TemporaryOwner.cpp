//===- TemporaryOwner.cpp - owners of temporary files ---------------------===//
//
// See TemporaryOwner.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/TemporaryOwner.h"

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtc;

static std::string readText(const std::string &name) {
  char text[1024];
  int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? 0 : ::read(file, text, sizeof text);
  if (file >= 0)
    ::close(file);
  return std::string(text, size > 0 ? size_t(size) : 0);
}

/// The start time of a process in kernel ticks; 0 if unknown.
static uint64_t startOf(int64_t process) {
  std::string text = readText("/proc/" + std::to_string(process) + "/stat");
  // The 22nd field. The second, in parentheses, may contain any character.
  size_t at = text.rfind(") ");
  for (int field = 2; at != std::string::npos && field < 22; ++field)
    at = text.find(' ', at + 1);
  return at == std::string::npos ? 0 : strtoull(text.c_str() + at, nullptr, 10);
}

/// The FNV-1a hash.
static uint32_t hash(const std::string &text) {
  uint32_t value = 2166136261u;
  for (unsigned char c : text)
    value = (value ^ c) * 16777619u;
  return value;
}

static uint32_t hashOfMachine() {
  struct stat processes = {};
  ::stat("/proc/self/ns/pid", &processes);
  return hash(readText("/proc/sys/kernel/random/boot_id") +
              std::to_string(processes.st_ino));
}

const std::string &dtc::temporaryPrefix() {
  static const std::string prefix = [] {
    char text[64];
    snprintf(text, sizeof text, "dtc-%08x-%d-%" PRIu64 "-", hashOfMachine(),
             int(getpid()), startOf(getpid()));
    return std::string(text);
  }();
  return prefix;
}

/// Whether a name begins with the prefix of an ended process.
static bool isAbandoned(const char *name) {
  uint32_t machine = 0;
  int process = 0, length = 0;
  uint64_t start = 0;
  // A number that is out of range belongs to no process.
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion)
  if (sscanf(name, "dtc-%8x-%d-%" SCNu64 "-%n", &machine, &process, &start,
             &length) != 3 ||
      length == 0 || process <= 0 || start == 0 || machine != hashOfMachine())
    return false;
  if (::kill(process, 0) != 0 && errno == ESRCH)
    return true;
  // Another process may have the same number now.
  uint64_t now = startOf(process);
  return now != 0 && now != start;
}

void dtc::removeAbandoned(const std::string &folder,
                          const std::string &before) {
  static std::mutex mutex;
  static std::set<std::string> done;
  std::lock_guard<std::mutex> lock(mutex);
  if (!done.insert(folder + "/" + before).second)
    return;
  DIR *entries = ::opendir(folder.empty() ? "." : folder.c_str());
  if (!entries)
    return;
  while (const dirent *entry = ::readdir(entries))
    if (strncmp(entry->d_name, before.c_str(), before.size()) == 0 &&
        isAbandoned(entry->d_name + before.size()))
      (void)::unlinkat(::dirfd(entries), entry->d_name, /*flag=*/0);
  ::closedir(entries);
}
