//===- ModulePath.h - modules of a node by its name -------------*- C++ -*-===//

#ifndef DTC_SUPPORT_MODULEPATH_H
#define DTC_SUPPORT_MODULEPATH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace dtc {

/// "net.0.attn" of a node "/net/net.0/attn/MatMul", as PyTorch's exporter names
/// it: a container repeats its name in its members. Empty without a module.
inline std::string getModulePath(llvm::StringRef node) {
  llvm::SmallVector<llvm::StringRef> parts, modules;
  node.split(parts, '/', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (!parts.empty())
    parts.pop_back();
  for (llvm::StringRef part : parts) {
    if (!modules.empty() && part.starts_with((modules.back() + ".").str()))
      modules.pop_back();
    modules.push_back(part);
  }
  return llvm::join(modules, ".");
}

} // namespace dtc

#endif // DTC_SUPPORT_MODULEPATH_H
