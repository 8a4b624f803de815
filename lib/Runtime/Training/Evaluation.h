//===- Evaluation.h - the loss on data that are not trained on --*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_EVALUATION_H
#define DTC_LIB_RUNTIME_TRAINING_EVALUATION_H

#include "Data/Shuffle.h"
#include "Data/Source.h"
#include "Metrics/Metrics.h"
#include "Options/Options.h"
#include "Predictions.h"
#include "Program/Context.h"
#include "StepInputs.h"

namespace dtc::rt {

/// Evaluates every sample of a folder once, in order. Leaves parameters and
/// optimizer state as they are, and overwrites the input buffers, which every
/// step fills.
class Evaluation {
public:
  /// Opens and checks the data; each rank checks a share of the samples. Throws
  /// an Error if they do not fit. All ranks call this.
  Evaluation(dtc_context &context, const Options &options, Arena &arena,
             const std::string &directory);

  /// "113 samples of 'corpus/valid'", with the samples that are left out.
  std::string describe() const;
  /// The samples that are left out, for people; empty if there are none.
  std::string describeRest() const;
  const DataSource &data() const { return *source; }

  int64_t countSamples() const { return samples; }

  /// Evaluates, and writes the model's output for each sample if there is a
  /// file. All ranks call this and get the same metrics.
  EvalMetrics run(int64_t step, const StepInputs &inputs,
                  Predictions *predictions = nullptr);

private:
  dtc_context &context;
  Arena &arena;
  std::string directory;
  std::unique_ptr<DataSource> source;
  BatchLoader loader;
  EvaluationOrder order;
  int64_t samples; ///< that are evaluated
  bool hasRest;    ///< whether others are left out that were not meant to be
};

/// The folder of the evaluation data: --eval-data, or DIR/valid of --data;
/// without a training also DIR itself. Throws an Error if it does not exist.
std::string chooseEvaluationData(const Options &options);

/// Metrics from the sums that plans return (ABI.h).
EvalMetrics summarize(const Program &program, int64_t step,
                      const std::vector<double> &sums);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_EVALUATION_H
