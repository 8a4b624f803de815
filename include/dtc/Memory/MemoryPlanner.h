//===- MemoryPlanner.h - from lifetimes to offsets --------------*- C++ -*-===//
//
// Places buffers with known lifetimes in one range of memory. Uses no IR.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MEMORY_MEMORYPLANNER_H
#define DTC_MEMORY_MEMORYPLANNER_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace dtc {

/// Alignment of every buffer in bytes: a cache line, and a vector register.
constexpr int64_t memoryAlignment = 64;

/// The aligned size of a buffer in bytes.
inline int64_t alignMemory(int64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

/// A buffer that is live from time `begin` to time `end`, both included.
struct MemoryBuffer {
  int64_t bytes;
  int64_t begin, end;
  int64_t offset = -1; ///< the result; a given offset is kept
};

/// Indices of buffers that must be adjacent, in this order.
using AdjacentBuffers = std::vector<unsigned>;

/// Sets all offsets so that buffers that are live at the same time do not
/// overlap. Buffers with a given offset come first, then the largest; each
/// takes the tightest gap that fits. A buffer belongs to at most one group, and
/// to none if its offset is given. Returns the bytes needed. Algorithm:
/// Pisarchyk and Lee, arXiv 2001.03288.
int64_t planMemory(llvm::MutableArrayRef<MemoryBuffer> buffers,
                   llvm::ArrayRef<AdjacentBuffers> groups = {});

/// The maximum of the bytes live at one time, a lower bound for every plan.
int64_t getPeakBytes(llvm::ArrayRef<MemoryBuffer> buffers);

} // namespace dtc

#endif // DTC_MEMORY_MEMORYPLANNER_H
