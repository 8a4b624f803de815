//===- Permutation.h - moves of shards between ranks ------------*- C++ -*-===//
//
// Finds the ranks of a group that hold the shards that others need under
// another layout. Members of a group are numbered row-major over its axes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_PERMUTATION_H
#define DTC_DIALECT_PERMUTATION_H

#include "dtc/Dialect/Layout.h"

namespace dtc {

/// Whether the numbers are a permutation of 0 to `size` - 1.
bool isPermutation(llvm::ArrayRef<int64_t> numbers, int64_t size);

/// Whether member `sources[i]` of the group holds, under layout `from`, the
/// shard that member i needs under `to`, for all coordinates on the other axes.
/// The tensor has `rank` dimensions.
bool getsOwnShards(LayoutAttr from, LayoutAttr to,
                   llvm::ArrayRef<llvm::StringRef> axes, int64_t rank,
                   llvm::ArrayRef<int64_t> sources);

/// Finds a permutation of the group for which getsOwnShards holds. A member
/// that has its shard already keeps it. Empty if there is none.
llvm::SmallVector<int64_t> findSources(LayoutAttr from, LayoutAttr to,
                                       llvm::ArrayRef<llvm::StringRef> axes,
                                       int64_t rank);

} // namespace dtc

#endif // DTC_DIALECT_PERMUTATION_H
