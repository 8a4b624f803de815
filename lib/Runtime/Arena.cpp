//===- Arena.cpp - the memory of one rank ---------------------------------===//

#include "Arena.h"

#include "Error.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace dtc::rt;

static constexpr int64_t hugePage = int64_t(2) << 20;

static int64_t roundUp(int64_t bytes, int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

Arena::Arena(int64_t wanted) {
  // Small arenas stay on small pages: rounding up would multiply them.
  int64_t unit = wanted < hugePage ? getpagesize() : hugePage;
  bytes = roundUp(wanted > 0 ? wanted : 1, unit);
  int64_t reserved = bytes + (unit == hugePage ? hugePage : 0);
  void *mapping = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    fail("cannot map %s of memory for this rank: %s",
         formatBytes(double(wanted)).c_str(), strerror(errno));
  // Keep the part that starts on a huge page.
  uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
  uintptr_t aligned = roundUp(start, unit);
  base = reinterpret_cast<char *>(aligned);
  if (aligned > start)
    munmap(mapping, aligned - start);
  if (int64_t rest = start + reserved - (aligned + bytes))
    munmap(base + bytes, rest);
  madvise(base, bytes, MADV_HUGEPAGE);
  for (int64_t page = 0; page < bytes; page += getpagesize())
    static_cast<volatile char *>(base)[page] = 0;
}

Arena::~Arena() { munmap(base, bytes); }
