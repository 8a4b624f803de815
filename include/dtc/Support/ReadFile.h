//===- ReadFile.h - files that users name -----------------------*- C++ -*-===//

#ifndef DTC_SUPPORT_READFILE_H
#define DTC_SUPPORT_READFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dtc {

/// The content of a file or a pipe; a text ends with a null. The error begins
/// with "cannot be read: ". A device, which may have no end, is refused.
inline llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(const llvm::Twine &path, bool isText) {
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      status.type() == llvm::sys::fs::file_type::character_file)
    return llvm::createStringError("cannot be read: it is a device");
  auto file = llvm::MemoryBuffer::getFile(path, isText,
                                          /*RequiresNullTerminator=*/isText);
  if (!file)
    return llvm::createStringError("cannot be read: " +
                                   file.getError().message());
  return std::move(*file);
}

} // namespace dtc

#endif // DTC_SUPPORT_READFILE_H
