//===- Parameters.h - which tensors of a model are trained -------*- C++
//-*-===//
//
// Exporters write parameters, buffers and folded constants alike as
// initializers, split tied weights and merge equal ones. This finds the
// parameters again.
//
// A parameter is a float initializer of rank 1 or more from which a gradient
// can reach a float output. Not parameters, but constants, are:
//   - scalars and outputs of Constant nodes, as PyTorch exports constants; a
//     tensor of shape [1] is a parameter (a bias of one unit, a PReLU slope);
//   - operands that are settings (the bounds of Clip, the pads of Pad);
//   - tensors with infinities or magnitudes of 1e9 and more: attention masks.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_H
#define DTC_FRONTEND_PARAMETERS_H

#include "Model.h"
#include "Operators.h"
#include "TensorData.h"

#include "dtc/Frontend/Import.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

/// A value of the model that is a parameter, perhaps transposed.
struct ParameterUse {
  unsigned index;
  bool transposed = false;
};

struct Parameters {
  ParameterTable table;
  /// By the name of the value in the model.
  llvm::StringMap<ParameterUse> uses;
};

/// `inputShapes` has the resolved shapes of graph inputs.
Parameters findParameters(const Model &model, const OperatorTable &operators,
                          const llvm::StringMap<Shape> &inputShapes,
                          const llvm::StringMap<TensorData> &initializers,
                          const ImportOptions &options,
                          std::vector<std::string> &notes);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_H
