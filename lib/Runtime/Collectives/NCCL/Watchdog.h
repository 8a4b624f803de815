//===- Watchdog.h - no rank waits for ever ----------------------*- C++ -*-===//
//
// A thread that ends the job when NCCL reports an error, or when this rank has
// waited too long for others. A call that waits for a lost rank never returns,
// on the host or on the GPU.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_NCCL_WATCHDOG_H
#define DTC_LIB_RUNTIME_COLLECTIVES_NCCL_WATCHDOG_H

#include "Collectives/Describe.h"
#include "Device/CUDA/Progress.h"
#include "Nccl.h"

#include <condition_variable>
#include <optional>
#include <thread>

namespace dtc::rt {

/// Collectives/Watched is another class, because it observes the main thread
/// and the machine's processes, and this one a stream and NCCL. They share only
/// a loop.
class Watchdog {
public:
  /// `seconds` is how long one call of a step may wait.
  Watchdog(const Nccl &nccl, const Progress &progress, int seconds);
  ~Watchdog();

  /// The ranks are those of this program's mesh, for messages.
  void observe(const Program &compiled);
  /// Errors of this communicator end the job from now on.
  void watch(ncclComm_t communicator);
  /// Errors do not end the job any more.
  void forgetCommunicators();
  /// Aborts the communicators, for a few seconds at most.
  void abortCommunicators();

  /// While it lives, the host waits for other ranks, outside of a step.
  class Waiting {
  public:
    /// Does nothing without a watchdog.
    Waiting(Watchdog *watchdog, const Call &call);
    ~Waiting();
    Waiting(const Waiting &) = delete;

  private:
    Watchdog *watchdog;
  };

private:
  using Clock = std::chrono::steady_clock;
  void run();
  void checkErrors() const;
  void checkTime();
  std::string describeCall(const Progress::State &state) const;

  const Nccl &nccl;
  const Progress &progress;
  int seconds;
  std::mutex mutex; ///< of the next members
  std::condition_variable ended;
  bool ends = false;
  std::vector<ncclComm_t> communicators;
  const Program *program = nullptr;
  std::optional<Call> waitsFor; ///< none: the host does not wait
  uint64_t waits = 0;           ///< number of waits
  // The state that was seen last, and since when.
  Progress::State seen = {};
  uint64_t seenWaits = 0;
  Clock::time_point since;
  std::thread thread;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_NCCL_WATCHDOG_H
