//===- RecurrentActivation.h - activations of recurrent layers --*- C++ -*-===//

#ifndef DTC_FRONTEND_OPS_RECURRENTACTIVATION_H
#define DTC_FRONTEND_OPS_RECURRENTACTIVATION_H

#include "Ops/NodeBuilder.h"

#include <functional>

namespace dtc::frontend {

using Activation = std::function<mlir::Value(NodeBuilder &, mlir::Value)>;

/// Finds an activation by its ONNX name. Takes its parameters from the front of
/// `alphas` and `betas`, or ONNX's defaults if there are no more. Null for an
/// unknown name.
Activation findActivation(llvm::StringRef name, llvm::ArrayRef<float> &alphas,
                          llvm::ArrayRef<float> &betas);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_RECURRENTACTIVATION_H
