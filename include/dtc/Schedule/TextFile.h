//===- TextFile.h - reading what users write --------------------*- C++ -*-===//

#ifndef DTC_SCHEDULE_TEXTFILE_H
#define DTC_SCHEDULE_TEXTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dtc {

/// The text of a file or a pipe. The error begins with "cannot be read: ". A
/// device, which may have no end, is refused.
inline llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readTextFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      status.type() == llvm::sys::fs::file_type::character_file)
    return llvm::createStringError("cannot be read: it is a device");
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return llvm::createStringError("cannot be read: " +
                                   file.getError().message());
  return std::move(*file);
}

} // namespace dtc

#endif // DTC_SCHEDULE_TEXTFILE_H
