//===- GeneratedNames.h - names that exporters invent -----------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_GENERATEDNAMES_H
#define DTC_FRONTEND_EXPORTERS_GENERATEDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace dtc::frontend {

/// Whether an exporter invented the name.
bool isGeneratedName(llvm::StringRef name);

/// Whether both names mean one module. TorchScript numbers the calls of a
/// module: "query", "query_1".
bool isSameModule(llvm::StringRef a, llvm::StringRef b);

/// Whether an exporter gives constants such a name, although parameters are
/// beside them: scales of attention, initial states, InstanceNormalization
/// weights of a group norm. `isOne`: the tensor has one element.
bool isConstantName(llvm::StringRef name, bool isOne);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_GENERATEDNAMES_H
