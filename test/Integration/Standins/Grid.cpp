//===- Grid.cpp - device functions run by the host ------------------------===//
//
// A fibre for each thread of a block. A barrier opens when all threads have
// come, a shuffle when its warp has. Shared memory begins as NaN, so that
// nothing can rely on what is there.
//
//===----------------------------------------------------------------------===//

#include "Grid.h"

#include <boost/context/fiber.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

using namespace dtc::standin;
using boost::context::fiber;

namespace {

constexpr uint32_t warpSize = 32;

/// Stacks are kept from block to block.
class StackPool {
public:
  ~StackPool() {
    for (boost::context::stack_context &stack : free)
      allocator.deallocate(stack);
  }
  boost::context::stack_context allocate() {
    if (free.empty())
      return allocator.allocate();
    boost::context::stack_context stack = free.back();
    free.pop_back();
    return stack;
  }
  void deallocate(boost::context::stack_context &stack) {
    free.push_back(stack);
  }

private:
  boost::context::fixedsize_stack allocator{64 << 10};
  std::vector<boost::context::stack_context> free;
};

struct PooledStack {
  StackPool *pool;
  boost::context::stack_context allocate() { return pool->allocate(); }
  void deallocate(boost::context::stack_context &stack) {
    pool->deallocate(stack);
  }
};

struct Block;

struct Thread {
  dtc_emulated_thread self; ///< first: the ABI's functions get its address
  Block *block;
  fiber code, scheduler;
  enum { runs, atBarrier, atShuffle, ended } state = runs;
  uint32_t value, mask;

  void pause() { scheduler = std::move(scheduler).resume(); }
};

struct Block {
  const dtc_device_function &function;
  char *const *arguments;
  std::vector<Thread> threads;
  uint64_t order;

  void run(StackPool &stacks);
  bool release();
};

Thread &threadOf(dtc_emulated_thread *self) {
  return *reinterpret_cast<Thread *>(self);
}

void barrier(dtc_emulated_thread *self) {
  Thread &thread = threadOf(self);
  thread.state = Thread::atBarrier;
  thread.pause();
}

uint32_t shuffle(dtc_emulated_thread *self, uint32_t value, uint32_t mask) {
  Thread &thread = threadOf(self);
  thread.state = Thread::atShuffle;
  thread.value = value;
  thread.mask = mask;
  thread.pause();
  return thread.value;
}

/// Lets go on whoever has met all others; false if nobody has.
bool Block::release() {
  bool any = false;
  for (size_t first = 0; first < threads.size(); first += warpSize) {
    size_t end = std::min(first + warpSize, threads.size());
    bool meets = end - first == warpSize;
    for (size_t i = first; i < end; ++i)
      meets &= threads[i].state == Thread::atShuffle;
    if (!meets)
      continue;
    uint32_t values[warpSize];
    for (size_t i = first; i < end; ++i)
      values[i - first] =
          threads[first + ((i - first) ^ threads[i].mask)].value;
    for (size_t i = first; i < end; ++i) {
      threads[i].value = values[i - first];
      threads[i].state = Thread::runs;
    }
    any = true;
  }
  // Threads that have ended count as come.
  bool allAtBarrier = true, someAtBarrier = false;
  for (Thread &thread : threads) {
    allAtBarrier &=
        thread.state == Thread::atBarrier || thread.state == Thread::ended;
    someAtBarrier |= thread.state == Thread::atBarrier;
  }
  if (!any && allAtBarrier && someAtBarrier) {
    for (Thread &thread : threads)
      if (thread.state == Thread::atBarrier)
        thread.state = Thread::runs;
    any = true;
  }
  return any;
}

void Block::run(StackPool &stacks) {
  for (Thread &thread : threads)
    thread.code = fiber(std::allocator_arg, PooledStack{&stacks},
                        [this, &thread](fiber &&scheduler) {
                          thread.scheduler = std::move(scheduler);
                          function.emulated(&thread.self, arguments);
                          thread.state = Thread::ended;
                          return std::move(thread.scheduler);
                        });
  // From another thread on in each turn.
  size_t count = threads.size();
  while (true) {
    bool hasEnded = true;
    order = order * 6364136223846793005u + 1442695040888963407u;
    size_t start = size_t(order >> 33) % count;
    for (size_t i = 0; i < count; ++i) {
      Thread &thread = threads[(start + i) % count];
      if (thread.state == Thread::runs)
        thread.code = std::move(thread.code).resume();
      hasEnded &= thread.state == Thread::ended;
    }
    if (hasEnded)
      return;
    if (release())
      continue;
    fprintf(stderr,
            "stand-in: threads of a block of %s wait for others that never "
            "come\n",
            function.name);
    _Exit(3);
  }
}

} // namespace

GridWork dtc::standin::runGrid(const dtc_device_function &function,
                               int64_t blocks, int32_t threads,
                               char *const *arguments, uint64_t seed) {
  GridWork work;
  auto count = [&](const dtc_emulated_thread &thread) {
    work.longest = std::max(work.longest, thread.iterations);
    work.total += thread.iterations;
  };
  static thread_local StackPool stacks;
  size_t sharedBytes = std::max<size_t>(function.shared_bytes, 16);
  std::unique_ptr<char[]> memory(new char[sharedBytes + 16]);
  char *shared = reinterpret_cast<char *>(
      (reinterpret_cast<uintptr_t>(memory.get()) + 15) / 16 * 16);
  std::vector<uint32_t> numbers(static_cast<size_t>(blocks));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(seed));
  for (uint32_t number : numbers) {
    memset(shared, 0xff, sharedBytes);
    dtc_emulated_thread self{0, number, shared, barrier, shuffle, 0};
    if (!function.meets) {
      for (int32_t i = 0; i < threads; ++i) {
        self.thread = uint32_t(i);
        self.iterations = 0;
        function.emulated(&self, arguments);
        count(self);
      }
      continue;
    }
    Block block{function, arguments, std::vector<Thread>(size_t(threads)),
                seed ^ number};
    for (int32_t i = 0; i < threads; ++i) {
      Thread &thread = block.threads[size_t(i)];
      thread.self = self;
      thread.self.thread = uint32_t(i);
      thread.block = &block;
    }
    block.run(stacks);
    for (const Thread &thread : block.threads)
      count(thread.self);
  }
  return work;
}
