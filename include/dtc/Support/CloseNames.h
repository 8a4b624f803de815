//===- CloseNames.h - suggestions for a name that is not there --*- C++ -*-===//
//
// For diagnostics about names that a user gave.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_CLOSENAMES_H
#define DTC_SUPPORT_CLOSENAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace dtc {

/// "'a', 'b'": the names nearest to `name` in edit distance, at most three.
std::string listCloseNames(llvm::StringRef name,
                           llvm::ArrayRef<llvm::StringRef> names);

/// "'a', 'b'": all names.
std::string listNames(llvm::ArrayRef<llvm::StringRef> names);

} // namespace dtc

#endif // DTC_SUPPORT_CLOSENAMES_H
