//===- EarlyStop.h - a training that gets no better ends --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H
#define DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H

#include "Core/Error.h"
#include "Metrics/Metrics.h"

#include <cmath>
#include <optional>

namespace dtc::rt {

/// The evaluation with the lowest loss, and how many came after it.
struct BestEvaluation {
  int64_t step; ///< after which it was made
  double loss;
  int64_t since = 0;
};

/// Counts evaluations since the one with the lowest loss, as Keras'
/// EarlyStopping does with min_delta = 0. All ranks see the same losses, so all
/// of them stop, or none.
class EarlyStop {
public:
  /// `patience`: so many evaluations in a row may be no better; 0: any number.
  explicit EarlyStop(int64_t patience) : patience(patience) {}

  /// Nothing before the first whose loss is a number.
  const std::optional<BestEvaluation> &best() const { return lowest; }
  void resume(const std::optional<BestEvaluation> &before) { lowest = before; }

  /// Whether this is the best so far.
  bool observe(const EvalMetrics &metrics) {
    if (std::isfinite(metrics.loss) &&
        (!lowest || metrics.loss < lowest->loss)) {
      lowest = {metrics.step, metrics.loss};
      return true;
    }
    ++(lowest ? lowest->since : withoutNumber);
    return false;
  }

  /// Whether the training ends after what was observed last.
  bool ends() const {
    return patience && (lowest ? lowest->since : withoutNumber) >= patience;
  }

  /// Why it does.
  std::string describe(int64_t step) const {
    if (!lowest)
      return format("stopped after step %lld: no evaluation had a loss that is "
                    "a number (--early-stop %lld)",
                    (long long)step, (long long)patience);
    return format("stopped after step %lld: no evaluation since step %lld was "
                  "better than its loss %.6g (--early-stop %lld)",
                  (long long)step, (long long)lowest->step, lowest->loss,
                  (long long)patience);
  }

private:
  int64_t patience;
  std::optional<BestEvaluation> lowest;
  int64_t withoutNumber = 0; ///< evaluations before the first that has one
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_EARLYSTOP_H
