//===- MappedFile.cpp - a file in memory, read-only -----------------------===//

#include "MappedFile.h"

#include "Core/Error.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

namespace {

/// A mapping. Entries are never freed, so that a signal handler can walk the
/// list whatever other threads do. `base` is null in an unused entry.
struct Entry {
  std::atomic<const char *> base = nullptr;
  size_t size = 0;
  std::string path;
  Entry *next = nullptr;
};

} // namespace

static std::atomic<Entry *> entries = nullptr;
static std::mutex entriesMutex; ///< of writers

/// Signal handlers may not format: pieces are copied.
void dtc::rt::exitIfFileFault(const void *address) {
  for (Entry *entry = entries; entry; entry = entry->next) {
    const char *base = entry->base;
    if (!base || address < base || address >= base + entry->size)
      continue;
    char line[1024];
    size_t used = 0;
    for (const char *piece :
         {linePrefix(), "error: '", entry->path.c_str(),
          "' became unreadable while it was used: it was truncated, or its "
          "disk failed; leave data alone while a program trains\n"})
      for (; *piece && used < sizeof line; ++piece)
        line[used++] = *piece;
    (void)!write(STDERR_FILENO, line, used);
    _exit(1);
  }
}

static void onBusError(int number, siginfo_t *info, void *) {
  exitIfFileFault(info->si_addr);
  signal(number, SIG_DFL); // the access is repeated, and ends the process
}

static void registerMapping(const char *base, size_t size,
                            const std::string &path) {
  std::lock_guard lock(entriesMutex);
  Entry *entry = entries;
  if (!entry) { // the first file
    struct sigaction action = {}, present = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, nullptr, &present);
    if (present.sa_handler == SIG_DFL) // else it is that of all crashes
      sigaction(SIGBUS, &action, nullptr);
  }
  while (entry && entry->base)
    entry = entry->next;
  bool isNew = !entry;
  if (isNew)
    entry = new Entry;
  entry->size = size;
  entry->path = path;
  entry->base = base;
  if (isNew) {
    entry->next = entries;
    entries = entry;
  }
}

static void unregisterMapping(const char *base) {
  std::lock_guard lock(entriesMutex);
  for (Entry *entry = entries; entry; entry = entry->next)
    if (entry->base == base)
      entry->base = nullptr;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

MappedFile::MappedFile(const std::string &path) {
  // Without O_NONBLOCK, a pipe would be waited for.
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    fail("cannot open '%s': %s", path.c_str(), strerror(errno));
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    fail("'%s' is not a file", path.c_str());
  }
  size = status.st_size;
  void *mapping =
      size ? mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  int error = errno;
  close(file);
  if (mapping == MAP_FAILED)
    fail("cannot map '%s': %s", path.c_str(), strerror(error));
  base = static_cast<const char *>(mapping);
  if (base)
    registerMapping(base, size, path);
}

MappedFile::~MappedFile() {
  if (!base)
    return;
  unregisterMapping(base);
  munmap(const_cast<char *>(base), size);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : base(std::exchange(other.base, nullptr)),
      size(std::exchange(other.size, 0)) {}

void MappedFile::willNeed(size_t start, size_t count) const {
  size_t page = 4096; // the start of a range must be a page's; larger pages
                      // refuse some, which loses nothing but the hint
  size_t first = start / page * page;
  if (base && start + count <= size)
    madvise(const_cast<char *>(base) + first, start + count - first,
            MADV_WILLNEED);
}

bool dtc::rt::fileExists(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}
