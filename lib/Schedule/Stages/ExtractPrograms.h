//===- ExtractPrograms.h - extract the evaluation and others ----*- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_STAGES_EXTRACTPROGRAMS_H
#define DTC_LIB_SCHEDULE_STAGES_EXTRACTPROGRAMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Moves the result `eval` of `@step`, and the results of each `dtc.program`,
/// into clones of `@step` with the program's name, after `@step`, which keeps
/// all others. Removes ops without users and, in the clones, arguments without
/// users. Arguments of programs between steps have their `dtc.stage`. Fails if
/// ops mix values of different stages.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
extractPrograms(mlir::func::FuncOp step);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_STAGES_EXTRACTPROGRAMS_H
