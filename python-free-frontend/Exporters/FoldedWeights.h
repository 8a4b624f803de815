//===- FoldedWeights.h - weights that may be no parameters ---- -*- C++ -*-===//
//
// TorchScript computes what does not depend on inputs, transposed weights and
// 'self.weight * self.mask' alike, and gives the result a name of its own
// ('onnx::MatMul_9'). Only where a node is in a file tells a linear layer from
// an expression that somebody wrote.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_FOLDEDWEIGHTS_H
#define DTC_FRONTEND_EXPORTERS_FOLDEDWEIGHTS_H

#include "Exporters/Model.h"
#include "Support/TensorData.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

/// Names of weights of products that no linear layer has, as far as the paths
/// of nodes say: the layer has no other nodes or modules, or its own bias is
/// added; and of what other ops read under such a name. Empty if metadata say
/// what parameters are.
llvm::StringSet<> findFoldedWeights(const Model &model);

/// Whether TorchScript named a matrix of which some elements are zero: no layer
/// starts so, but what a mask was multiplied with has them.
bool isPerhapsMasked(llvm::StringRef name, const TensorData &data);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_FOLDEDWEIGHTS_H
