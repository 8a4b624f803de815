//===- WriteFile.cpp - files that are wholly written ----------------------===//

#include "WriteFile.h"

#include "Core/Error.h"

#include "dtc/Support/TemporaryOwner.h"
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtc::rt;

bool dtc::rt::writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text.remove_prefix(size_t(written));
  }
  return true;
}

void dtc::rt::writeFile(const std::string &name, std::string_view text) {
  int file = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool isWritten = file >= 0 && writeAll(file, text) && fsync(file) == 0;
  int error = errno;
  if (file >= 0)
    close(file);
  if (!isWritten)
    fail("cannot write '%s': %s", name.c_str(), strerror(error));
}

bool dtc::rt::replaceFile(const std::string &name, std::string_view text,
                          mode_t mode) {
  std::string beside = name + ".XXXXXX";
  int file = mkstemp(beside.data());
  if (file < 0)
    return false;
  bool isWritten = fchmod(file, mode) == 0 && writeAll(file, text) &&
                   fsync(file) == 0 &&
                   rename(beside.c_str(), name.c_str()) == 0;
  int error = errno;
  close(file);
  if (!isWritten)
    unlink(beside.c_str());
  errno = error;
  return isWritten;
}

std::string dtc::rt::temporaryBeside(const std::string &path) {
  static std::atomic<int> number = 0;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  dtc::removeAbandoned(folder.string(), ".");
  return folder / format(".%s%d", dtc::temporaryPrefix().c_str(), ++number);
}

void dtc::rt::syncFolder(const std::string &folder) {
  int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return;
  fsync(file);
  close(file);
}

void dtc::rt::expectReplaceable(const std::string &path) {
  std::error_code none;
  std::filesystem::file_status status = std::filesystem::status(path, none);
  if (std::filesystem::exists(status) &&
      !std::filesystem::is_regular_file(status))
    fail("cannot write '%s': it is no regular file, which it would replace",
         path.c_str());
}
