//===- Mapping.h - pages of host memory -------------------------*- C++ -*-===//
//
// Host memory in one mapping, on huge pages where the system has them. It is
// touched before the first step: a page fault costs 40 times the use of the
// page.
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
  /// Maps zeroed memory. Throws an Error if the system does not have that much.
  explicit Mapping(int64_t wanted, Sharing sharing = Sharing::none);
  ~Mapping();
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  char *data() const { return base; }
  int64_t size() const { return bytes; }
  /// The mapped file; -1 if other processes cannot map it.
  int file() const { return descriptor; }

private:
  /// Makes pages of this size resident.
  void touch(int64_t pageBytes);

  char *base;
  int64_t bytes; ///< whole pages
  int descriptor = -1;
};

/// Maps whole pages of the file, or zeroed memory if `file` is -1. A large
/// mapping begins at the address of a huge page. Returns MAP_FAILED and sets
/// errno on failure.
void *mapAligned(int64_t bytes, int file);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_MAPPING_H
