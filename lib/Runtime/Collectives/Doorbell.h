//===- Doorbell.h - sleep until another rank has news -----------*- C++ -*-===//
//
// In shared memory; zeros are the start. A rank that only yields its core while
// it waits loses its turn to all other programs, again and again.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_DOORBELL_H
#define DTC_LIB_RUNTIME_COLLECTIVES_DOORBELL_H

#include <atomic>
#include <cstdint>

namespace dtc::rt {

class alignas(64) Doorbell {
public:
  /// For others: wakes the owner if it sleeps. It sees what was written before.
  void ring();

  /// For the owner: sleeps until a ring, for a time at most, unless `hasNews`
  /// finds something to do. No ring between the two is lost.
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
