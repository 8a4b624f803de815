//===- Strategy.h - options of a model's plan -------------------*- C++ -*-===//
//
// One struct and one module attribute, `dtc.strategy`, which all phases read.
// So the behaviour of a phase follows from its module alone.
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

  /// The number of consecutive parts of the model over all pipeline stages.
  int64_t getNumVirtualStages() const {
    return parallel.pp * schedule.virtualStages;
  }
  /// The number of parts of a rank's share of the batch, over all rounds.
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

  /// Reads the strategy of a module. Options that it lacks have their defaults.
  /// Fails with a diagnostic if the attribute has an unknown or invalid entry.
  static mlir::FailureOr<Strategy> get(mlir::ModuleOp module);
  /// Writes the options that differ from their defaults.
  void set(mlir::ModuleOp module) const;
};

} // namespace dtc

#endif // DTC_OPTIONS_STRATEGY_H
