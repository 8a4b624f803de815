//===- DnnAttention.h - attention as graphs of cuDNN ------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DNNATTENTION_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DNNATTENTION_H

#include "DnnProgram.h"

namespace dtc::rt {

/// An attention as dtcrt_attention has it.
struct DnnAttention {
  /// From a token to the next and from a head to the next, in elements.
  struct Strides {
    int64_t token, head;

    auto operator<=>(const Strides &) const = default;
  };

  dtc_dtype dtype; ///< of 16 bits
  bool causal;
  double scale;
  int64_t batch, rows, cols, heads, groups, width, valueWidth;
  Strides queries, keys, values, result; ///< and of their gradients
  int64_t allHeads; ///< heads of lse and mask; these may be some
  int maskDims = 0; ///< a set of dtc_attention_mask

  /// Each tensor by itself, as dtcrt_attention has them.
  static DnnAttention dense(dtc_dtype dtype, bool causal, double scale,
                            int64_t batch, int64_t rows, int64_t cols,
                            int64_t heads, int64_t groups, int64_t width,
                            int64_t valueWidth) {
    return {dtype,
            causal,
            scale,
            batch,
            rows,
            cols,
            heads,
            groups,
            width,
            valueWidth,
            {heads * width, width},
            {groups * width, width},
            {groups * valueWidth, valueWidth},
            {heads * valueWidth, valueWidth},
            heads};
  }

  /// Queries, keys and values in one tensor, as dtcrt_packed_attention has
  /// them.
  void pack(bool isByHead) {
    queries = keys = values = {3 * heads * width, isByHead ? 3 * width : width};
  }

  auto operator<=>(const DnnAttention &) const = default;
};

/// A description for people and for --autotune.
std::string nameOf(const DnnAttention &shape, bool isGrad);

/// Programs on queries, keys, values, mask, result and lse, and, of gradients,
/// the gradients of result, queries, keys and values. Nothing if the library
/// has no plan within `workspaceBytes`. Addresses are multiples of 16 bytes,
/// that of lse of 4, that of the mask of 2, or null if there is none.
std::optional<DnnProgram> findAttention(const DnnTarget &target,
                                        const DnnAttention &shape,
                                        int64_t workspaceBytes);
std::optional<DnnProgram> findAttentionGrad(const DnnTarget &target,
                                            const DnnAttention &shape,
                                            int64_t workspaceBytes);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DNNATTENTION_H
