//===- PeerMemory.cpp - memory of other ranks of this machine -------------===//

#include "PeerMemory.h"

#include "Core/Error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace dtc::rt;

MappingHandle dtc::rt::handleOf(const Mapping &mapping) {
  struct stat status;
  if (mapping.file() < 0 || fstat(mapping.file(), &status) != 0)
    return {};
  return {getpid(), mapping.file(), status.st_dev, status.st_ino,
          mapping.size()};
}

PeerMemory::PeerMemory(const MappingHandle &handle) : size(handle.size) {
  if (handle.file < 0) {
    failure = ENOTSUP;
    return;
  }
  std::string path = format("/proc/%lld/fd/%lld", (long long)handle.process,
                            (long long)handle.file);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) {
    failure = errno;
    return;
  }
  // Processes in different PID namespaces would open another file.
  struct stat status;
  if (fstat(file, &status) != 0 || status.st_dev != handle.device ||
      status.st_ino != handle.inode) {
    failure = ESRCH;
  } else {
    void *mapped = mapAligned(size, file);
    if (mapped == MAP_FAILED)
      failure = errno;
    else
      base = static_cast<char *>(mapped);
  }
  close(file);
}

PeerMemory::~PeerMemory() {
  if (base)
    munmap(base, size);
}

PeerMemory::PeerMemory(PeerMemory &&other) noexcept
    : base(std::exchange(other.base, nullptr)), size(other.size),
      failure(other.failure) {}
