//===- MemoryPlanner.cpp - from lifetimes to offsets ----------------------===//
//
// Greedy by size with best fit (Pisarchyk and Lee, arXiv 2001.03288): close to
// the lower bound for neural networks, and simple.
//
//===----------------------------------------------------------------------===//

#include "dtc/Memory/MemoryPlanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>
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
};

/// Disjoint ranges of taken memory, in order.
class TakenRanges {
public:
  void add(int64_t begin, int64_t end);
  /// The start of the smallest gap that fits, the first one on a tie; the end
  /// of all ranges if no gap fits.
  int64_t findGap(int64_t bytes) const;

private:
  struct Range {
    int64_t begin, end;
  };
  llvm::SmallVector<Range, 4> ranges;
};

/// For each lifetime of unplaced items, the ranges that overlapping items have
/// taken. Many items share one lifetime, such as the activations of a
/// micro-batch, and few gaps are free. So the work grows with the number of
/// overlapping lifetimes, not with the number of items.
class Lifetimes {
public:
  explicit Lifetimes(llvm::ArrayRef<Item> items);
  /// The ranges that the next item must not touch.
  const TakenRanges &getTaken(const Item &item);
  /// Records the placement of an item.
  void take(const Item &item) { take(item, 0, all.size()); }

private:
  struct Lifetime {
    int64_t begin, end;
    int64_t latestEnd; ///< of all in the half with this in the middle
    TakenRanges taken;
    unsigned waiting; ///< items without a place
  };
  int64_t setLatestEnds(size_t first, size_t last);
  void take(const Item &item, size_t first, size_t last);

  std::vector<Lifetime> all; ///< by begin, then end; a binary search tree
};

} // namespace

void TakenRanges::add(int64_t begin, int64_t end) {
  auto *first = llvm::partition_point(
      ranges, [&](const Range &range) { return range.end < begin; });
  auto *last = first;
  for (; last != ranges.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end);
  }
  if (first == last) {
    ranges.insert(first, {begin, end});
    return;
  }
  *first = {begin, end};
  ranges.erase(first + 1, last);
}

int64_t TakenRanges::findGap(int64_t bytes) const {
  int64_t best = -1, bestGap = 0, top = 0;
  for (const Range &range : ranges) {
    int64_t gap = range.begin - top;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = top;
      bestGap = gap;
    }
    top = range.end;
  }
  return best < 0 ? top : best;
}

Lifetimes::Lifetimes(llvm::ArrayRef<Item> items) {
  std::map<std::pair<int64_t, int64_t>, unsigned> lifetimes;
  for (const Item &item : items)
    if (item.offset < 0)
      ++lifetimes[{item.begin, item.end}];
  for (auto [lifetime, count] : lifetimes)
    all.push_back(
        {lifetime.first, lifetime.second, lifetime.second, {}, count});
  setLatestEnds(0, all.size());
}

int64_t Lifetimes::setLatestEnds(size_t first, size_t last) {
  if (first == last)
    return std::numeric_limits<int64_t>::min();
  size_t middle = first + (last - first) / 2;
  return all[middle].latestEnd =
             std::max({all[middle].end, setLatestEnds(first, middle),
                       setLatestEnds(middle + 1, last)});
}

const TakenRanges &Lifetimes::getTaken(const Item &item) {
  auto found =
      llvm::lower_bound(all, item, [](const Lifetime &a, const Item &b) {
        return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
      });
  --found->waiting;
  return found->taken;
}

void Lifetimes::take(const Item &item, size_t first, size_t last) {
  if (first == last)
    return;
  size_t middle = first + (last - first) / 2;
  Lifetime &lifetime = all[middle];
  if (lifetime.latestEnd < item.begin)
    return;
  take(item, first, middle);
  if (lifetime.begin > item.end)
    return;
  if (lifetime.waiting > 0 && lifetime.end >= item.begin)
    lifetime.taken.add(item.offset, item.offset + item.bytes);
  take(item, middle + 1, last);
}

/// Gives items that overlap the same other items one lifetime. Begins with no
/// end between them become one time, and so do ends with no begin between them.
static void alignLifetimes(std::vector<Item> &items) {
  std::vector<int64_t> times;
  times.reserve(items.size());
  for (const Item &item : items)
    times.push_back(item.end);
  llvm::sort(times);
  for (Item &item : items) {
    auto next = llvm::lower_bound(times, item.begin);
    item.begin = next == times.begin() ? 0 : *std::prev(next) + 1;
  }
  times.clear();
  for (const Item &item : items)
    times.push_back(item.begin);
  llvm::sort(times);
  for (Item &item : items) {
    auto next = llvm::upper_bound(times, item.end);
    item.end = next == times.end() ? times.back() : *next - 1;
  }
}

int64_t dtc::planMemory(llvm::MutableArrayRef<MemoryBuffer> buffers,
                        llvm::ArrayRef<AdjacentBuffers> groups) {
  std::vector<Item> items;
  std::vector<bool> grouped(buffers.size(), false);
  for (const AdjacentBuffers &group : groups) {
    items.emplace_back();
    for (unsigned index : group) {
      assert(buffers[index].offset < 0 && "has a place, in a group");
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
  alignLifetimes(items);
  llvm::sort(items, [](const Item &a, const Item &b) {
    bool isMovableA = a.offset < 0, isMovableB = b.offset < 0;
    return std::tie(isMovableA, b.bytes, a.begin, a.buffers) <
           std::tie(isMovableB, a.bytes, b.begin, b.buffers);
  });

  int64_t total = 0;
  Lifetimes lifetimes(items);
  for (Item &item : items) {
    if (item.offset < 0)
      item.offset = lifetimes.getTaken(item).findGap(item.bytes);
    if (item.bytes > 0)
      lifetimes.take(item);
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
