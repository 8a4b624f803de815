//===- Mapping.cpp - pages of host memory ---------------------------------===//

#include "Mapping.h"

#include "Core/Error.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 // Linux 6.1
#endif

using namespace dtc::rt;

static constexpr int64_t hugePage = int64_t(2) << 20;

static int64_t roundUp(int64_t bytes, int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void *dtc::rt::mapAligned(int64_t bytes, int file) {
  int64_t unit = bytes < hugePage ? getpagesize() : hugePage;
  int64_t reserved = bytes + (unit == hugePage ? hugePage : 0);
  void *mapping = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return MAP_FAILED;
  // Keep the part that starts on a huge page.
  uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
  uintptr_t aligned = roundUp(start, unit);
  char *base = reinterpret_cast<char *>(aligned);
  if (aligned > start)
    munmap(mapping, aligned - start);
  if (int64_t rest = start + reserved - (aligned + bytes))
    munmap(base + bytes, rest);
  if (file < 0)
    return base;
  void *shared = mmap(base, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, file, 0);
  if (shared == MAP_FAILED) {
    int error = errno;
    munmap(base, bytes);
    errno = error;
  }
  return shared;
}

/// Creates a file without a name in memory; -1 if the system has none.
static int makeFile(int64_t bytes) {
  int file = memfd_create("dtc-arena", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, bytes) != 0) {
    close(file);
    return -1;
  }
  return file;
}

Mapping::Mapping(int64_t wanted, Sharing sharing) {
  // Small arenas stay on small pages: rounding up would multiply them.
  int64_t unit = wanted < hugePage ? getpagesize() : hugePage;
  bytes = roundUp(wanted > 0 ? wanted : 1, unit);
  if (sharing == Sharing::machine)
    descriptor = makeFile(bytes);
  void *mapping = mapAligned(bytes, descriptor);
  if (mapping == MAP_FAILED) {
    int error = errno;
    if (descriptor >= 0)
      close(descriptor);
    fail("cannot map %s of memory for this rank: %s",
         formatBytes(double(wanted)).c_str(), strerror(error));
  }
  base = static_cast<char *>(mapping);
  madvise(base, bytes, MADV_HUGEPAGE);
  if (descriptor >= 0 && unit == hugePage) {
    // Most systems give files small pages unless asked once there is one.
    touch(hugePage);
    madvise(base, bytes, MADV_COLLAPSE);
  }
  touch(getpagesize());
}

void Mapping::touch(int64_t pageBytes) {
  for (int64_t page = 0; page < bytes; page += pageBytes)
    static_cast<volatile char *>(base)[page] = 0;
}

Mapping::~Mapping() {
  munmap(base, bytes);
  if (descriptor >= 0)
    close(descriptor);
}
