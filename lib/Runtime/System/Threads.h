//===- Threads.h - the threads of a rank ------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_THREADS_H
#define DTC_LIB_RUNTIME_SYSTEM_THREADS_H

#include <algorithm>
#include <cstdint>

namespace dtc::rt {

/// The threads that library calls divide their work over. Results must not
/// depend on their number.
class Threads {
public:
  explicit Threads(int limit);

  /// The number of threads that are worth their start for so many
  /// multiplications or moved elements.
  int worthwhile(int64_t work) const;
  int most() const { return limit; }

  /// Calls body(thread) for thread = 0 to count - 1, at the same time, and
  /// returns when all are done.
  template <typename Body> static void run(int count, const Body &body) {
    if (count == 1)
      return body(0);
    start(
        count,
        [](const void *data, int thread) {
          (*static_cast<const Body *>(data))(thread);
        },
        &body);
  }

  /// Gives each thread a range of `items`: body(first, end).
  template <typename Body>
  void divide(int64_t items, int64_t work, const Body &body) const {
    int64_t count = std::clamp<int64_t>(items, 1, worthwhile(work));
    run(int(count), [&](int thread) {
      body(items * thread / count, items * (thread + 1) / count);
    });
  }

private:
  static void start(int count, void (*body)(const void *data, int thread),
                    const void *data);

  int limit;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_THREADS_H
