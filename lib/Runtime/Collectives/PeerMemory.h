//===- PeerMemory.h - memory of other ranks of this machine -----*- C++ -*-===//
//
// A shared arena is a file without a name. Other processes of the same user
// open it through /proc, so nothing has to be cleaned up, and the limit of
// /dev/shm does not apply.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_PEERMEMORY_H
#define DTC_LIB_RUNTIME_COLLECTIVES_PEERMEMORY_H

#include "System/Mapping.h"

namespace dtc::rt {

/// Names a mapping to other processes; plain bytes, to be sent.
struct MappingHandle {
  int64_t process = 0, file = -1;
  uint64_t device = 0, inode = 0; ///< that `file` must be of
  int64_t size = 0;
};

/// The handle of a mapping that is not shared cannot be mapped.
MappingHandle handleOf(const Mapping &mapping);

class PeerMemory {
public:
  /// Maps the memory of another process. On failure `data` is null, and `error`
  /// is the errno.
  explicit PeerMemory(const MappingHandle &handle);
  ~PeerMemory();
  PeerMemory(PeerMemory &&other) noexcept;
  PeerMemory(const PeerMemory &) = delete;

  char *data() const { return base; }
  int error() const { return failure; }

private:
  char *base = nullptr;
  int64_t size = 0;
  int failure = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_PEERMEMORY_H
