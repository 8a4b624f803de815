//===- ConvolutionOps.cpp - constraints of windows over images ------------===//
//
// The constraints that the ops' docs number.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The window of an op, from the shapes of its images and of its positions.
template <typename OpTy>
static Window makeWindow(OpTy op, Value images, Value positions,
                         ArrayRef<int64_t> kernel) {
  auto x = getLocalType(images.getType()).getShape();
  auto y = getLocalType(positions.getType()).getShape();
  return {x[0],
          x[1],
          x[2],
          x[3],
          y[1],
          y[2],
          kernel[0],
          kernel[1],
          op.getStrides()[0],
          op.getStrides()[1],
          op.getPadding()[0],
          op.getPadding()[1],
          op.getDilations()[0],
          op.getDilations()[1]};
}

/// A dimension of the images, the positions that are expected along it, and
/// whether a tap is inside of the image at each.
static LogicalResult verifyDim(Operation *op, StringRef name, int64_t size,
                               int64_t positions, int64_t kernel,
                               int64_t stride, int64_t before, int64_t after,
                               int64_t dilation, bool needsTaps) {
  if (kernel < 1 || stride < 1 || dilation < 1 || before < 0 || after < 0)
    return op->emitOpError("window has ")
           << name << " " << kernel << ", stride " << stride << ", dilation "
           << dilation << " and padding " << before << " and " << after
           << ", expected positive numbers, and padding that is not negative";
  int64_t room = size + before + after - dilation * (kernel - 1) - 1;
  int64_t expected = room < 0 ? 0 : room / stride + 1;
  if (expected < 1 || positions != expected)
    return op->emitOpError("window has ")
           << positions << " positions along the " << name << " of " << size
           << ", expected " << expected;
  auto isInside = [&](int64_t position) {
    return llvm::any_of(llvm::seq(kernel), [&](int64_t tap) {
      int64_t at = position * stride - before + tap * dilation;
      return at >= 0 && at < size;
    });
  };
  if (needsTaps && !llvm::all_of(llvm::seq(positions), isInside))
    return op->emitOpError("window lies in the padding at some position along "
                           "the ")
           << name << ", expected less padding";
  return success();
}

template <typename OpTy>
static LogicalResult verifyWindow(OpTy op, Value images, Value positions,
                                  ArrayRef<int64_t> kernel, bool needsTaps) {
  auto x = cast<RankedTensorType>(images.getType());
  auto y = cast<RankedTensorType>(positions.getType());
  if (x.getRank() != 4 || y.getRank() != 4 ||
      x.getDimSize(0) != y.getDimSize(0) ||
      x.getElementType() != y.getElementType())
    return op.emitOpError("has images ")
           << x << " and positions " << y
           << ", expected [batch, height, width, channels] of one batch and "
              "element type";
  ArrayRef<int64_t> strides = op.getStrides(), padding = op.getPadding(),
                    dilations = op.getDilations();
  if (kernel.size() != 2 || strides.size() != 2 || padding.size() != 4 ||
      dilations.size() != 2)
    return op.emitOpError("expected two sizes, two strides, two dilations and "
                          "padding of four sides");
  for (unsigned i : {0, 1})
    if (failed(verifyDim(op, i == 0 ? "height" : "width", x.getDimSize(i + 1),
                         y.getDimSize(i + 1), kernel[i], strides[i], padding[i],
                         padding[i + 2], dilations[i], needsTaps)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getKernel(Value filters) {
  return cast<RankedTensorType>(filters.getType()).getShape().slice(1, 2);
}

template <typename OpTy>
static LogicalResult verifyConvolution(OpTy op, Value images, Value filters,
                                       Value positions) {
  auto w = cast<RankedTensorType>(filters.getType());
  if (w.getRank() != 4)
    return op.emitOpError("has filters ")
           << w << ", expected [filters, height, width, channels]";
  if (failed(verifyWindow(op, images, positions, getKernel(filters),
                          /*needsTaps=*/false)))
    return failure();
  int64_t channels = cast<RankedTensorType>(images.getType()).getDimSize(3);
  int64_t own = w.getDimSize(3), count = w.getDimSize(0);
  if (own < 1 || channels % own != 0 || count % (channels / own) != 0)
    return op.emitOpError("filters ")
           << w << " do not fit images of " << channels
           << " channels: expected groups of " << own
           << " channels, as many as divide " << count << " filters";
  if (cast<RankedTensorType>(positions.getType()).getDimSize(3) != count)
    return op.emitOpError("positions ")
           << positions.getType() << " do not have the " << count
           << " filters as channels";
  return success();
}

/// A product for each tap, channel of a group, position and filter.
static int64_t countFlops(Value positions, Value filters) {
  auto w = cast<RankedTensorType>(filters.getType());
  return 2 * cast<RankedTensorType>(positions.getType()).getNumElements() *
         (w.getNumElements() / std::max<int64_t>(w.getDimSize(0), 1));
}

LogicalResult Conv2DOp::verify() {
  return verifyConvolution(*this, getX(), getFilters(), getY());
}
Window Conv2DOp::getWindow() {
  return makeWindow(*this, getX(), getY(), getKernel(getFilters()));
}
int64_t Conv2DOp::getFlops() { return countFlops(getY(), getFilters()); }

LogicalResult Conv2DInputGradOp::verify() {
  return verifyConvolution(*this, getDx(), getFilters(), getDy());
}
Window Conv2DInputGradOp::getWindow() {
  return makeWindow(*this, getDx(), getDy(), getKernel(getFilters()));
}
int64_t Conv2DInputGradOp::getFlops() {
  return countFlops(getDy(), getFilters());
}

LogicalResult Conv2DFilterGradOp::verify() {
  return verifyConvolution(*this, getX(), getDfilters(), getDy());
}
Window Conv2DFilterGradOp::getWindow() {
  return makeWindow(*this, getX(), getDy(), getKernel(getDfilters()));
}
int64_t Conv2DFilterGradOp::getFlops() {
  return countFlops(getDy(), getDfilters());
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult verifyPooling(OpTy op, Value images, Value positions) {
  if (failed(verifyWindow(op, images, positions, op.getKernel(),
                          /*needsTaps=*/true)))
    return failure();
  auto x = cast<RankedTensorType>(images.getType());
  auto y = cast<RankedTensorType>(positions.getType());
  if (x.getDimSize(3) != y.getDimSize(3))
    return op.emitOpError("pools ")
           << x << " to " << y << ", expected the same channels";
  return success();
}

Window MaxPool2DOp::getWindow() {
  return makeWindow(*this, getX(), getY(), getKernel());
}
LogicalResult MaxPool2DOp::verify() {
  return verifyPooling(*this, getX(), getY());
}
Window MaxPool2DGradOp::getWindow() {
  return makeWindow(*this, getX(), getDy(), getKernel());
}
LogicalResult MaxPool2DGradOp::verify() {
  if (!haveSameShapes(getX().getType(), getDx().getType()))
    return emitOpError("gives ") << getDx().getType() << ", expected the shape "
                                 << "of " << getX().getType();
  return verifyPooling(*this, getX(), getDy());
}
Window SumPool2DOp::getWindow() {
  return makeWindow(*this, getX(), getY(), getKernel());
}
LogicalResult SumPool2DOp::verify() {
  return verifyPooling(*this, getX(), getY());
}
Window SumPool2DGradOp::getWindow() {
  return makeWindow(*this, getDx(), getDy(), getKernel());
}
LogicalResult SumPool2DGradOp::verify() {
  return verifyPooling(*this, getDx(), getDy());
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(withLayout(operands[0].getType(), {}));
  return success();
}

LogicalResult BatchNormOp::verify() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  for (Value value : getOperands().drop_front())
    if (x.empty() ||
        cast<ShapedType>(value.getType()).getShape() != x.take_back())
      return emitOpError("scale, bias, mean or variance is ")
             << value.getType() << ", expected the last dimension of "
             << getX().getType();
  return success();
}
