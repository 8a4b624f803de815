//===- BoundInputs.h - bounds of integer inputs -----------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_LOSS_BOUNDINPUTS_H
#define DTC_LIB_STRATEGY_LOSS_BOUNDINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Adds `dtc.bound` to each input that indexes a table or holds class labels.
/// The training program rejects data outside the bound before a kernel reads
/// past a buffer. It is one bound for all elements of a sample, or one for
/// each, where 0 allows any value. Labels with an ignored value get
/// `dtc.ignore_index`.
void boundInputs(mlir::func::FuncOp step);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_LOSS_BOUNDINPUTS_H
