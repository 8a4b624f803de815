//===- Arena.h - the memory of one rank -------------------------*- C++ -*-===//
//
// One mapping, on huge pages where the system has them, touched before the
// first step: a page fault costs 40 times the use of the page.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_ARENA_H
#define DTC_LIB_RUNTIME_ARENA_H

#include <cstdint>

namespace dtc::rt {

class Arena {
public:
  /// Zeroed memory; throws when the system has not that much.
  explicit Arena(int64_t wanted);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  char *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  char *base;
  int64_t bytes; ///< whole pages
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_ARENA_H
