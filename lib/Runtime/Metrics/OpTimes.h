//===- OpTimes.h - times of kernels and library calls -----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_OPTIMES_H
#define DTC_LIB_RUNTIME_METRICS_OPTIMES_H

#include "Collectives/Collectives.h"
#include "Program/Program.h"

#include <string>
#include <vector>

namespace dtc::rt {

class DeviceClock;

/// Means of a rank and step.
struct OpTime {
  double calls = 0, seconds = 0;
};

/// Adds up the time of each of a program's ops in the steps that are recorded.
class OpTimes {
public:
  /// `capacity`: calls of a step for which memory is reserved.
  explicit OpTimes(const Program &program, size_t capacity);

  void beginStep() { calls.clear(); }
  bool isFull() const { return calls.size() == calls.capacity(); }
  /// `mark` is a moment of the clock that `endStep` gets. Not if it is full.
  void begin(int32_t op, int64_t mark) { calls.push_back({op, mark, mark}); }
  void end(int64_t mark) { calls.back().end = mark; }
  /// Adds the step. Marks are nanoseconds if there is no clock.
  void endStep(const DeviceClock *clock);

  /// Rank 0 gets the means over all ranks, by op; each has recorded `steps` of
  /// its own. All ranks call this.
  std::vector<OpTime> gather(Collectives &collectives, int64_t steps) const;

private:
  struct Call {
    int32_t op;
    int64_t begin, end;
  };
  std::vector<Call> calls;   ///< of the step
  std::vector<OpTime> times; ///< sums of all steps
};

/// A row for each name among the ops, those that take longest first; what is
/// beyond `limit` is one row. A row names the node that takes longest of those
/// with its name. `stepSeconds` is the mean of a rank's step. Empty if no op
/// was run.
std::string describeOps(const std::vector<OpInfo> &ops,
                        const std::vector<OpTime> &times, double stepSeconds,
                        size_t limit = 20);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_OPTIMES_H
