//===- WindowRules.h - ONNX's rules for windows over images -----*- C++ -*-===//
//
// Finds the windows of convolutions and pooling from their common attributes:
// kernel_shape, strides, dilations, pads, auto_pad, ceil_mode.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SHAPES_WINDOWRULES_H
#define DTC_FRONTEND_SHAPES_WINDOWRULES_H

#include "Shapes/Call.h"

#include <array>

namespace dtc::frontend {

/// The movement of a window along one dimension of an image: at position p, tap
/// i is at p * stride - before + i * dilation.
struct WindowDim {
  int64_t size = 1, kernel = 1, stride = 1, dilation = 1;
  /// Padding. `after` includes `addedAfter`, the padding that ceil_mode adds.
  int64_t before = 0, after = 0, addedAfter = 0;
  int64_t positions = 1;

  /// Number of elements from the first tap to the last.
  int64_t span() const { return dilation * (kernel - 1) + 1; }
  /// Number of taps of a position in the range [from, to).
  int64_t countTaps(int64_t position, int64_t from, int64_t to) const;
};

/// Depth, height and width. Images of fewer spatial dimensions have a depth and
/// a height of 1. The lists are [height, width].
struct WindowDims : std::array<WindowDim, 3> {
  const WindowDim &depth() const { return at(0); }
  const WindowDim &height() const { return at(1); }
  const WindowDim &width() const { return at(2); }
  llvm::SmallVector<int64_t, 2> kernel() const, strides() const,
      dilations() const;
  /// [top, left, bottom, right].
  llvm::SmallVector<int64_t, 4> padding() const;
};

/// The window of Conv. `kernel`: spatial dimensions of its weight.
llvm::Expected<WindowDims> convWindow(const Call &call,
                                      llvm::ArrayRef<int64_t> kernel);
/// The window that a ConvTranspose moves over its result. Its operand has the
/// positions of the window.
llvm::Expected<WindowDims> convTransposeWindow(const Call &call,
                                               llvm::ArrayRef<int64_t> kernel);
/// The window that Col2Im moves over its result of one or two dimensions.
llvm::Expected<WindowDims> col2ImWindow(const Call &call);
/// The window of MaxPool and of other pooling operators.
llvm::Expected<WindowDims> poolWindow(const Call &call);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_WINDOWRULES_H
