//===- StopRequests.h - signals that ask for a stop -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_STOPREQUESTS_H
#define DTC_LIB_RUNTIME_LAUNCH_STOPREQUESTS_H

#include <csignal>
#include <ctime>

namespace dtc::rt {

/// One request may come more than once: `timeout` and terminals signal a
/// process and its group, launchers hand on what ranks got, too. What comes two
/// seconds later is another one.
class StopRequests {
public:
  /// Whether the signal that just came is of another request than the first.
  /// For signal handlers.
  bool isAnother() {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!first)
      first = sig_atomic_t(now.tv_sec + 1); // 0 is before any
    return now.tv_sec + 1 - first >= 2;
  }

private:
  volatile sig_atomic_t first = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_STOPREQUESTS_H
