//===- Parameters.h - trained tensors of a model ----------------*- C++ -*-===//
//
// Exporters write parameters, buffers and folded constants as initializers,
// without a difference. They split tied weights and merge equal ones. This file
// finds the parameters again: they are float initializers from which a gradient
// can reach a float output, and which ParameterRules accepts. Operands that are
// settings (the bounds of Clip, the pads of Pad) get no gradient.
//
// In:  a graph as its author wrote it, and the record of its exporter.
// Out: the table of parameters, and the parameter that each value is.
// May include Exporters/, Ops/ and their includes.
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

/// A value of the model that is a parameter or its transpose.
struct ParameterUse {
  /// Index in the table of parameters.
  unsigned index;
  bool transposed = false;
  /// Shape of the value. It has as many elements as the parameter.
  Shape shape = {};
};

struct Parameters {
  ParameterTable table;
  /// The parameter of a value, by the value's name in the model.
  llvm::StringMap<ParameterUse> uses;
  /// Copies of parameters that stay constants: initializer by name of the copy.
  llvm::StringMap<std::string> constantCopies;
};

/// Finds the parameters, and reports tied tensors, constants and doubts.
/// `inputShapes`: resolved shapes of the graph inputs.
Parameters findParameters(const Model &model, const OperatorTable &operators,
                          const llvm::StringMap<Shape> &inputShapes,
                          const llvm::StringMap<TensorData> &initializers,
                          const ImportOptions &options, ImportReport &report);

/// Adds the buffers of the state dict to the report's table, so that programs
/// save them with the weights.
void keepBuffers(const Model &model,
                 const llvm::StringMap<TensorData> &initializers,
                 const Parameters &parameters, ImportReport &report);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_PARAMETERS_H
