//===- MayStore.h - what functions do with addresses ------------*- C++ -*-===//

#ifndef DTC_LOWERING_MAYSTORE_H
#define DTC_LOWERING_MAYSTORE_H

#include "mlir/IR/SymbolTable.h"

namespace dtc {

/// Whether a function of the LLVM dialect may store at an address that it has,
/// itself or in a function of `symbols` that it calls with it. What is done
/// with the address that is not plainly a load counts.
bool mayStoreAt(mlir::Value address, const mlir::SymbolTable &symbols);

} // namespace dtc

#endif // DTC_LOWERING_MAYSTORE_H
