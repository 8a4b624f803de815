//===- CloseNames.h - suggestions for a name that is not there --*- C++ -*-===//
//
// For diagnostics about names that a user gave.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_CLOSENAMES_H
#define DTC_TRAINING_CLOSENAMES_H

#include "mlir/Support/LLVM.h"
#include <string>

namespace dtc {

/// "'a', 'b'": the names nearest to `name` in edit distance, at most three.
std::string listCloseNames(llvm::StringRef name,
                           llvm::ArrayRef<llvm::StringRef> names);

/// "'a', 'b'": all names.
std::string listNames(llvm::ArrayRef<llvm::StringRef> names);

} // namespace dtc

#endif // DTC_TRAINING_CLOSENAMES_H
