//===- ReadFile.h - reading of files that users name ------------*- C++ -*-===//

#ifndef DTC_SUPPORT_READFILE_H
#define DTC_SUPPORT_READFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dtc {

/// Reads a regular file. A text ends with a null byte. The error begins with
/// "cannot be read: ". Rejects folders, and also pipes, sockets and devices,
/// which may have no end or block forever.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(const llvm::Twine &path, bool isText);

} // namespace dtc

#endif // DTC_SUPPORT_READFILE_H
