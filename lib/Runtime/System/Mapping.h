//===- Mapping.h - pages of host memory -------------------------*- C++ -*-===//
//
// One mapping, on huge pages where the system has them, touched before the
// first step: a page fault costs 40 times the use of the page.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_MAPPING_H
#define DTC_LIB_RUNTIME_SYSTEM_MAPPING_H

#include <cstdint>

namespace dtc::rt {

enum class Sharing {
  none,
  machine ///< other ranks of the machine can map it, where the system allows
};

class Mapping {
public:
  /// Zeroed memory; throws when the system has not that much.
  explicit Mapping(int64_t wanted, Sharing sharing = Sharing::none);
  ~Mapping();
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  char *data() const { return base; }
  int64_t size() const { return bytes; }
  /// The file that it is a mapping of; -1 if nobody can share it.
  int file() const { return descriptor; }

private:
  /// Makes pages of this size resident.
  void touch(int64_t pageBytes);

  char *base;
  int64_t bytes; ///< whole pages
  int descriptor = -1;
};

/// Maps whole pages, on an address that huge pages can have if there are so
/// many: of the file, or zeroed memory if it is -1. MAP_FAILED and errno on
/// failure.
void *mapAligned(int64_t bytes, int file);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_MAPPING_H
