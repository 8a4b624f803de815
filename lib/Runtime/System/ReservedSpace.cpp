//===- ReservedSpace.cpp - room for a file that is written later ----------===//

#include "ReservedSpace.h"

#include "Core/Error.h"
#include "WriteFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace dtc::rt;

/// Answers as `fallocate` does, by the free space.
static int lookForSpace(int file, int64_t bytes) {
  struct statvfs status;
  if (fstatvfs(file, &status) != 0 || status.f_blocks == 0)
    return 0; // it does not say
  return uint64_t(bytes) / status.f_frsize >= status.f_bavail ? ENOSPC : 0;
}

ReservedSpace::ReservedSpace(const std::string &path, int64_t bytes) {
  std::string name = temporaryBeside(path);
  file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    fail("cannot create '%s': %s", path.c_str(), strerror(errno));
  unlink(name.c_str());
  int error = 0;
  while ((error = fallocate(file, 0, 0, bytes) == 0 ? 0 : errno) == EINTR) {
  }
  if (error == EOPNOTSUPP || error == ENOSYS)
    error = lookForSpace(file, bytes);
  if (error == 0)
    return;
  close(file);
  fail("cannot write '%s', which needs %s: %s", path.c_str(),
       formatBytes(double(bytes)).c_str(), strerror(error));
}

ReservedSpace::~ReservedSpace() {
  if (file >= 0)
    close(file);
}
