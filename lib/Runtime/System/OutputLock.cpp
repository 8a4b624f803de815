//===- OutputLock.cpp - one writer for each output ------------------------===//

#include "OutputLock.h"

#include "Core/Checksum.h"
#include "Core/Error.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace dtc::rt;

OutputLock::~OutputLock() {
  for (const Taken &one : taken)
    close(one.socket);
}

/// The name of the lock; empty if the folder is missing. File names may be
/// longer than the name of a socket, so a hash replaces them.
static std::optional<std::string> nameLock(const std::filesystem::path &file) {
  struct stat folder;
  if (stat(file.parent_path().c_str(), &folder))
    return std::nullopt;
  return format("dtc-output:%llx:%llx:%zx", (unsigned long long)folder.st_dev,
                (unsigned long long)folder.st_ino,
                (size_t)Checksum::of(file.filename().string()));
}

/// Binds a socket to this name; -1 with `errno` on failure.
static int bindAbstract(const std::string &name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name.data(), name.size()); // a zero comes first
  int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  if (file < 0 || !bind(file, reinterpret_cast<sockaddr *>(&address), size))
    return file;
  int error = errno;
  close(file);
  errno = error;
  return -1;
}

/// Opens the writing end of a pipe and keeps it open: a reader ends when it
/// sees no writer.
static int openPipe(const std::string &option, const std::string &path) {
  int file = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && errno == ENXIO)
    fail("found '%s' of %s, a pipe that no program reads; start its reader "
         "first, or give a file",
         path.c_str(), option.c_str());
  return file;
}

void OutputLock::take(const std::string &option, const std::string &path) {
  if (path.empty())
    return;
  std::error_code error;
  std::filesystem::path file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error)
    return;
  if (!file.has_filename()) // of "folder/"
    file = file.parent_path();
  struct stat status{};
  bool exists = !stat(file.c_str(), &status);
  if (exists && S_ISFIFO(status.st_mode)) {
    if (int pipe = openPipe(option, path); pipe >= 0)
      taken.push_back({option, path, "", 0, 0, pipe});
    return;
  }
  if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return;
  std::optional<std::string> name = nameLock(file);
  if (!name)
    return;
  for (const Taken &other : taken)
    if (other.name == *name || (exists && other.inode == status.st_ino &&
                                other.device == status.st_dev))
      fail("found '%s' of %s and '%s' of %s, which are one file, expected one "
           "for each",
           other.path.c_str(), other.option.c_str(), path.c_str(),
           option.c_str());
  // A training that was killed just before may still be ending.
  int socket = bindAbstract(*name);
  for (int tries = 0; socket < 0 && errno == EADDRINUSE && tries < 50;
       ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    socket = bindAbstract(*name);
  }
  if (socket < 0 && errno == EADDRINUSE)
    fail("another training that is running writes '%s' of %s; give this one "
         "another name",
         path.c_str(), option.c_str());
  if (socket < 0)
    fail("cannot lock '%s' of %s: %s", path.c_str(), option.c_str(),
         strerror(errno));
  taken.push_back({option, path, *name, status.st_dev, status.st_ino, socket});
}
