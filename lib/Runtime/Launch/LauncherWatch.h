//===- LauncherWatch.h - no rank outlives its launcher ----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_LAUNCHERWATCH_H
#define DTC_LIB_RUNTIME_LAUNCH_LAUNCHERWATCH_H

#include "Environment.h"
#include "System/OtherProcess.h"

#include <atomic>
#include <optional>
#include <thread>

namespace dtc::rt {

/// A launcher that gets SIGKILL cannot end its ranks. So each rank has a thread
/// that waits for the end of its launcher and then ends the rank. MPI also ends
/// its ranks, once it has started, so the thread gives it a second.
///
/// The launcher is the nearest ancestor without the rank's variable in its
/// environment: scripts may stand between it and the rank. Linux's parent-death
/// signal (PR_SET_PDEATHSIG) is no alternative: it reports the parent only, and
/// it also comes when just the thread ends that started the rank.
class LauncherWatch {
public:
  /// Does nothing if no launcher started this process, or if the launcher may
  /// end before its ranks: a user who sets RANK by hand may start ranks in the
  /// background. A rank that was asked to stop has `timeout` seconds to save.
  LauncherWatch(const Environment &environment, int timeout);
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch &) = delete;

private:
  void wait() const;

  const char *name;
  pid_t number = 0;
  bool isOrphan = false; ///< the launcher ended before this rank looked
  int secondsOfMpi, timeout;
  std::optional<OtherProcess> launcher;
  int ending = -1; ///< an eventfd, readable when the thread shall end
  std::thread thread;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_LAUNCHERWATCH_H
