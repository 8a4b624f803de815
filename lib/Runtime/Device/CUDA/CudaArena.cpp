//===- CudaArena.cpp - memory of a GPU, as the host sees it ---------------===//

#include "CudaDevice.h"
#include "Device/Device.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace dtc::rt;

namespace {

/// The prepared bytes are in device memory beside the arena, because a plan may
/// reuse the memory of its inputs after it has read them.
class CudaInlet : public Inlet {
public:
  CudaInlet(CudaDevice &device, CUdeviceptr arena,
            std::vector<Arena::Range> ranges)
      : device(device), arena(arena), ranges(std::move(ranges)),
        pinned(countBytes(this->ranges)), memory(pinned.size()) {}
  ~CudaInlet() override {
    sent.synchronize();
    delivered.synchronize();
  }

  char *begin() override {
    sent.synchronize();
    return pinned.data();
  }
  void send() override {
    delivered.makeWait(device.input());
    DTC_CUDA(cuMemcpyHtoDAsync(memory.address(), pinned.data(),
                               size_t(pinned.size()), device.input()));
    sent.record(device.input());
  }
  void deliver() override {
    sent.makeWait(device.compute());
    CUdeviceptr from = memory.address();
    for (const Arena::Range &range : ranges) {
      DTC_CUDA(cuMemcpyDtoDAsync(arena + size_t(range.offset), from,
                                 size_t(range.bytes), device.compute()));
      from += size_t(range.bytes);
    }
    delivered.record(device.compute());
  }

private:
  static int64_t countBytes(const std::vector<Arena::Range> &ranges) {
    int64_t bytes = 0;
    for (const Arena::Range &range : ranges)
      bytes += range.bytes;
    return bytes;
  }

  CudaDevice &device;
  CUdeviceptr arena;
  std::vector<Arena::Range> ranges;
  PinnedMemory pinned;
  DeviceMemory memory;
  CudaEvent sent;      ///< the pinned memory is free, the device's is full
  CudaEvent delivered; ///< the device's is free
};

/// Reads and writes use pinned memory, in buffers that grow as needed. Those of
/// host memory of the arena access it directly, after the device.
class CudaArena : public Arena {
public:
  CudaArena(CudaDevice &device, int64_t bytes, int64_t hostBytes)
      : device(device), memory(bytes) {
    if (hostBytes == 0)
      return;
    host.emplace(hostBytes);
    memset(host->data(), 0, size_t(hostBytes));
  }
  ~CudaArena() override {
    device.synchronize();
    device.forget(address());
  }

  char *address() const override {
    return reinterpret_cast<char *>(memory.address());
  }
  char *hostAddress() const override { return host ? host->data() : nullptr; }
  bool isOnHost(const void *byte) const override {
    const auto *place = static_cast<const char *>(byte);
    return host && place >= host->data() && place < host->data() + host->size();
  }
  std::unique_ptr<Inlet> makeInlet(const std::vector<Range> &ranges) override {
    return std::make_unique<CudaInlet>(device, memory.address(), ranges);
  }

private:
  static constexpr int64_t smallestPiece = 64 << 10;

  static void grow(std::unique_ptr<PinnedMemory> &piece, int64_t bytes) {
    if (!piece || piece->size() < bytes)
      piece = std::make_unique<PinnedMemory>(std::max(bytes, smallestPiece));
  }
  /// Writes fill the buffer one after the other. When it is full, all of them
  /// must have reached the device.
  char *beginWrite(int64_t offset, int64_t bytes) override {
    if (offset >= DTC_HOST_MEMORY) {
      device.synchronize();
      return host->data() + (offset - DTC_HOST_MEMORY);
    }
    if (!written || used + bytes > written->size()) {
      device.synchronize();
      grow(written, bytes);
      used = 0;
    }
    return written->data() + used;
  }
  void endWrite(int64_t offset, int64_t bytes) override {
    if (offset >= DTC_HOST_MEMORY)
      return;
    DTC_CUDA(cuMemcpyHtoDAsync(memory.address() + size_t(offset),
                               written->data() + used, size_t(bytes),
                               device.compute()));
    used += bytes;
  }
  const char *fetch(int64_t offset, int64_t bytes) const override {
    if (offset >= DTC_HOST_MEMORY) {
      device.synchronize();
      return host->data() + (offset - DTC_HOST_MEMORY);
    }
    grow(fetched, bytes);
    DTC_CUDA(cuMemcpyDtoHAsync(fetched->data(),
                               memory.address() + size_t(offset), size_t(bytes),
                               device.compute()));
    device.synchronize();
    return fetched->data();
  }

  CudaDevice &device;
  DeviceMemory memory;
  std::optional<PinnedMemory> host;
  std::unique_ptr<PinnedMemory> written;
  int64_t used = 0; ///< bytes of it
  mutable std::unique_ptr<PinnedMemory> fetched;
};

} // namespace

std::unique_ptr<Arena> CudaDevice::makeArena(int64_t bytes, int64_t hostBytes,
                                             Sharing) {
  return std::make_unique<CudaArena>(*this, bytes, hostBytes);
}
