//===- HostArena.cpp - an arena in host memory ----------------------------===//

#include "HostDevice.h"
#include "System/Mapping.h"

using namespace dtc::rt;

namespace {

/// Nothing is copied: host memory is the device's.
class HostArena : public Arena {
public:
  HostArena(int64_t bytes, Sharing sharing) : memory(bytes, sharing) {}

  char *address() const override { return memory.data(); }
  const Mapping *mapping() const override { return &memory; }

private:
  char *beginWrite(int64_t offset, int64_t) override {
    return memory.data() + offset;
  }
  void endWrite(int64_t, int64_t) override {}
  const char *fetch(int64_t offset, int64_t) const override {
    return memory.data() + offset;
  }

  Mapping memory;
};

} // namespace

std::unique_ptr<Arena> dtc::rt::makeHostArena(int64_t bytes, Sharing sharing) {
  return std::make_unique<HostArena>(bytes, sharing);
}
