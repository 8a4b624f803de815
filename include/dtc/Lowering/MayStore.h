//===- MayStore.h - stores through an address -------------------*- C++ -*-===//

#ifndef DTC_LOWERING_MAYSTORE_H
#define DTC_LOWERING_MAYSTORE_H

#include "mlir/IR/SymbolTable.h"

namespace dtc {

/// Whether a function of the LLVM dialect may store at `address`, itself or in
/// a function of `symbols` that it passes the address to. Any use that is not
/// clearly a load counts as a store.
bool mayStoreAt(mlir::Value address, const mlir::SymbolTable &symbols);

} // namespace dtc

#endif // DTC_LOWERING_MAYSTORE_H
