//===- RankWatch.h - an mpirun without ranks --------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_RANKWATCH_H
#define DTC_LIB_RUNTIME_LAUNCH_RANKWATCH_H

#include <chrono>
#include <sys/types.h>

namespace dtc::rt {

/// Measures how long mpirun has had no rank. A job has ranks all the time, but
/// for a moment at the start and at the end, so a longer time means that mpirun
/// hangs.
class RankWatch {
public:
  /// `launcher` is the process of mpirun.
  explicit RankWatch(pid_t launcher) : launcher(launcher) {}

  /// Looks at the children of mpirun now; returns whether it has had no rank
  /// for `limit`.
  bool isWithoutRanks(std::chrono::seconds limit);

private:
  using Clock = std::chrono::steady_clock;

  bool hasRanks();

  pid_t launcher;
  bool mayHaveRemoteRanks = false;
  Clock::time_point latestRank = Clock::now();
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_RANKWATCH_H
