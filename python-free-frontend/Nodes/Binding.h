//===- Binding.h - value of a name of the model -----------------*- C++ -*-===//

#ifndef DTC_FRONTEND_NODES_BINDING_H
#define DTC_FRONTEND_NODES_BINDING_H

#include "Parameters/Parameters.h"
#include "Shapes/Selection.h"
#include "Support/HostTensor.h"

#include "mlir/IR/Value.h"

#include <memory>
#include <optional>

namespace dtc::frontend {

/// The value of a name: a constant, a parameter, or an IR value.
struct Binding {
  DType dtype = DType::F32;
  Shape shape;
  std::shared_ptr<const HostTensor> constant;
  /// Null if no op has used the constant or parameter yet.
  mlir::Value value;
  std::optional<ParameterUse> parameter;
  std::optional<Selection> selection;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_NODES_BINDING_H
