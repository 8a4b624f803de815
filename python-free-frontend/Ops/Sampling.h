//===- Sampling.h - elements of images at computed places -------*- C++ -*-===//
//
// A sample is a weighted sum of the elements around a place. Each dimension of
// the place gives elements and weights (taps) of its own; rows of channels are
// looked up at every tuple of taps. Gradients of images and of places follow
// from those of lookups, sums and products.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_SAMPLING_H
#define DTC_FRONTEND_OPS_SAMPLING_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// An element along one dimension, for each place, and how much of it counts.
struct Tap {
  mlir::Value index, weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// The element at `position`, a float that is an integer. One outside of the
/// dimension counts nothing.
Tap makeTap(NodeBuilder &node, mlir::Value position, mlir::Value weight,
            int64_t size);

/// The two elements around each place, weighed by how near they are.
Taps makeLinearTaps(NodeBuilder &node, mlir::Value place, int64_t size);

/// Samples [batch, places..., channels] of images [batch, sizes..., channels].
/// Indices and weights of taps, of which there are as many lists as sizes, are
/// [batch, places...].
mlir::Value sample(NodeBuilder &node, mlir::Value images,
                   llvm::ArrayRef<Taps> taps);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_SAMPLING_H
