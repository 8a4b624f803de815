//===- Fail.h - one-line errors of the compiler -----------------*- C++ -*-===//
//
// For what is wrong with the command line or a file; what is wrong with the
// model is a diagnostic.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_FAIL_H
#define DTC_LIB_DRIVER_FAIL_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/WithColor.h"

namespace dtc {

/// Prints "dtc: error: MESSAGE".
inline llvm::LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "dtc") << message << "\n";
  return llvm::failure();
}

} // namespace dtc

#endif // DTC_LIB_DRIVER_FAIL_H
