//===- ReadFile.h - files that users name -----------------------*- C++ -*-===//

#ifndef DTC_SUPPORT_READFILE_H
#define DTC_SUPPORT_READFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dtc {

/// The content of a regular file; a text ends with a null. The error begins
/// with "cannot be read: ". A folder is refused, and so is a pipe, a socket or
/// a device, which may have no end or wait for ever.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(const llvm::Twine &path, bool isText);

} // namespace dtc

#endif // DTC_SUPPORT_READFILE_H
