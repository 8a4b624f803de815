//===- ReadFile.cpp - reading of files that users name --------------------===//
//
// See ReadFile.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/ReadFile.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using sys::fs::file_type;

static StringRef describe(file_type type) {
  switch (type) {
  case file_type::directory_file:
    return "a folder";
  case file_type::fifo_file:
    return "a pipe";
  case file_type::socket_file:
    return "a socket";
  default:
    return "a device";
  }
}

Expected<std::unique_ptr<MemoryBuffer>> dtc::readFile(const Twine &path,
                                                      bool isText) {
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) &&
      status.type() != file_type::regular_file)
    return createStringError("cannot be read: it is " +
                             describe(status.type()) + ", expected a file");
  auto file = MemoryBuffer::getFile(path, isText,
                                    /*RequiresNullTerminator=*/isText);
  if (!file)
    return createStringError("cannot be read: " + file.getError().message());
  return std::move(*file);
}
