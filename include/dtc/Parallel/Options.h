//===- Options.h - options of the parallel phase ----------------*- C++ -*-===//

#ifndef DTC_PARALLEL_OPTIONS_H
#define DTC_PARALLEL_OPTIONS_H

#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dtc {

struct ParallelOptions {
  int64_t dp = 1; ///< ranks that share the batch
  /// Whether the number of replicas, dp / hsdp, is known at launch only. Then
  /// dp and the batch are those of a plan that stands for any number.
  bool replicasAtLaunch = false;
  int64_t hsdp = 1; ///< ranks of a group that ZeRO splits over, 1: all of dp
  int64_t pp = 1;   ///< pipeline stages
  int64_t tp = 1;   ///< ranks that share each split product
  int64_t zero = 0; ///< stage of ZeRO: 0 to 3
  /// What ZeRO stage 3 gathers: layer, step, a pattern.
  std::string gather = "layer";
  /// What ranks sum gradients in: fp32, bf16, fp16.
  std::string reduceDtype = "fp32";
  bool sp = false;          ///< values between split products are split too
  int64_t microbatches = 1; ///< parts that a rank's round is run in
  /// Axes of ranks, outermost first; empty: pp, dp, shard, tp.
  std::vector<std::string> order;

  /// As for passes that count: of how many replicas the batch is, if that is
  /// known at launch only, else 0.
  int64_t getOpenReplicas() const { return replicasAtLaunch ? dp / hsdp : 0; }

  uint64_t getNumRanks() const {
    return llvm::SaturatingMultiply<uint64_t>(
        llvm::SaturatingMultiply<uint64_t>(dp, pp), tp);
  }
};

} // namespace dtc

#endif // DTC_PARALLEL_OPTIONS_H
