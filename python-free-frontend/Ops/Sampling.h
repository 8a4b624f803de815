//===- Sampling.h - image elements at computed places -----------*- C++ -*-===//
//
// A sample of an image is a weighted sum of the elements around a place. Each
// dimension of the place has its own elements and weights, called taps. The
// rows of channels are looked up at all combinations of taps. Gradients of
// images and places follow from those of lookups, sums and products.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_SAMPLING_H
#define DTC_FRONTEND_OPS_SAMPLING_H

#include "Ops/NodeBuilder.h"

namespace dtc::frontend {

/// An element along one dimension, and its weight, for each place.
struct Tap {
  mlir::Value index, weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// The tap at `position`, a float with an integral value. Outside of a
/// dimension of `size` its weight is 0.
Tap makeTap(NodeBuilder &node, mlir::Value position, mlir::Value weight,
            int64_t size);

/// The two elements around each place, with linear weights.
Taps makeLinearTaps(NodeBuilder &node, mlir::Value place, int64_t size);

/// Samples images [batch, sizes..., channels], and returns [batch, places...,
/// channels]. `taps` has a list for each dimension of sizes. Indices and
/// weights are [batch, places...].
mlir::Value sample(NodeBuilder &node, mlir::Value images,
                   llvm::ArrayRef<Taps> taps);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_SAMPLING_H
