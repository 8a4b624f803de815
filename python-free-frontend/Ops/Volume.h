//===- Volume.h - images and volumes ----------------------------*- C++ -*-===//
//
// dtc's images have the channels last, so operands and results are transposed.
// An image of one spatial dimension has height 1.
//
// Windows of dtc have a height and a width. A window with a depth is split into
// its taps along depth. The images that one tap reads become a batch of images;
// windows of height and width read these, and the results of all taps are
// combined.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_VOLUME_H
#define DTC_FRONTEND_OPS_VOLUME_H

#include "Ops/NodeBuilder.h"
#include "Shapes/WindowRules.h"

namespace dtc::frontend {

/// Whether operand 0 of the node has a depth dimension.
bool isVolume(const NodeBuilder &node);

/// Converts [batch, channels, (depth, height,) width] to [batch, (depth,)
/// height, width, channels]. Also converts filters of this form.
mlir::Value toImage(NodeBuilder &node, mlir::Value x);

/// Converts a result from the form of toImage to that of the node.
mlir::Value fromImage(NodeBuilder &node, mlir::Value y);

/// Converts [batch, depth, ...] to [batch * depth, ...], and back.
mlir::Value splitDepth(NodeBuilder &node, mlir::Value volumes);
mlir::Value joinDepth(NodeBuilder &node, mlir::Value images, int64_t depth);

/// Returns the images that each tap along depth reads of x [batch, depth,
/// height, width, channels], as [batch * positions, height, width, channels].
/// Positions outside of x read `padding`.
llvm::SmallVector<mlir::Value> readTaps(NodeBuilder &node, mlir::Value x,
                                        const WindowDim &depth, double padding);

/// The transpose of readTaps: returns x [batch, size, height, width, channels].
/// Each element is the sum of the taps at it.
mlir::Value sumTaps(NodeBuilder &node, llvm::ArrayRef<mlir::Value> taps,
                    const WindowDim &depth);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_VOLUME_H
