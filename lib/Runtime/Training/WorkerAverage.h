//===- WorkerAverage.h - the mean of all workers' parameters ----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_WORKERAVERAGE_H
#define DTC_LIB_RUNTIME_TRAINING_WORKERAVERAGE_H

#include "Device/Arena.h"
#include "Program/Context.h"
#include "Program/Shard.h"

#include <optional>
#include <vector>

namespace dtc::rt {

/// Puts the mean of all workers' parameters in place of each worker's own, for
/// evaluations and saved weights. Does nothing if all ranks train together.
class WorkerAverage {
public:
  /// Allocates the memory for the own parameters.
  WorkerAverage(dtc_context &context, Arena &arena);

  /// While it lives, the arena has the mean. All ranks construct it at the same
  /// time.
  class Scope {
  public:
    explicit Scope(WorkerAverage &average) : average(average) {
      average.begin();
    }
    ~Scope() { average.end(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    WorkerAverage &average;
  };

  /// The root of the mean, over workers, of the squared distance between a
  /// worker's parameters and their mean, when a scope last began. None if there
  /// are no workers.
  std::optional<double> distance() const { return spread; }

private:
  struct Kept {
    Piece piece;
    dtc_dtype dtype;
    bool counts; ///< whether this rank counts it in the distance
    std::vector<char> bytes;
  };
  void begin();
  void end();
  double sumSquares() const;

  dtc_context &context;
  Arena &arena;
  std::vector<Kept> own;
  std::vector<double> squares; ///< by rank
  dtc_step_fn average = nullptr;
  std::optional<double> spread;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_WORKERAVERAGE_H
