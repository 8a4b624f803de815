//===- EarlyStop.h - a training that gets no better ends --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H
#define DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H

#include "Checkpoint/TrainingState.h"
#include "Core/Error.h"
#include "Metrics/Metrics.h"
#include "Options/Options.h"

#include <cmath>
#include <optional>

namespace dtc::rt {

/// Counts evaluations since the best one, as Keras' EarlyStopping does with
/// min_delta = 0. All ranks see the same numbers, so all of them stop, or none.
class EarlyStop {
public:
  /// `patience`: so many evaluations in a row may be no better; 0: any number.
  EarlyStop(int64_t patience, BestBy by) : patience(patience), by(by) {}

  const Evaluations &state() const { return seen; }
  /// Continues from a checkpoint, unless it has compared another metric.
  /// Returns a note for the user, or nothing.
  std::string resume(const Evaluations &before) {
    if (before.best && before.best->by != by)
      return format("the checkpoint has the best evaluation by %s; with "
                    "--best-by %s the best is found anew",
                    nameOf(before.best->by), nameOf(by));
    seen = before;
    return {};
  }

  /// Whether this is the best so far.
  bool observe(const EvalMetrics &metrics) {
    double value = valueOf(metrics);
    if (std::isfinite(value) && (!seen.best || isBetter(value))) {
      seen = {BestEvaluation{metrics.step, by, value}};
      return true;
    }
    ++seen.since;
    return false;
  }

  /// Whether the training ends after the last evaluation.
  bool ends() const { return patience && seen.since >= patience; }

  /// Says why the training ends.
  std::string describe(int64_t step) const {
    if (!seen.best)
      return format("stopped after step %lld: no evaluation had a %s that is "
                    "a number (--early-stop %lld)",
                    (long long)step, nameOf(by), (long long)patience);
    return format("stopped after step %lld: no evaluation since step %lld was "
                  "better than its %s %.6g (--early-stop %lld)",
                  (long long)step, (long long)seen.best->step, nameOf(by),
                  seen.best->value, (long long)patience);
  }

private:
  double valueOf(const EvalMetrics &metrics) const {
    std::optional<double> values[] = {metrics.loss, metrics.trainingLoss,
                                      metrics.accuracy, metrics.top5,
                                      metrics.f1};
    return values[int(by)].value_or(NAN);
  }
  bool isBetter(double value) const {
    bool isLoss = by == BestBy::loss || by == BestBy::trainingLoss;
    return isLoss ? value < seen.best->value : value > seen.best->value;
  }

  int64_t patience;
  BestBy by;
  Evaluations seen;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H
