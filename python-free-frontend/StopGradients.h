//===- StopGradients.h - what a model detaches ------------------*- C++ -*-===//
//
// PyTorch's `detach` is no operator of ONNX. With its optimizer off, dynamo
// writes an Identity for it; with it on, only the calls name its result:
//
//   node:  Mul(tanh, tanh), of %mul = mul(args = (%detach, %tanh))
//   here:  Mul(dtc.StopGradient(tanh), tanh)
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_STOPGRADIENTS_H
#define DTC_FRONTEND_STOPGRADIENTS_H

#include "FxGraph.h"
#include "RestoreParameters.h"

namespace dtc::frontend {

/// The one operator that dtc adds to those of ONNX.
inline constexpr llvm::StringLiteral stopGradientDomain = "dtc";
inline constexpr llvm::StringLiteral stopGradientOp = "StopGradient";

inline bool isStopGradient(llvm::StringRef domain, llvm::StringRef op) {
  return domain == stopGradientDomain && op == stopGradientOp;
}

/// Adds StopGradient nodes. Where it cannot be told which operand is detached,
/// a warning says so. Expects that the graph's operands have the names of
/// parameters.
void stopGradients(FxGraph &graph, RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_STOPGRADIENTS_H
