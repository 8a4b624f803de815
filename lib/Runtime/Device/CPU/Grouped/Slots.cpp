//===- Slots.cpp - rows in slots of experts -------------------------------===//

#include "Slots.h"

#include "Core/Elements.h"
#include "Indices.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace dtc::rt;

namespace {

/// The slots of rows: those of an expert and group are side by side.
class Slots {
public:
  Slots(const SlotShape &s, const void *indices)
      : s(s), filled(s.experts * s.groups), slotOf(s.groups * s.rows, none) {
    for (int64_t row = 0; row < s.groups * s.rows; ++row) {
      int64_t index = indexOf(s.indexType, indices, row, s.experts);
      if (index == s.experts)
        continue;
      int64_t block = index * s.groups + row / s.rows;
      if (filled[block] < s.capacity)
        slotOf[row] = block * s.capacity + filled[block]++;
    }
  }

  /// Calls body(row, slot), where the slot may be `none`, over the threads.
  template <typename Body>
  void eachRow(const Threads &threads, const Body &body) const {
    int64_t count = s.groups * s.rows;
    threads.divide(count, count * s.width, [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row)
        body(row, slotOf[row]);
    });
  }

  static constexpr int64_t none = -1;

  const SlotShape &s;
  std::vector<int64_t> filled; ///< slots, by expert and group
  std::vector<int64_t> slotOf;
};

} // namespace

void dtc::rt::dispatchRows(const Threads &threads, const SlotShape &s,
                           const void *rows, const void *indices, void *slots) {
  Slots places(s, indices);
  int64_t bytes = s.width * sizeOf(s.dtype);
  auto *from = static_cast<const char *>(rows);
  auto *to = static_cast<char *>(slots);
  int64_t blocks = s.experts * s.groups;
  threads.divide(blocks, blocks * s.capacity * s.width,
                 [&](int64_t block, int64_t end) {
                   for (; block < end; ++block) {
                     int64_t filled = places.filled[block];
                     memset(to + (block * s.capacity + filled) * bytes, 0,
                            size_t((s.capacity - filled) * bytes));
                   }
                 });
  places.eachRow(threads, [&](int64_t row, int64_t slot) {
    if (slot != Slots::none)
      memcpy(to + slot * bytes, from + row * bytes, size_t(bytes));
  });
}

void dtc::rt::combineRows(const Threads &threads, const SlotShape &s,
                          const void *slots, const void *indices, void *rows) {
  int64_t bytes = s.width * sizeOf(s.dtype);
  auto *from = static_cast<const char *>(slots);
  auto *to = static_cast<char *>(rows);
  Slots(s, indices).eachRow(threads, [&](int64_t row, int64_t slot) {
    if (slot == Slots::none)
      memset(to + row * bytes, 0, size_t(bytes));
    else
      memcpy(to + row * bytes, from + slot * bytes, size_t(bytes));
  });
}

void dtc::rt::countRows(const SlotShape &s, const void *indices,
                        int32_t *counts) {
  Slots places(s, indices);
  std::copy(places.filled.begin(), places.filled.end(), counts);
}
