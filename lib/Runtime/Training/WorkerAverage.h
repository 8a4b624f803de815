//===- WorkerAverage.h - the mean of all workers' parameters ----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_WORKERAVERAGE_H
#define DTC_LIB_RUNTIME_TRAINING_WORKERAVERAGE_H

#include "Device/Arena.h"
#include "Program/Context.h"
#include "Program/Shard.h"

#include <optional>
#include <vector>

namespace dtc::rt {

/// While it lives, the arena has the mean of all workers' parameters in place
/// of each worker's own: for evaluations and saved weights. Does nothing if all
/// ranks train together. All ranks construct it at the same time.
class WorkerAverage {
public:
  WorkerAverage(dtc_context &context, Arena &arena);
  /// Puts the own parameters back.
  ~WorkerAverage();
  WorkerAverage(const WorkerAverage &) = delete;
  WorkerAverage &operator=(const WorkerAverage &) = delete;

  /// The root of the mean, over workers, of the squared distance between a
  /// worker's parameters and their mean. None if there are no workers.
  std::optional<double> distance() const { return spread; }

private:
  struct Kept {
    Piece piece;
    dtc_dtype dtype;
    bool counts; ///< whether this rank counts it in the distance
    std::vector<char> bytes;
  };
  void keep();
  double sumSquares() const;

  dtc_context &context;
  Arena &arena;
  std::vector<Kept> own;
  std::optional<double> spread;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_WORKERAVERAGE_H
