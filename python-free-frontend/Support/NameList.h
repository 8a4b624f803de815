//===- NameList.h - first few names of many ---------------------*- C++ -*-===//
//
// Shortens the list of names in a message about many tensors or nodes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SUPPORT_NAMELIST_H
#define DTC_FRONTEND_SUPPORT_NAMELIST_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace dtc::frontend {

/// Formats up to three names: "'a', 'b', 'c', ...".
inline std::string listFirstNames(llvm::ArrayRef<std::string> names) {
  constexpr size_t limit = 3;
  std::string list;
  for (const std::string &name : names.take_front(limit))
    list += (list.empty() ? "'" : ", '") + name + "'";
  return names.size() > limit ? list + ", ..." : list;
}

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_NAMELIST_H
