//===- DnnAttention.h - attention as graphs of cuDNN ------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DNNATTENTION_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DNNATTENTION_H

#include "DnnProgram.h"

namespace dtc::rt {

/// An attention without a mask, as dtcrt_attention has it.
struct DnnAttention {
  dtc_dtype dtype; ///< of 16 bits
  bool causal;
  double scale;
  int64_t batch, rows, cols, heads, groups, width, valueWidth;
  /// How many there are in memory, if these are some of them.
  int64_t allHeads, allGroups;

  auto operator<=>(const DnnAttention &) const = default;
};

/// Programs on queries, keys, values, result and lse, and, of gradients, the
/// gradients of result, queries, keys and values. Nothing if the library has no
/// plan within `workspaceBytes`. Addresses are multiples of 16 bytes, that of
/// lse of 4.
std::optional<DnnProgram> findAttention(const DnnTarget &target,
                                        const DnnAttention &shape,
                                        int64_t workspaceBytes);
std::optional<DnnProgram> findAttentionGrad(const DnnTarget &target,
                                            const DnnAttention &shape,
                                            int64_t workspaceBytes);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DNNATTENTION_H
