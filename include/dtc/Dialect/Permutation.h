//===- Permutation.h - shards that move between ranks -----------*- C++ -*-===//
//
// Which ranks of a group hold the shards that others need under another layout.
// Members of a group are numbered row-major over its axes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_PERMUTATION_H
#define DTC_DIALECT_PERMUTATION_H

#include "dtc/Dialect/Layout.h"

namespace dtc {

/// Whether the numbers are 0 to `size` - 1, each once.
bool isPermutation(llvm::ArrayRef<int64_t> numbers, int64_t size);

/// Whether under `to` each member i of the group has the shard that member
/// `sources[i]` has under `from`, wherever the ranks are on other axes. The
/// tensor has `rank` dimensions.
bool getsOwnShards(LayoutAttr from, LayoutAttr to,
                   llvm::ArrayRef<llvm::StringRef> axes, int64_t rank,
                   llvm::ArrayRef<int64_t> sources);

/// A permutation of the group for which that holds, and by which a member that
/// has its shard keeps it; empty if there is none.
llvm::SmallVector<int64_t> findSources(LayoutAttr from, LayoutAttr to,
                                       llvm::ArrayRef<llvm::StringRef> axes,
                                       int64_t rank);

} // namespace dtc

#endif // DTC_DIALECT_PERMUTATION_H
