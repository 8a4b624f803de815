//===- ModulePath.h - module path in a node's name --------------*- C++ -*-===//

#ifndef DTC_SUPPORT_MODULEPATH_H
#define DTC_SUPPORT_MODULEPATH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace dtc {

/// The module path in a node's name, such as "net.0.attn" in
/// "/net/net.0/attn/MatMul". PyTorch's exporter repeats the name of a container
/// in its members. Empty if the node is in no module.
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
