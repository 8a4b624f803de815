//===- Axes.h - names of the mesh's axes ------------------------*- C++ -*-===//
//
// Shared by compiler and runtime.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_AXES_H
#define DTC_SUPPORT_AXES_H

namespace dtc {

/// Pipeline stages.
inline constexpr char stageAxis[] = "pp";
/// Ranks that share the batch. With --hsdp or --ep, the groups of such ranks;
/// the ranks of a group are on `shardAxis` or `expertAxis`.
inline constexpr char dataAxis[] = "dp";
/// Ranks of a group that ZeRO shards over, with --hsdp.
inline constexpr char shardAxis[] = "shard";
/// Ranks that share the batch and also the experts, with --ep.
inline constexpr char expertAxis[] = "ep";
/// Ranks that share each split matmul.
inline constexpr char tensorAxis[] = "tp";

} // namespace dtc

#endif // DTC_SUPPORT_AXES_H
