//===- Watchdog.h - no rank waits for ever ----------------------*- C++ -*-===//
//
// A thread that ends the job when NCCL reports an error, or when this rank has
// waited too long for others: a call that waits for a rank that died or hangs
// never returns, on the host or on the GPU.
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

/// Not one class with Collectives/Watched: it asks the stream and NCCL, that
/// one the main thread and the machine's processes; both have but a loop in
/// common.
class Watchdog {
public:
  /// `seconds` is how long one call of a step may wait.
  Watchdog(const Nccl &nccl, const Progress &progress, int seconds);
  ~Watchdog();

  /// The ranks are those of this program's mesh, for messages.
  void observe(const Program &compiled);
  /// Errors of this communicator end the job from now on.
  void watch(ncclComm_t communicator);
  /// Errors end nothing any more.
  void forgetCommunicators();
  /// Ends what communicators do, so that nothing of them is left, as far as
  /// NCCL does that within a few seconds.
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
  std::mutex mutex; ///< of what follows
  std::condition_variable ended;
  bool ends = false;
  std::vector<ncclComm_t> communicators;
  const Program *program = nullptr;
  std::optional<Call> waitsFor; ///< none: the host does not wait
  uint64_t waits = 0;           ///< how often it has waited
  // What was seen last, and since when.
  Progress::State seen = {};
  uint64_t seenWaits = 0;
  Clock::time_point since;
  std::thread thread;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_NCCL_WATCHDOG_H
