//===- ParameterGroups.h - what updates of parameters differ in -*- C++ -*-===//
//
// PyTorch's param_groups: parameters without weight decay, and with learning
// rates of their own.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_PARAMETERGROUPS_H
#define DTC_LIB_TRAINING_PARAMETERGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// How the update of a parameter differs from the optimizer's settings.
struct ParameterGroup {
  bool decays = true;
  double lrScale = 1;
};

/// The groups of all parameters of the model, by the model's tensors.
/// `noDecay` are globs or norms-and-biases, `lrScales` are GLOB=X. A glob that
/// matches no parameter is an error, and so is a parameter with two scales.
mlir::FailureOr<llvm::StringMap<ParameterGroup>>
readParameterGroups(mlir::func::FuncOp step,
                    llvm::ArrayRef<std::string> noDecay,
                    llvm::ArrayRef<std::string> lrScales);

} // namespace dtc

#endif // DTC_LIB_TRAINING_PARAMETERGROUPS_H
