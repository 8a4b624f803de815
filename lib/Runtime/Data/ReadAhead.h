//===- ReadAhead.h - a thread that prepares the next steps ------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_READAHEAD_H
#define DTC_LIB_RUNTIME_DATA_READAHEAD_H

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dtc::rt {

/// Fills a ring of buffers with consecutive steps while the caller computes.
/// The constructor allocates the ring.
class ReadAhead {
public:
  /// The thread calls `fill(step, buffer)` for consecutive steps before `end`.
  /// `wait` throws an exception of `fill`.
  ReadAhead(int depth, int64_t bytes, int64_t end,
            std::function<void(int64_t step, char *buffer)> fill);
  /// Waits until the step that is being filled is done.
  ~ReadAhead();

  /// Waits for the bytes of a step, which are valid until `release`. A step
  /// other than the next restarts the reading there.
  const char *wait(int64_t step);
  /// The bytes of the last step are not needed any more.
  void release();

private:
  void run();
  char *buffer(int64_t step) { return memory.data() + step % depth * bytes; }

  int64_t depth, bytes, end;
  std::function<void(int64_t step, char *buffer)> fill;
  std::vector<char> memory;

  std::mutex mutex; ///< of all below
  std::condition_variable changed;
  int64_t next = -1;      ///< the step to be used next; -1: none was asked for
  int64_t filled = -1;    ///< next .. filled - 1 are in the ring
  int64_t beginnings = 0; ///< times that `next` was set anew
  bool stops = false;
  std::exception_ptr error; ///< of step `filled`
  std::thread thread;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_READAHEAD_H
