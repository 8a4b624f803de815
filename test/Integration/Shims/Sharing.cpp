//===- Sharing.cpp - a system on which ranks cannot share memory ----------===//
//
// DTC_OBSERVE_NO_SHARING=1 takes away the files that memory is shared by.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int memfd_create(const char *name, unsigned flags) noexcept {
  if (getenv("DTC_OBSERVE_NO_SHARING")) {
    errno = ENOSYS;
    return -1;
  }
  return int(syscall(SYS_memfd_create, name, flags));
}
