//===- FoldedWeights.h - weights that may be folded constants ---*- C++ -*-===//
//
// TorchScript computes all values that do not depend on inputs: both transposed
// weights and 'self.weight * self.mask'. It invents the name of the result
// ('onnx::MatMul_9'). Only the place of the node in the model tells a linear
// layer from an expression that somebody wrote.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_FOLDEDWEIGHTS_H
#define DTC_FRONTEND_EXPORTERS_FOLDEDWEIGHTS_H

#include "Exporters/Model.h"
#include "Support/TensorData.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

/// Names of weights that the exporter may have computed, judged by the paths of
/// nodes: a product is a linear layer only if its module has no other nodes or
/// modules, or adds its own bias. Also names that other operators read and the
/// exporter invented. Empty if metadata list the parameters.
llvm::StringSet<> findFoldedWeights(const Model &model);

/// Whether TorchScript named a matrix that has zeros. No layer starts with
/// zeros, but a product with a mask has them.
bool isPerhapsMasked(llvm::StringRef name, const TensorData &data);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_FOLDEDWEIGHTS_H
