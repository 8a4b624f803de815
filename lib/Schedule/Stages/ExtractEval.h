//===- ExtractEval.h - a function of what an evaluation asks for *- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_STAGES_EXTRACTEVAL_H
#define DTC_LIB_SCHEDULE_STAGES_EXTRACTEVAL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// A clone of `@step` keeps the result `eval` and becomes `@eval`; `@step`
/// keeps all others. Ops without users and, of `@eval`, arguments without users
/// go. Null if there is no such result.
mlir::func::FuncOp extractEval(mlir::func::FuncOp step);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_STAGES_EXTRACTEVAL_H
