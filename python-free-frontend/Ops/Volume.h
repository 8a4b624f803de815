//===- Volume.h - windows over images with depth ----------------*- C++ -*-===//
//
// dtc's windows have a height and a width. One that has a depth too is taken
// apart: for each of its taps along depth the images that the tap reads are
// images of a batch, and what windows of height and width make of them is
// joined.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_VOLUME_H
#define DTC_FRONTEND_OPS_VOLUME_H

#include "NodeBuilder.h"
#include "WindowRules.h"

namespace dtc::frontend {

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
