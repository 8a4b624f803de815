//===- StopRequests.h - signals that ask for a stop -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_STOPREQUESTS_H
#define DTC_LIB_RUNTIME_LAUNCH_STOPREQUESTS_H

#include <csignal>
#include <ctime>

namespace dtc::rt {

/// One request may send several signals: `timeout` and terminals signal a
/// process and its group, and launchers forward a signal that ranks already
/// have. A signal two seconds later is another request.
class StopRequests {
public:
  /// Whether this signal belongs to another request than the first one. For
  /// signal handlers.
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
