//===- StopGradients.h - what a model detaches ------------------*- C++ -*-===//
//
// PyTorch's `detach` is no operator of ONNX. With its optimizer off, dynamo
// writes an Identity for it; with it on, only the calls name its result:
//
//   node:  Mul(tanh, tanh), of %mul = mul(args = (%detach, %tanh))
//   here:  Mul(dtc.StopGradient(tanh), tanh)
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_STOPGRADIENTS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_STOPGRADIENTS_H

#include "Exporters/Dynamo/FxGraph.h"
#include "Exporters/RestoredTensors.h"
#include "File/StopGradientOp.h"

namespace dtc::frontend {

/// Adds StopGradient nodes. Where it cannot be told which operand is detached,
/// a warning says so. Expects that the graph's operands have the names of
/// parameters.
void stopGradients(FxGraph &graph, RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_STOPGRADIENTS_H
