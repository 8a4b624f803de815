//===- GeneratedNames.h - names that exporters make up -------- -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_GENERATEDNAMES_H
#define DTC_FRONTEND_EXPORTERS_GENERATEDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace dtc::frontend {

/// Whether an exporter invented the name.
bool isGeneratedName(llvm::StringRef name);

/// Whether both name one module. TorchScript numbers its calls: "query",
/// "query_1".
bool isSameModule(llvm::StringRef a, llvm::StringRef b);

/// Whether an exporter names numbers so that it writes beside parameters:
/// scales of attention, first states, norms of groups by an
/// InstanceNormalization. `isOne`: the tensor has one element.
bool isConstantName(llvm::StringRef name, bool isOne);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_GENERATEDNAMES_H
