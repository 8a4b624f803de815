//===- CloseNames.h - suggestions for an unknown name -----------*- C++ -*-===//
//
// For diagnostics about names that a user wrote.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_CLOSENAMES_H
#define DTC_SUPPORT_CLOSENAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace dtc {

/// At most three names nearest to `name` in edit distance, as "'a', 'b'".
std::string listCloseNames(llvm::StringRef name,
                           llvm::ArrayRef<llvm::StringRef> names);

/// All names, as "'a', 'b'".
std::string listNames(llvm::ArrayRef<llvm::StringRef> names);

} // namespace dtc

#endif // DTC_SUPPORT_CLOSENAMES_H
