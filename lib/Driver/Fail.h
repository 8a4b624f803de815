//===- Fail.h - one-line messages of the compiler ---------------*- C++ -*-===//
//
// For errors in the command line or in a file. Errors in the model are
// diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_FAIL_H
#define DTC_LIB_DRIVER_FAIL_H

#include "dtc/Support/ShortenMessage.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/WithColor.h"

namespace dtc {

/// Prints "dtc: error: MESSAGE".
inline llvm::LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "dtc")
      << shortenMessage(message.str()) << "\n";
  return llvm::failure();
}

/// Prints "dtc: warning: MESSAGE".
inline void warn(const llvm::Twine &message) {
  llvm::WithColor::warning(llvm::errs(), "dtc")
      << shortenMessage(message.str()) << "\n";
}

} // namespace dtc

#endif // DTC_LIB_DRIVER_FAIL_H
