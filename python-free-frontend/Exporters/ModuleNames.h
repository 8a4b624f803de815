//===- ModuleNames.h - modules with related names ---------------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_MODULENAMES_H
#define DTC_FRONTEND_EXPORTERS_MODULENAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>
#include <vector>

namespace dtc::frontend {

/// Splits "model.norm.weight" into "model.norm" and "weight".
std::pair<llvm::StringRef, llvm::StringRef> splitName(llvm::StringRef name);

/// The modules whose paths have most in common with `like`, in order.
std::vector<std::string> findNearestModules(llvm::ArrayRef<std::string> modules,
                                            llvm::StringRef like);

/// Removes the common end: "net.0.fc" and "old.0.fc" become "net" and "old".
std::pair<llvm::StringRef, llvm::StringRef> dropCommonEnd(llvm::StringRef a,
                                                          llvm::StringRef b);

/// Whether the names of two modules suggest that they belong together. Their
/// paths differ in the middle or the number of one word: 'norm_q' and
/// 'norm_kv', 'layers.0.norm1' and 'layers.0.norm2'.
bool areNamedAlike(llvm::StringRef a, llvm::StringRef b);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_MODULENAMES_H
