//===- EvaluationRun.h - an evaluation without a training -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_EVALUATIONRUN_H
#define DTC_LIB_RUNTIME_TRAINING_EVALUATIONRUN_H

#include "Collectives/Collectives.h"
#include "Device/Device.h"
#include "Evaluation.h"
#include "Metrics/Reporter.h"
#include "Program/Context.h"
#include "RankJob.h"
#include "System/OutputLock.h"
#include "WorkerAverage.h"

namespace dtc::rt {

/// Evaluates the program's weights, those of a file, or those of a checkpoint
/// once (--evaluate). Changes no parameter and no running statistic.
class EvaluationRun : public RankJob {
public:
  EvaluationRun(const Program &program, const Options &options,
                Collectives &collectives, Device &device);

  void expectSameData() const override;
  std::string shareArena() override {
    return context.collectives.attach(*arena);
  }
  std::string announce() const override;
  void loadState() override;
  std::vector<std::string> notes() const override {
    return {reporter ? reporter->describeFormer() : std::string(),
            evaluation.describeRest()};
  }
  bool run() override;

private:
  FileCoverage coverage() const { return {options.verifyData, options.seed}; }
  bool leads() const { return context.collectives.rank() == 0; }

  const Program &program;
  const Options &options;
  dtc_context context;
  OutputLock outputs; ///< of rank 0
  std::unique_ptr<Arena> arena;
  StepInputs inputs;
  Evaluation evaluation;
  WorkerAverage average;
  std::optional<Predictions> predictions;
  std::optional<Reporter> reporter; ///< of rank 0
  int64_t step = 0;                 ///< of the checkpoint; 0: none
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_EVALUATIONRUN_H
