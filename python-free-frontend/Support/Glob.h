//===- Glob.h - patterns of names -------------------------------*- C++ -*-===//

#ifndef DTC_FRONTEND_SUPPORT_GLOB_H
#define DTC_FRONTEND_SUPPORT_GLOB_H

#include "llvm/Support/GlobPattern.h"

namespace dtc::frontend {

/// Whether a name matches a glob. A pattern that is no valid glob, such as a
/// name with one bracket, matches the same name only.
inline bool matchesGlob(llvm::StringRef pattern, llvm::StringRef name) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (glob)
    return glob->match(name);
  llvm::consumeError(glob.takeError());
  return pattern == name;
}

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_GLOB_H
