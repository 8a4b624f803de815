//===- Evaluation.h - the loss on data that are not trained on --*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_EVALUATION_H
#define DTC_LIB_RUNTIME_TRAINING_EVALUATION_H

#include "Core/Context.h"
#include "Core/Options.h"
#include "Data/Source.h"
#include "Metrics/Metrics.h"
#include "StepInputs.h"

namespace dtc::rt {

/// Evaluates all whole global batches of a folder, in order. Leaves parameters
/// and optimizer state as they are, and overwrites the input buffers, which
/// every step fills.
class Evaluation {
public:
  /// Opens and checks the data. Throws an Error if they do not fit. Met by all
  /// ranks, which check a share of the samples each.
  Evaluation(dtc_context &context, const Options &options, Arena &arena);

  /// What is left out, for people; empty if nothing is.
  std::string describeRest() const;

  /// After every `--eval-every` steps and after the last.
  bool isDue(int64_t step) const;

  /// Met by all ranks; gives all of them the same.
  EvalMetrics run(int64_t step, const StepInputs &inputs);

private:
  dtc_context &context;
  Arena &arena;
  std::string directory;
  int64_t every, steps;
  std::unique_ptr<DataSource> source;
  BatchLoader loader;
  int64_t batches; ///< of one evaluation
  int64_t rest;    ///< samples after the last whole batch
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_EVALUATION_H
