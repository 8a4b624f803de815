//===- OutputFile.cpp - files that are written whole ----------------------===//
//
// See OutputFile.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <unistd.h>

using namespace dtc;
using llvm::Error;
using llvm::Expected;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static Error cannotWrite(llvm::StringRef path, std::error_code error) {
  return llvm::createStringError("cannot write '" + path +
                                 "': " + error.message());
}

/// Follows symbolic links. The file at the end need not exist yet.
static Expected<std::string> followLinks(llvm::StringRef name) {
  llvm::SmallString<128> place(name);
  for (int links = 0; links < 40; ++links) {
    char target[PATH_MAX];
    ssize_t length = ::readlink(place.c_str(), target, sizeof target);
    if (length < 0)
      return place.str().str();
    llvm::StringRef next(target, length);
    if (path::is_relative(next))
      path::remove_filename(place);
    else
      place.clear();
    path::append(place, next);
  }
  return cannotWrite(name,
                     make_error_code(std::errc::too_many_symbolic_link_levels));
}

Expected<OutputFile> OutputFile::create(llvm::StringRef path) {
  fs::file_status status;
  bool exists = !fs::status(path, status);
  bool isRegular = !exists || status.type() == fs::file_type::regular_file;
  if (exists && status.type() == fs::file_type::directory_file)
    return cannotWrite(path, make_error_code(std::errc::is_a_directory));
  if (exists && !fs::can_write(path))
    return cannotWrite(path, make_error_code(std::errc::permission_denied));
  if (!isRegular) {
    Expected<TemporaryFile> temporary = TemporaryFile::create("");
    if (!temporary)
      return temporary.takeError();
    return OutputFile(path, path, isRegular, std::move(*temporary));
  }
  Expected<std::string> place = followLinks(path);
  if (!place)
    return place.takeError();
  Expected<TemporaryFile> temporary =
      TemporaryFile::createIn(path::parent_path(*place));
  if (!temporary)
    return cannotWrite(path, errorToErrorCode(temporary.takeError()));
  return OutputFile(path, *place, isRegular, std::move(*temporary));
}

Error OutputFile::write(llvm::function_ref<void(llvm::raw_ostream &)> body) {
  std::error_code error = temporary.write(body);
  return error ? cannotWrite(path, error) : Error::success();
}

/// Copies the bytes to a device or a pipe.
static std::error_code copyTo(llvm::StringRef from, const std::string &device) {
  // Fails for a pipe without a reader, instead of waiting forever.
  int to = ::open(device.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (to < 0)
    return std::error_code(errno == ENXIO ? EPIPE : errno,
                           std::generic_category());
  ::fcntl(to, F_SETFL, 0); // writes wait for the reader
  std::error_code error = fs::copy_file(from, to);
  if (::close(to) != 0 && !error)
    error = std::error_code(errno, std::generic_category());
  return error;
}

Error OutputFile::keep() {
  if (std::error_code error =
          isRegular ? temporary.renameTo(place) : copyTo(getTemporary(), place))
    return cannotWrite(path, error);
  return Error::success();
}

Error dtc::writeOutput(llvm::StringRef path,
                       llvm::function_ref<void(llvm::raw_ostream &)> body) {
  if (path == "-") {
    body(llvm::outs());
    return Error::success();
  }
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = file->write(body))
    return error;
  return file->keep();
}
