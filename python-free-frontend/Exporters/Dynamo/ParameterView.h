//===- ParameterView.h - parameters inside of computed tensors --*- C++ -*-===//
//
// An exporter that computes what does not depend on inputs leaves, of a lookup
// of constant positions, the rows that were looked up, and of an expanded class
// token, its copies:
//
//   embedding_1: [8, 16, 32], eight times the rows 0 to 15 of a table
//   expand:      [8, 1, 64], eight times a parameter of shape [1, 1, 64]
//   linear:      [1, 8, 16], eight copies of a bias, of an input of zeros
//   clone:       [8, 2, 16, 16], eight times biases of 2 heads, of which there
//                is one for each distance of two of 16 tokens
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_PARAMETERVIEW_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_PARAMETERVIEW_H

#include "Support/TensorData.h"

namespace dtc::frontend {

struct ParameterView {
  /// The parameter: its rows if it was looked up.
  Shape shape;
  std::string bytes;
  /// The computed tensor without copies.
  Shape unrepeated;
  /// The row at each place along the other dimensions of `unrepeated`; empty if
  /// each row is there once, in order.
  std::vector<int64_t> indices;
  /// The dimension of `unrepeated` that rows lie along.
  unsigned rowDim = 0;
  bool isTransposed = false;
};

/// Finds the operand from which the call `op` ("embedding", "expand") computed
/// a tensor, if the call only moves elements, or may repeat a bias in each row
/// ("linear"). `batch`: number of samples of the export, or 0.
std::optional<ParameterView> findView(const TensorData &data,
                                      llvm::StringRef op, int64_t batch);

/// Keeps one of equal slices along each dimension but the last. Of equal
/// elements it is not known which are copies, except of those along
/// `sampleDim`, if that is not negative.
void dropCopies(ParameterView &tensor, int sampleDim, int64_t elementSize);

/// Whether all elements are the same.
bool isUniform(llvm::StringRef bytes, int64_t elementSize);
bool isUniform(const TensorData &data);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_PARAMETERVIEW_H
