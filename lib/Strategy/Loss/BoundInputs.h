//===- BoundInputs.h - what integer inputs may be ---------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_LOSS_BOUNDINPUTS_H
#define DTC_LIB_STRATEGY_LOSS_BOUNDINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// An input that indexes a table, or holds labels of so many classes, gets
/// `dtc.bound`: the training program refuses data outside of it before a kernel
/// reads past a buffer. It is one for all elements of a sample, or one for
/// each, 0 where any value may be. Labels with an ignored value get
/// `dtc.ignore_index`.
void boundInputs(mlir::func::FuncOp step);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_LOSS_BOUNDINPUTS_H
