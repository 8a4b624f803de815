//===- MemoryPlanner.cpp - from lifetimes to offsets ----------------------===//
//
// Greedy by size with best fit (Pisarchyk and Lee, arXiv 2001.03288): near
// the lower bound for neural networks, and simple.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/MemoryPlanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <tuple>

using namespace dtc;

namespace {

/// Buffers that are placed as one.
struct Item {
  AdjacentBuffers buffers;
  int64_t bytes = 0;
  int64_t begin = 0, end = 0;
  int64_t offset = -1;

  void add(unsigned index, const MemoryBuffer &buffer) {
    begin = buffers.empty() ? buffer.begin : std::min(begin, buffer.begin);
    end = buffers.empty() ? buffer.end : std::max(end, buffer.end);
    buffers.push_back(index);
    bytes += alignMemory(buffer.bytes);
  }
  bool livesWith(const Item &other) const {
    return begin <= other.end && other.begin <= end;
  }
};

} // namespace

/// The start of the smallest gap that fits between `placed`, which is sorted
/// by offset, looking only at those that live with the item.
static int64_t findOffset(const Item &item,
                          llvm::ArrayRef<const Item *> placed) {
  int64_t best = -1, bestGap = 0, top = 0;
  for (const Item *other : placed) {
    if (!other->livesWith(item))
      continue;
    int64_t gap = other->offset - top;
    if (gap >= item.bytes && (best < 0 || gap < bestGap)) {
      best = top;
      bestGap = gap;
    }
    top = std::max(top, other->offset + other->bytes);
  }
  return best < 0 ? top : best;
}

int64_t dtc::planMemory(llvm::MutableArrayRef<MemoryBuffer> buffers,
                        llvm::ArrayRef<AdjacentBuffers> groups) {
  std::vector<Item> items;
  std::vector<bool> grouped(buffers.size(), false);
  for (const AdjacentBuffers &group : groups) {
    items.emplace_back();
    for (unsigned index : group) {
      items.back().add(index, buffers[index]);
      grouped[index] = true;
    }
  }
  for (unsigned i = 0; i < buffers.size(); ++i)
    if (!grouped[i]) {
      items.emplace_back();
      items.back().add(i, buffers[i]);
      items.back().offset = buffers[i].offset;
    }
  llvm::sort(items, [](const Item &a, const Item &b) {
    bool isMovableA = a.offset < 0, isMovableB = b.offset < 0;
    return std::tie(isMovableA, b.bytes, a.begin, a.buffers) <
           std::tie(isMovableB, a.bytes, b.begin, b.buffers);
  });

  int64_t total = 0;
  llvm::SmallVector<const Item *> placed;
  for (Item &item : items) {
    if (item.offset < 0)
      item.offset = findOffset(item, placed);
    auto position = llvm::upper_bound(placed, item.offset,
                                      [](int64_t offset, const Item *other) {
                                        return offset < other->offset;
                                      });
    placed.insert(position, &item);
    total = std::max(total, item.offset + item.bytes);
    int64_t offset = item.offset;
    for (unsigned index : item.buffers) {
      buffers[index].offset = offset;
      offset += alignMemory(buffers[index].bytes);
    }
  }
  return total;
}

int64_t dtc::getPeakBytes(llvm::ArrayRef<MemoryBuffer> buffers) {
  std::map<int64_t, int64_t> changes;
  for (const MemoryBuffer &buffer : buffers) {
    changes[buffer.begin] += alignMemory(buffer.bytes);
    changes[buffer.end + 1] -= alignMemory(buffer.bytes);
  }
  int64_t now = 0, peak = 0;
  for (auto [time, change] : changes) {
    now += change;
    peak = std::max(peak, now);
  }
  return peak;
}
