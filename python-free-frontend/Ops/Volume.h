//===- Volume.h - images, and those with depth ------------------*- C++ -*-===//
//
// dtc has the channels last: operands are transposed, and results transposed
// back. An image of one spatial dimension is one of height 1.
//
// Windows have a height and a width. One that has a depth too is taken
// apart: for each of its taps along depth the images that the tap reads are
// images of a batch, and what windows of height and width make of them is
// joined.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_VOLUME_H
#define DTC_FRONTEND_OPS_VOLUME_H

#include "Ops/NodeBuilder.h"
#include "Shapes/WindowRules.h"

namespace dtc::frontend {

/// Whether operand 0 of the node has a depth.
bool isVolume(const NodeBuilder &node);

/// [batch, channels, width], with height, or with depth and height before it,
/// and filters of the same form, as [batch, (depth,) height, width, channels].
mlir::Value toImage(NodeBuilder &node, mlir::Value x);

/// The result of a node whose operand 0 are images, from the form that toImage
/// gives.
mlir::Value fromImage(NodeBuilder &node, mlir::Value y);

/// Images of volumes, as a batch, and back.
mlir::Value splitDepth(NodeBuilder &node, mlir::Value volumes);
mlir::Value joinDepth(NodeBuilder &node, mlir::Value images, int64_t depth);

/// What each tap of a window along depth reads of x [batch, depth, height,
/// width, channels] at its positions, as images [batch * positions, height,
/// width, channels]. Outside of x there is `padding`.
llvm::SmallVector<mlir::Value> readTaps(NodeBuilder &node, mlir::Value x,
                                        const WindowDim &depth, double padding);

/// The transpose of that: x [batch, size, height, width, channels], of which
/// each element is the sum of what taps have at it.
mlir::Value sumTaps(NodeBuilder &node, llvm::ArrayRef<mlir::Value> taps,
                    const WindowDim &depth);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_VOLUME_H
