//===- StagedArena.h - an arena outside of host memory ----------*- C++ -*-===//
//
// Behaves like a GPU's: the host reads and writes copies, which are overwritten
// after use.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_RUNTIME_STAGEDARENA_H
#define DTC_UNITTESTS_RUNTIME_STAGEDARENA_H

#include "Device/Arena.h"

#include <vector>

namespace dtc::rt {

class StagedArena : public Arena {
public:
  explicit StagedArena(int64_t bytes)
      : memory(static_cast<size_t>(bytes + 7) / 8) {}

  char *address() const override {
    return reinterpret_cast<char *>(memory.data());
  }

private:
  char *beginWrite(int64_t, int64_t bytes) override {
    staged.assign(static_cast<size_t>(bytes), '\xff');
    return staged.data();
  }
  void endWrite(int64_t offset, int64_t bytes) override {
    memcpy(address() + offset, staged.data(), static_cast<size_t>(bytes));
    staged.assign(staged.size(), '\xff');
  }
  const char *fetch(int64_t offset, int64_t bytes) const override {
    staged.assign(address() + offset, address() + offset + bytes);
    return staged.data();
  }

  mutable std::vector<uint64_t> memory;
  mutable std::vector<char> staged;
};

} // namespace dtc::rt

#endif // DTC_UNITTESTS_RUNTIME_STAGEDARENA_H
