//===- MemoryPlanner.h - from lifetimes to offsets --------------*- C++ -*-===//
//
// Places buffers with known lifetimes in one range of memory. No IR.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MEMORY_MEMORYPLANNER_H
#define DTC_MEMORY_MEMORYPLANNER_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace dtc {

/// Every buffer begins at a multiple of this: a cache line, and a vector.
constexpr int64_t memoryAlignment = 64;

/// The size that a buffer takes.
inline int64_t alignMemory(int64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

/// A buffer that is live from time `begin` to time `end`, both included.
struct MemoryBuffer {
  int64_t bytes;
  int64_t begin, end;
  int64_t offset = -1; ///< the answer; if it is given, the buffer stays there
};

/// Indices of buffers that must lie one after the other, in this order.
using AdjacentBuffers = std::vector<unsigned>;

/// Sets all offsets, so that buffers that live at one time do not overlap.
/// Those with an offset first, then the largest, each in the tightest gap that
/// fits. A buffer may be in one group only, and in none if it has an offset.
/// Returns the bytes needed.
int64_t planMemory(llvm::MutableArrayRef<MemoryBuffer> buffers,
                   llvm::ArrayRef<AdjacentBuffers> groups = {});

/// The most bytes that live at one time: no plan needs less.
int64_t getPeakBytes(llvm::ArrayRef<MemoryBuffer> buffers);

} // namespace dtc

#endif // DTC_MEMORY_MEMORYPLANNER_H
