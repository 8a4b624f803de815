//===- MappedFile.cpp - a file in memory, read-only -----------------------===//

#include "MappedFile.h"

#include "Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace dtc::rt;

MappedFile::MappedFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
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
}

MappedFile::~MappedFile() {
  if (base)
    munmap(const_cast<char *>(base), size);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : base(std::exchange(other.base, nullptr)),
      size(std::exchange(other.size, 0)) {}

bool dtc::rt::fileExists(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}
