//===- Parameters.h - which tensors of a model are trained ------*- C++ -*-===//
//
// Exporters write parameters, buffers and folded constants alike as
// initializers, split tied weights and merge equal ones. This finds the
// parameters again: float initializers from which a gradient can reach a float
// output, and that ParameterRules takes for parameters. Operands that are
// settings (the bounds of Clip, the pads of Pad) have no gradient.
//
// In:  a graph as its author wrote it, and what its exporter tells.
// Out: the table of parameters, and for each value the parameter that it is.
// May include Exporters/, Ops/ and what these include.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_PARAMETERS_H
#define DTC_FRONTEND_PARAMETERS_PARAMETERS_H

#include "Exporters/Model.h"
#include "Ops/Operators.h"
#include "Support/TensorData.h"

#include "dtc/Frontend/Import.h"

#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

/// A value of the model that is a parameter, perhaps transposed.
struct ParameterUse {
  unsigned index;
  bool transposed = false;
  /// The value's own; a reshape of the parameter's.
  Shape shape = {};
};

struct Parameters {
  ParameterTable table;
  /// By the name of the value in the model.
  llvm::StringMap<ParameterUse> uses;
  /// Copies that are constants of initializers that are parameters, by name.
  llvm::StringMap<std::string> constantCopies;
};

/// `inputShapes` has the resolved shapes of graph inputs.
Parameters findParameters(const Model &model, const OperatorTable &operators,
                          const llvm::StringMap<Shape> &inputShapes,
                          const llvm::StringMap<TensorData> &initializers,
                          const ImportOptions &options, ImportReport &report);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_PARAMETERS_H
