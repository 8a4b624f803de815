//===- Initialize.h - how parameters start ----------------------*- C++ -*-===//
//
// From the model's own weights, or from a rule of the field.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DRIVER_INITIALIZE_H
#define DTC_DRIVER_INITIALIZE_H

#include "dtc/Frontend/ParameterTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace dtc {

/// The manifest's `init` and `init_scale` of every parameter. `rule` is empty
/// (the model's weights), normal (N(0, 0.02)), xavier (Glorot and Bengio 2010,
/// normal) or kaiming (He et al. 2015, normal, fan in). By any rule, scales of
/// norms start at one and other vectors at zero. A parameter without data and
/// without a rule is an error.
llvm::FailureOr<llvm::json::Object>
chooseInitializers(mlir::ModuleOp module, const ParameterTable &parameters,
                   llvm::StringRef rule);

} // namespace dtc

#endif // DTC_DRIVER_INITIALIZE_H
