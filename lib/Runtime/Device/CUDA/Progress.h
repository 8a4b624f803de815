//===- Progress.h - the communication that a stream is at -------*- C++ -*-===//
//
// The stream says so itself: it writes a number to the host's memory before and
// after each call of communication. That also works when the calls are part of
// a graph and the host no longer makes them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_PROGRESS_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_PROGRESS_H

#include "Driver.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dtc::rt {

class PinnedMemory;

class Progress {
public:
  Progress();
  ~Progress();

  /// The host begins to run a plan.
  void beginRun() { ++runs; }
  /// The host makes the calls of a plan, which are the same each time.
  void beginCalls(const void *plan);
  /// Puts a call on the stream: what `work` puts there. `describe` returns the
  /// words for it and is called the first time that the plan makes the call.
  template <typename Work, typename Describe>
  void call(CUstream stream, const Work &work, const Describe &describe) {
    if (next == numCalls)
      add(describe());
    uint32_t number = next++;
    write(stream, 2 * number + 1);
    work();
    write(stream, 2 * number + 2);
  }

  /// Two that are equal are of one call, of one run of a plan. Any thread may
  /// look.
  struct State {
    uint64_t run;
    uint32_t word;
    /// Whether a call has begun and is not done.
    bool isInCall() const { return word % 2 == 1; }
    bool operator==(const State &) const = default;
  };
  State get() const;
  /// The words for the call that it is in.
  std::string describe(const State &state) const;

private:
  void add(std::string words);
  void write(CUstream stream, uint32_t value) const;

  std::unique_ptr<PinnedMemory> word;
  std::atomic<uint64_t> runs = 0;
  std::map<const void *, uint32_t> firstCalls; ///< by plan
  uint32_t next = 0, numCalls = 0;
  mutable std::mutex mutex; ///< of `calls`
  std::vector<std::string> calls;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_PROGRESS_H
