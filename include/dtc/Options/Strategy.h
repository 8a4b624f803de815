//===- Strategy.h - what is asked of a model's plan -------------*- C++ -*-===//
//
// One struct and one attribute of the module, `dtc.strategy`, which all phases
// read: what a phase does follows from the module that it is given.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_OPTIONS_STRATEGY_H
#define DTC_OPTIONS_STRATEGY_H

#include "dtc/Options/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtc {

struct Strategy {
  TrainingOptions training;
  ParallelOptions parallel;
  ScheduleOptions schedule;
  TargetOptions target;

  /// Parts of the model, one after the other, in all pipeline stages together.
  int64_t getNumVirtualStages() const {
    return parallel.pp * schedule.virtualStages;
  }
  /// Parts that a rank's share of the batch is run in.
  int64_t getNumMicrobatches() const {
    return parallel.microbatches * schedule.accumulate;
  }

  /// Calls `visit` with the row and the field of each option.
  template <typename Self, typename Visitor>
  static void visit(Self &strategy, Visitor visit) {
    TrainingOptions::visit(strategy.training, visit);
    ParallelOptions::visit(strategy.parallel, visit);
    ScheduleOptions::visit(strategy.schedule, visit);
    TargetOptions::visit(strategy.target, visit);
  }

  /// The strategy of a module, defaults where it says nothing. Fails with a
  /// diagnostic if the attribute has something else.
  static mlir::FailureOr<Strategy> get(mlir::ModuleOp module);
  /// Writes what is no default.
  void set(mlir::ModuleOp module) const;
};

} // namespace dtc

#endif // DTC_OPTIONS_STRATEGY_H
