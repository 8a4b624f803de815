//===- LayerwiseUpdates.h - updates by norms of whole tensors ---*- C++ -*-===//
//
// Optimizers whose learning rate differs by tensor of the model: it depends on
// the tensor's norm. Optimizers.h has the meaning of the arguments.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_LAYERWISEUPDATES_H
#define DTC_LIB_TRAINING_LAYERWISEUPDATES_H

#include "dtc/Training/Optimizers.h"

namespace dtc {

/// A step along AdamW's direction, with a length of lr times the parameter's
/// norm: You et al., arXiv 1904.00962, algorithm 2, where phi is the identity.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
createLamb(mlir::OpBuilder &builder, llvm::ArrayRef<ParameterUpdate> parts,
           const OptimizerSettings &settings);

/// A step of lr times a local rate, trust_coefficient * |w| / (|g| +
/// weight_decay * |w| + epsilon), which the momentum sums: You et al., arXiv
/// 1708.03888, algorithm 1. The local rate is one for parameters that do not
/// decay.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
createLars(mlir::OpBuilder &builder, llvm::ArrayRef<ParameterUpdate> parts,
           const OptimizerSettings &settings);

} // namespace dtc

#endif // DTC_LIB_TRAINING_LAYERWISEUPDATES_H
