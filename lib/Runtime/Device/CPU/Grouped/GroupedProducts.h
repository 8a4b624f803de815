//===- GroupedProducts.h - products of rows by chosen matrices --*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_GROUPEDPRODUCTS_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_GROUPEDPRODUCTS_H

#include "Device/CPU/MatMul/MatMul.h"
#include "Device/CPU/Narrow/OneDnn.h"

#include <memory>
#include <optional>
#include <vector>

namespace dtc::rt {

/// The arguments of dtcrt_grouped_matmul and dtcrt_grouped_outer that are no
/// buffers.
struct GroupedShape {
  dtc_dtype dtype, indexType;
  bool transposeWeights; ///< of the product
  bool accumulate;
  bool keepsSums; ///< DTC_RESULT_SUMS
  int64_t rows, matrices;
  int64_t first, second; ///< sizes of a matrix: k x n, or m x n
};

/// The arguments of dtcrt_expert_matmul and dtcrt_expert_outer alike: each of
/// `experts` matrices has `groups` blocks of `capacity` slots.
struct ExpertShape {
  dtc_dtype dtype;
  bool transposeWeights, accumulate, keepsSums;
  int64_t experts, groups, capacity;
  int64_t first, second; ///< sizes of a matrix: k x n, or m x n
};

/// Rows are sorted by index. A thread computes a block of the rows of one
/// matrix at a time, on copies in its own memory. Blocks do not depend on the
/// number of threads, so bits do not, either. oneDNN multiplies bf16 where the
/// processor has instructions for it. Other products of bf16 and f16 are
/// computed in f32.
class GroupedProducts {
public:
  explicit GroupedProducts(MatMul &matmul) : matmul(matmul) {}

  /// Row t of the result is row t of `rows` times matrix indices[t]; NaN if
  /// there is no such matrix.
  void multiply(const GroupedShape &shape, const void *rows,
                const void *weights, const void *indices, void *result);

  /// Matrix e of the result is the sum over rows t with indices[t] = e of the
  /// outer products of lhs[t] and rhs[t].
  void sumOuter(const GroupedShape &shape, const void *lhs, const void *rhs,
                const void *indices, void *result);

  /// Multiplies the first counts[e * groups + g] slots of each block by the
  /// matrix of their expert. Other slots of the result are zero.
  void multiplySlots(const ExpertShape &shape, const void *slots,
                     const void *weights, const int32_t *counts, void *result);
  /// Sums the outer products of these slots, for each expert.
  void sumOuterSlots(const ExpertShape &shape, const void *lhs, const void *rhs,
                     const int32_t *counts, void *result);

private:
  struct Block; ///< rows of one matrix
  class Piece;  ///< the state of a thread

  void sort(const GroupedShape &shape, const void *indices);
  GroupedShape takeSlots(const ExpertShape &shape, const int32_t *counts);
  void multiplySorted(const GroupedShape &shape, const void *rows,
                      const void *weights, void *result);
  void sumOuterSorted(const GroupedShape &shape, const void *lhs,
                      const void *rhs, void *result);
  std::vector<Block> makeBlocks(int64_t matrices, int64_t blockRows) const;
  /// Calls body(piece, i) for i = 0 to pieces - 1, over the threads. A piece
  /// has memory for three copies with these numbers of elements.
  template <typename Body>
  void divide(const GroupedShape &shape, int64_t pieces, int64_t a, int64_t b,
              int64_t c, const Body &body);

  MatMul &matmul;
  std::vector<int64_t> order;  ///< rows of matrices, by matrix
  std::vector<int64_t> starts; ///< the first of each matrix in `order`
  std::optional<Mapping> scratch;
  /// One library object for each thread.
  std::vector<std::unique_ptr<OneDnn>> libraries;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GROUPED_GROUPEDPRODUCTS_H
