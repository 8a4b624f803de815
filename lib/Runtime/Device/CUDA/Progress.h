//===- Progress.h - the communication that a stream is at -------*- C++ -*-===//
//
// The stream reports its progress: it writes a number to host memory before and
// after each communication call. That also works for calls in a graph.
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
  /// Puts a call on the stream by `work`. `describe` returns a description of
  /// the call, and is called when the plan makes it for the first time.
  template <typename Work, typename Describe>
  void call(CUstream stream, const Work &work, const Describe &describe) {
    if (next == numCalls)
      add(describe());
    uint32_t number = next++;
    write(stream, 2 * number + 1);
    work();
    write(stream, 2 * number + 2);
  }

  /// The state of the stream. Equal states belong to one call of one run of a
  /// plan. Any thread may read it.
  struct State {
    uint64_t run;
    uint32_t word;
    /// Whether a call has begun and is not done.
    bool isInCall() const { return word % 2 == 1; }
    bool operator==(const State &) const = default;
  };
  State get() const;
  /// The description of the current call.
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
