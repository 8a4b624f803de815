//===- ReservedSpace.h - room for a file that is written later --*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_RESERVEDSPACE_H
#define DTC_LIB_RUNTIME_SYSTEM_RESERVEDSPACE_H

#include <cstdint>
#include <string>
#include <utility>

namespace dtc::rt {

/// Space of a file system that no other program can use while this object
/// lives. It is a file without a name, so nothing is left behind.
class ReservedSpace {
public:
  /// Reserves space for a file at `path`. Throws an Error if there is not so
  /// much space, or files may not be so large. File systems that cannot reserve
  /// space are only asked for their free space.
  ReservedSpace(const std::string &path, int64_t bytes);
  ~ReservedSpace();
  ReservedSpace(ReservedSpace &&other) noexcept
      : file(std::exchange(other.file, -1)) {}
  ReservedSpace &operator=(ReservedSpace &&) = delete;

private:
  int file;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_RESERVEDSPACE_H
