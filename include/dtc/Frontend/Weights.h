//===- Weights.h - the weights file of a program ----------------*- C++ -*-===//
//
// Writes the model's weights where the program will find them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_WEIGHTS_H
#define DTC_FRONTEND_WEIGHTS_H

#include "dtc/Frontend/ParameterTable.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

/// Writes a safetensors file under a temporary name and renames it.
mlir::LogicalResult writeWeights(mlir::Location location, llvm::StringRef path,
                                 const ParameterTable &parameters);

} // namespace dtc

#endif // DTC_FRONTEND_WEIGHTS_H
