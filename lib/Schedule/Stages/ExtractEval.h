//===- ExtractEval.h - extract the evaluation -------------------*- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_STAGES_EXTRACTEVAL_H
#define DTC_LIB_SCHEDULE_STAGES_EXTRACTEVAL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Moves the result `eval` of `@step` into a clone, `@eval`; `@step` keeps all
/// others. Removes ops without users and, in `@eval`, arguments without users.
/// Returns null if there is no such result.
mlir::func::FuncOp extractEval(mlir::func::FuncOp step);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_STAGES_EXTRACTEVAL_H
