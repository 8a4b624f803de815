//===- CloseNames.cpp - suggestions for an unknown name -------------------===//
//
// For diagnostics about names that a user wrote.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/CloseNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace dtc;

std::string dtc::listNames(llvm::ArrayRef<llvm::StringRef> names) {
  std::string list;
  for (llvm::StringRef name : names)
    list += (list.empty() ? "'" : ", '") + name.str() + "'";
  return list;
}

std::string dtc::listCloseNames(llvm::StringRef name,
                                llvm::ArrayRef<llvm::StringRef> names) {
  llvm::SmallVector<std::pair<unsigned, llvm::StringRef>> sorted;
  for (llvm::StringRef other : names)
    sorted.emplace_back(name.edit_distance_insensitive(other), other);
  llvm::sort(sorted);
  llvm::SmallVector<llvm::StringRef> close;
  for (const auto &entry : llvm::ArrayRef(sorted).take_front(3))
    close.push_back(entry.second);
  return listNames(close);
}
