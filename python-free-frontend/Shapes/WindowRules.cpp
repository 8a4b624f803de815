//===- WindowRules.cpp - ONNX's rules for windows over images -------------===//
//
// Computes each dimension separately.
//
//===----------------------------------------------------------------------===//

#include "Shapes/WindowRules.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace dtc::frontend {

int64_t WindowDim::countTaps(int64_t position, int64_t from, int64_t to) const {
  int64_t first = position * stride - before; // position of tap 0
  auto countBefore = [&](int64_t end) {
    return std::clamp(divideCeilSigned(end - first, dilation), int64_t(0),
                      kernel);
  };
  return std::max<int64_t>(countBefore(to) - countBefore(from), 0);
}

SmallVector<int64_t, 2> WindowDims::kernel() const {
  return {height().kernel, width().kernel};
}
SmallVector<int64_t, 2> WindowDims::strides() const {
  return {height().stride, width().stride};
}
SmallVector<int64_t, 2> WindowDims::dilations() const {
  return {height().dilation, width().dilation};
}
SmallVector<int64_t, 4> WindowDims::padding() const {
  return {height().before, width().before, height().after, width().after};
}

namespace {
/// Largest number in a window. Sums and products of a few such numbers do not
/// overflow.
constexpr int64_t most = int64_t(1) << 30;

/// Reads `count` numbers of an attribute. Without the attribute all are
/// `otherwise`.
Expected<Shape> readList(const Call &call, StringRef name, int64_t count,
                         int64_t least, int64_t otherwise) {
  auto given = call.getInts(name);
  if (!given)
    return Shape(count, otherwise);
  if (int64_t(given->size()) != count || any_of(*given, [&](int64_t value) {
        return value < least || value > most;
      }))
    return problem(name + " is " + toString(*given) + ", expected " +
                   Twine(count) + " numbers from " + Twine(least) + " to " +
                   Twine(most));
  return Shape(given->begin(), given->end());
}

enum class AutoPad { NotSet, SameUpper, SameLower, Valid };

Expected<AutoPad> readAutoPad(const Call &call) {
  StringRef text = call.getString("auto_pad", "NOTSET");
  if (text.empty() || text == "NOTSET")
    return AutoPad::NotSet;
  if (text == "SAME_UPPER")
    return AutoPad::SameUpper;
  if (text == "SAME_LOWER")
    return AutoPad::SameLower;
  if (text == "VALID")
    return AutoPad::Valid;
  return problem("auto_pad is '" + text +
                 "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

/// The settings of the attributes, before the positions are computed.
struct Attributes {
  /// One for each spatial dimension of the operand.
  SmallVector<WindowDim, 3> dims;
  AutoPad autoPad = AutoPad::NotSet;
  bool ceilMode = false;
};

/// Reads the attributes of windows with shape `kernel` over images of `sizes`.
Expected<Attributes> readAttributes(const Call &call, ArrayRef<int64_t> sizes,
                                    ArrayRef<int64_t> kernel) {
  int64_t count = sizes.size();
  Expected<Shape> strides = readList(call, "strides", count, 1, 1);
  if (!strides)
    return strides.takeError();
  Expected<Shape> dilations = readList(call, "dilations", count, 1, 1);
  if (!dilations)
    return dilations.takeError();
  Expected<Shape> pads = readList(call, "pads", 2 * count, 0, 0);
  if (!pads)
    return pads.takeError();
  Expected<AutoPad> autoPad = readAutoPad(call);
  if (!autoPad)
    return autoPad.takeError();

  Attributes result{{}, *autoPad, call.getInt("ceil_mode", 0) != 0};
  for (int64_t d = 0; d < count; ++d) {
    WindowDim dim;
    dim.size = sizes[d];
    dim.kernel = kernel[d];
    if (dim.kernel > most || dim.size > most)
      return problem("a window of " + Twine(dim.kernel) +
                     " over a dimension of " + Twine(dim.size) +
                     ", expected at most " + Twine(most));
    dim.stride = (*strides)[d];
    dim.dilation = (*dilations)[d];
    if (*autoPad == AutoPad::NotSet) {
      dim.before = (*pads)[d];
      dim.after = (*pads)[count + d];
    }
    result.dims.push_back(dim);
  }
  return result;
}

/// Reads the attributes of windows over operand 0. Without `kernel`, the node
/// must have the attribute kernel_shape.
Expected<Attributes> readAttributes(const Call &call,
                                    std::optional<Shape> kernel) {
  int64_t count = call.rank(0) - 2;
  if (count < 1 || count > 3)
    return problem("operand " + toString(call.shape(0)) + " has rank " +
                       Twine(call.rank(0)) +
                       ", expected [batch, channels, width], [batch, channels, "
                       "height, width] or [batch, channels, depth, height, "
                       "width]",
                   "reshape it in the model");
  if (!kernel && !call.getInts("kernel_shape"))
    return problem("attribute 'kernel_shape' is missing",
                   "the model is not valid ONNX; export it again");
  Expected<Shape> kernelShape = readList(call, "kernel_shape", count, 1, 0);
  if (!kernelShape)
    return kernelShape.takeError();
  if (kernel && call.getInts("kernel_shape") && *kernelShape != *kernel)
    return problem("kernel_shape is " + toString(*kernelShape) +
                   ", the weight is " + toString(call.shape(1)));
  return readAttributes(call, call.shape(0).drop_front(2),
                        kernel ? *kernel : *kernelShape);
}

WindowDims toImage(ArrayRef<WindowDim> dims) {
  WindowDims result;
  copy(dims, result.end() - dims.size());
  return result;
}

/// Splits the total padding. SAME_UPPER puts an odd element at the end.
void splitPadding(WindowDim &dim, int64_t total, AutoPad autoPad) {
  int64_t half = total / 2;
  dim.before = autoPad == AutoPad::SameUpper ? half : total - half;
  dim.after = total - dim.before;
}

/// Computes padding and positions from the size of the image.
Error settle(WindowDim &dim, const Attributes &attributes) {
  if (attributes.autoPad == AutoPad::SameUpper ||
      attributes.autoPad == AutoPad::SameLower) {
    dim.positions = divideCeil(dim.size, dim.stride);
    int64_t covered = (dim.positions - 1) * dim.stride + dim.span();
    splitPadding(dim, std::max<int64_t>(covered - dim.size, 0),
                 attributes.autoPad);
    return Error::success();
  }
  int64_t padded = dim.size + dim.before + dim.after;
  int64_t room = padded - dim.span();
  dim.positions = (attributes.ceilMode ? divideCeilSigned(room, dim.stride)
                                       : divideFloorSigned(room, dim.stride)) +
                  1;
  // A window that ceil_mode adds never starts in the padding at the end.
  if (attributes.ceilMode &&
      (dim.positions - 1) * dim.stride >= dim.size + dim.before)
    --dim.positions;
  if (dim.positions < 1)
    return problem("a window of " + Twine(dim.span()) +
                   " does not fit into a dimension of " + Twine(dim.size) +
                   " with padding " + Twine(dim.before) + " and " +
                   Twine(dim.after));
  int64_t covered = (dim.positions - 1) * dim.stride + dim.span();
  dim.addedAfter = std::max<int64_t>(covered - padded, 0);
  dim.after += dim.addedAfter;
  return Error::success();
}
} // namespace

Expected<WindowDims> convWindow(const Call &call, ArrayRef<int64_t> kernel) {
  Expected<Attributes> attributes = readAttributes(call, Shape(kernel));
  if (!attributes)
    return attributes.takeError();
  for (WindowDim &dim : attributes->dims)
    if (Error error = settle(dim, *attributes))
      return error;
  return toImage(attributes->dims);
}

Expected<WindowDims> col2ImWindow(const Call &call) {
  auto image = call.constant(1, "image_shape");
  if (!image)
    return image.takeError();
  auto block = call.constant(2, "block_shape");
  if (!block)
    return block.takeError();
  int64_t count = (*image)->size();
  if (count < 1 || count > 2 || (*block)->size() != count ||
      (*image)->rank() != 1)
    return problem("image_shape has " + Twine(count) +
                   " dimensions and block_shape " + Twine((*block)->size()) +
                   ", supported are one or two of both");
  std::vector<int64_t> sizes = (*image)->toInts(), kernel = (*block)->toInts();
  for (auto [size, taps] : zip(sizes, kernel))
    if (size < 1 || taps < 1)
      return problem("a window of " + Twine(taps) + " over a dimension of " +
                     Twine(size) + ", expected at least 1");
  Expected<Attributes> attributes = readAttributes(call, sizes, kernel);
  if (!attributes)
    return attributes.takeError();
  for (WindowDim &dim : attributes->dims)
    if (Error error = settle(dim, *attributes))
      return error;
  return toImage(attributes->dims);
}

Expected<WindowDims> poolWindow(const Call &call) {
  Expected<Attributes> attributes = readAttributes(call, std::nullopt);
  if (!attributes)
    return attributes.takeError();
  for (WindowDim &dim : attributes->dims) {
    if (Error error = settle(dim, *attributes))
      return error;
    // A window whose first tap is inside of the image is not in the padding.
    int64_t inFront =
        std::min<int64_t>(dim.positions, divideCeil(dim.before, dim.stride));
    bool isOutside = dim.countTaps(dim.positions - 1, 0, dim.size) == 0;
    for (int64_t position = 0; position < inFront && !isOutside; ++position)
      isOutside = dim.countTaps(position, 0, dim.size) == 0;
    if (isOutside)
      return problem("a window lies in the padding of " + Twine(dim.before) +
                         " and " + Twine(dim.after),
                     "pad by less than the window");
  }
  return toImage(attributes->dims);
}

Expected<WindowDims> convTransposeWindow(const Call &call,
                                         ArrayRef<int64_t> kernel) {
  Expected<Attributes> attributes = readAttributes(call, Shape(kernel));
  if (!attributes)
    return attributes.takeError();
  int64_t count = attributes->dims.size();
  Expected<Shape> added = readList(call, "output_padding", count, 0, 0);
  if (!added)
    return added.takeError();
  Expected<Shape> sizes = readList(call, "output_shape", count, 1, 0);
  if (!sizes)
    return sizes.takeError();
  bool isSame = attributes->autoPad == AutoPad::SameUpper ||
                attributes->autoPad == AutoPad::SameLower;
  for (auto [d, dim] : enumerate(attributes->dims)) {
    dim.positions = dim.size;
    int64_t covered = (dim.positions - 1) * dim.stride + dim.span();
    int64_t whole = covered + (*added)[d];
    if (call.getInts("output_shape"))
      dim.size = (*sizes)[d];
    else if (isSame)
      // ONNX's shape inference adds no padding for windows with gaps between
      // them.
      dim.size = std::min(dim.positions * dim.stride, whole);
    else
      dim.size = whole - dim.before - dim.after;
    if (call.getInts("output_shape") || isSame)
      splitPadding(dim, std::max<int64_t>(whole - dim.size, 0),
                   attributes->autoPad);
    if (dim.size < 1)
      return problem("pads " + Twine(dim.before) + " and " + Twine(dim.after) +
                     " leave nothing of a result of " + Twine(whole));
    // Padding at the end only influences the number of positions.
    dim.after = std::max<int64_t>(covered - dim.before - dim.size, 0);
    if (dim.before + dim.size + dim.after - covered >= dim.stride)
      return problem("windows of " + Twine(dim.span()) + " with stride " +
                         Twine(dim.stride) + " cover only " +
                         Twine(covered - dim.before) + " of the " +
                         Twine(dim.size) +
                         " elements of the result along a dimension",
                     "output_padding must be less than the stride");
  }
  return toImage(attributes->dims);
}

} // namespace dtc::frontend
