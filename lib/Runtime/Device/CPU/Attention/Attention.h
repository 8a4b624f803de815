//===- Attention.h - attention in blocks of queries -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_ATTENTION_ATTENTION_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_ATTENTION_ATTENTION_H

#include "Device/CPU/Narrow/OneDnn.h"

#include <memory>
#include <optional>
#include <vector>

namespace dtc::rt {

/// The arguments of dtcrt_attention that are no buffers.
struct AttentionShape {
  dtc_dtype dtype;
  bool causal;
  double scale;
  int64_t batch, rows, columns, heads, groups, width, valueWidth;
  int maskDims; ///< a set of dtc_attention_mask
};

struct AttentionBuffers {
  const void *queries, *keys, *values, *mask;
};

/// One thread computes a group of a sample, a block of queries at a time with
/// all of their scores. So bits do not depend on the number of threads, and
/// memory does not grow with the square of the sequence. oneDNN multiplies bf16
/// where the processor has instructions for it. Otherwise products of bf16 and
/// f16 are computed in f32.
class Attention {
public:
  explicit Attention(MatMul &matmul) : matmul(matmul) {}

  void forward(const AttentionShape &shape, const AttentionBuffers &buffers,
               void *result, void *lse);

  struct Gradients {
    const void *result, *lse, *dresult;
    void *dqueries, *dkeys, *dvalues;
  };
  void backward(const AttentionShape &shape, const AttentionBuffers &buffers,
                const Gradients &gradients);

private:
  /// Calls body(group) for the groups of all samples, over the threads.
  template <typename Body>
  void eachGroup(const AttentionShape &shape, const AttentionBuffers &buffers,
                 const Body &body);
  template <typename Group, typename Body>
  void divide(const AttentionShape &shape, const AttentionBuffers &buffers,
              const Body &body);

  MatMul &matmul;
  std::optional<Mapping> scratch;
  /// One library object for each thread, for bf16 where the processor has
  /// instructions for it.
  std::vector<std::unique_ptr<OneDnn>> libraries;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_ATTENTION_ATTENTION_H
