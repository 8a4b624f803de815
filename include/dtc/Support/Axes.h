//===- Axes.h - names of the mesh's axes ------------------------*- C++ -*-===//
//
// For compiler and runtime.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_AXES_H
#define DTC_SUPPORT_AXES_H

namespace dtc {

/// Pipeline stages.
inline constexpr char stageAxis[] = "pp";
/// Ranks that share the batch. With --hsdp groups of such ranks; those of a
/// group are on `shardAxis`.
inline constexpr char dataAxis[] = "dp";
/// Ranks of a group that ZeRO splits over, with --hsdp.
inline constexpr char shardAxis[] = "shard";
/// Ranks that share each split product.
inline constexpr char tensorAxis[] = "tp";

} // namespace dtc

#endif // DTC_SUPPORT_AXES_H
