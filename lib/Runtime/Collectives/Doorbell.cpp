//===- Doorbell.cpp - sleep until another rank has news -------------------===//

#include "Doorbell.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace dtc::rt;

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "the kernel reads it");

void Doorbell::ring() {
  // Either the owner sees the change before it sleeps, or this sees it asleep.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!isAsleep.load())
    return;
  ++rings;
  syscall(SYS_futex, &rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Doorbell::sleep(uint32_t before, int64_t microseconds) {
  timespec time{microseconds / 1000000, microseconds % 1000000 * 1000};
  syscall(SYS_futex, &rings, FUTEX_WAIT, before, &time, nullptr, 0);
}
