//===- EarlyStop.h - a training that gets no better ends --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H
#define DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H

#include "Core/Error.h"
#include "Metrics/Metrics.h"

#include <cmath>
#include <optional>

namespace dtc::rt {

/// The evaluation with the lowest loss.
struct BestEvaluation {
  int64_t step; ///< after which it was made
  double loss;
};

/// What was observed.
struct Evaluations {
  std::optional<BestEvaluation> best; ///< nothing before a loss is a number
  int64_t since = 0;                  ///< evaluations after it, or of all
};

/// Counts evaluations since the one with the lowest loss, as Keras'
/// EarlyStopping does with min_delta = 0. All ranks see the same losses, so all
/// of them stop, or none.
class EarlyStop {
public:
  /// `patience`: so many evaluations in a row may be no better; 0: any number.
  explicit EarlyStop(int64_t patience) : patience(patience) {}

  const Evaluations &state() const { return seen; }
  void resume(const Evaluations &before) { seen = before; }

  /// Whether this is the best so far.
  bool observe(const EvalMetrics &metrics) {
    if (std::isfinite(metrics.loss) &&
        (!seen.best || metrics.loss < seen.best->loss)) {
      seen = {BestEvaluation{metrics.step, metrics.loss}};
      return true;
    }
    ++seen.since;
    return false;
  }

  /// Whether the training ends after what was observed last.
  bool ends() const { return patience && seen.since >= patience; }

  /// Why it does.
  std::string describe(int64_t step) const {
    if (!seen.best)
      return format("stopped after step %lld: no evaluation had a loss that is "
                    "a number (--early-stop %lld)",
                    (long long)step, (long long)patience);
    return format("stopped after step %lld: no evaluation since step %lld was "
                  "better than its loss %.6g (--early-stop %lld)",
                  (long long)step, (long long)seen.best->step, seen.best->loss,
                  (long long)patience);
  }

private:
  int64_t patience;
  Evaluations seen;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H
