//===- ModuleNames.h - modules that belong together by name -----*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_MODULENAMES_H
#define DTC_FRONTEND_EXPORTERS_MODULENAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>
#include <vector>

namespace dtc::frontend {

/// "model.norm" and "weight" of "model.norm.weight".
std::pair<llvm::StringRef, llvm::StringRef> splitName(llvm::StringRef name);

/// The modules whose paths have most in common with that of `like`, in order.
std::vector<std::string> findNearestModules(llvm::ArrayRef<std::string> modules,
                                            llvm::StringRef like);

/// "net" and "old" of "net.0.fc" and "old.0.fc".
std::pair<llvm::StringRef, llvm::StringRef> dropCommonEnd(llvm::StringRef a,
                                                          llvm::StringRef b);

/// Whether two modules are named as those that belong together are: their paths
/// differ in one word, by its middle or number: 'norm_q' and 'norm_kv',
/// 'layers.0.norm1' and 'layers.0.norm2'.
bool areNamedAlike(llvm::StringRef a, llvm::StringRef b);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_MODULENAMES_H
