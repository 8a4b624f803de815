//===- Doorbell.h - sleep until another rank has news -----------*- C++ -*-===//
//
// A doorbell in shared memory; zeros are the start. A rank that waits by
// yielding its core loses its turn to other programs again and again, so it
// sleeps.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_DOORBELL_H
#define DTC_LIB_RUNTIME_COLLECTIVES_DOORBELL_H

#include <atomic>
#include <cstdint>

namespace dtc::rt {

class alignas(64) Doorbell {
public:
  /// Other ranks call this to wake the owner. It then sees all that was written
  /// before.
  void ring();

  /// The owner calls this to sleep until a ring, or for a time at most, unless
  /// `hasNews` finds work. No ring in between is lost.
  template <typename HasNews>
  void sleepUnless(HasNews hasNews, int64_t microseconds) {
    uint32_t before = rings.load();
    isAsleep.store(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!hasNews())
      sleep(before, microseconds);
    isAsleep.store(0);
  }

private:
  void sleep(uint32_t before, int64_t microseconds);

  std::atomic<uint32_t> rings;
  std::atomic<uint32_t> isAsleep;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_DOORBELL_H
