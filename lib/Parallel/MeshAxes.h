//===- MeshAxes.h - names of the axes of a mesh -----------------*- C++ -*-===//
//
// What AssignMesh makes a mesh of. Passes ask layouts; these names are for the
// few that choose layouts.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_PARALLEL_MESHAXES_H
#define DTC_LIB_PARALLEL_MESHAXES_H

#include "llvm/ADT/StringRef.h"

namespace dtc {

/// Ranks that share the batch. With --hsdp these are two axes: ranks of `shard`
/// share it and also split what ZeRO splits, ranks of `dp` repeat that.
constexpr llvm::StringLiteral dataAxis = "dp", shardAxis = "shard";
/// Ranks that share each product.
constexpr llvm::StringLiteral tensorAxis = "tp";

} // namespace dtc

#endif // DTC_LIB_PARALLEL_MESHAXES_H
