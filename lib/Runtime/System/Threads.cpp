//===- Threads.cpp - the threads of a rank --------------------------------===//

#include "Threads.h"

using namespace dtc::rt;

// GNU's OpenMP is the one thread pool of the process; clang's -fopenmp would
// bring in another.
extern "C" {
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads,
                   unsigned flags);
int omp_get_thread_num();
void omp_set_num_threads(int);
void omp_set_dynamic(int);
}

// GOMP synchronizes by futexes, which ThreadSanitizer does not see. start()
// happens before each body, and each body before the return.
#if __has_feature(thread_sanitizer)
extern "C" {
void __tsan_acquire(void *);
void __tsan_release(void *);
}
#else
static void __tsan_acquire(void *) {}
static void __tsan_release(void *) {}
#endif

/// Below this a second thread costs more than it gives.
static constexpr int64_t workPerThread = 1 << 18;

Threads::Threads(int limit) : limit(limit) {
  omp_set_dynamic(0);
  omp_set_num_threads(limit);
}

int Threads::worthwhile(int64_t work) const {
  return int(std::clamp<int64_t>(work / workPerThread, 1, limit));
}

void Threads::start(int count, void (*body)(const void *data, int thread),
                    const void *data) {
  struct Call {
    void (*body)(const void *data, int thread);
    const void *data;
    char begun, done; ///< addresses for ThreadSanitizer
  } call{body, data, 0, 0};
  __tsan_release(&call.begun);
  GOMP_parallel(
      [](void *opaque) {
        auto *call = static_cast<Call *>(opaque);
        __tsan_acquire(&call->begun);
        call->body(call->data, omp_get_thread_num());
        __tsan_release(&call->done);
      },
      &call, count, 0);
  __tsan_acquire(&call.done);
}
