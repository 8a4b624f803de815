//===- Arena.h - the memory of a rank's plans -------------------*- C++ -*-===//
//
// Each device has an implementation. The host accesses data, parameters and
// losses by `write` and `read`. If the host cannot reach the device's memory,
// they copy.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_ARENA_H
#define DTC_LIB_RUNTIME_DEVICE_ARENA_H

#include "System/Mapping.h"
#include "dtc/Runtime/ABI.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace dtc::rt {

/// A buffer in which the host prepares the next contents of ranges of an arena,
/// while the device still computes with the present contents.
class Inlet {
public:
  virtual ~Inlet() = default;

  /// Returns host memory for the bytes of all ranges, one after the other.
  /// Waits until the device has read its former contents.
  virtual char *begin() = 0;
  /// Starts to copy the bytes to the device.
  virtual void send() = 0;
  /// Writes the bytes to the arena before all work that the device gets from
  /// now on.
  virtual void deliver() = 0;
};

/// Offsets and sizes are in bytes. Offsets from DTC_HOST_MEMORY on are in the
/// host memory that a GPU's arena may have beside its own.
class Arena {
public:
  virtual ~Arena() = default;

  /// The first byte, for compiled plans and for collectives. Only code on the
  /// device may access it.
  virtual char *address() const = 0;
  /// The first byte of its host memory; null if it has none.
  virtual char *hostAddress() const { return nullptr; }
  /// Whether a byte is there.
  virtual bool isOnHost(const void *) const { return false; }
  int64_t offsetOf(const void *byte) const {
    const auto *place = static_cast<const char *>(byte);
    return isOnHost(byte) ? DTC_HOST_MEMORY + (place - hostAddress())
                          : place - address();
  }
  /// The host memory of the arena; null if it is device memory.
  virtual const Mapping *mapping() const { return nullptr; }

  /// Calls `fill` with host memory, all of which it must write, and copies that
  /// to the arena.
  template <typename Fill>
  void write(int64_t offset, int64_t bytes, Fill fill) {
    fill(beginWrite(offset, bytes));
    endWrite(offset, bytes);
  }
  /// Calls `use` with the bytes of the arena, in host memory.
  template <typename Use>
  void read(int64_t offset, int64_t bytes, Use use) const {
    use(fetch(offset, bytes));
  }

  struct Range {
    int64_t offset, bytes;
  };
  /// Null if the host can write to the device's memory directly.
  virtual std::unique_ptr<Inlet> makeInlet(const std::vector<Range> &) {
    return nullptr;
  }

  template <typename T> void store(int64_t offset, T value) {
    write(offset, sizeof value,
          [&](char *host) { memcpy(host, &value, sizeof value); });
  }
  template <typename T> T load(int64_t offset) const {
    T value;
    read(offset, sizeof value,
         [&](const char *host) { memcpy(&value, host, sizeof value); });
    return value;
  }

private:
  virtual char *beginWrite(int64_t offset, int64_t bytes) = 0;
  virtual void endWrite(int64_t offset, int64_t bytes) = 0;
  /// Valid until the next call of any of these.
  virtual const char *fetch(int64_t offset, int64_t bytes) const = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_ARENA_H
