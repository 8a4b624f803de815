//===- ConvolutionOps.cpp - constraints of windows over images ------------===//
//
// Verifies the constraints that the ops' documentation numbers.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The window of an op that has strides, padding and dilations.
template <typename OpTy>
static Window makeWindow(OpTy op, Value images, Value positions,
                         ArrayRef<int64_t> kernel) {
  ArrayRef<int64_t> x = getLocalType(images.getType()).getShape();
  ArrayRef<int64_t> y = getLocalType(positions.getType()).getShape();
  ArrayRef<int64_t> strides = op.getStrides(), padding = op.getPadding(),
                    dilations = op.getDilations();
  return {x[0],       x[1],       x[2],         x[3],        y[1],
          y[2],       kernel[0],  kernel[1],    strides[0],  strides[1],
          padding[0], padding[1], dilations[0], dilations[1]};
}

/// Verifies one dimension of the images: the number of positions, and that each
/// position has a tap inside the image.
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
    int64_t first = position * stride - before; // of tap 0
    int64_t tap = first < 0 ? llvm::divideCeil(-first, dilation) : 0;
    return tap < kernel && first + tap * dilation < size;
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
      x.getDimSize(0) != y.getDimSize(0))
    return op.emitOpError("has images ")
           << x << " and positions " << y
           << ", expected [batch, height, width, channels] of one batch";
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

template <typename OpTy> static ArrayRef<int64_t> getKernel(OpTy op) {
  return op.getFilters().getType().getShape().slice(1, 2);
}

template <typename OpTy> static LogicalResult verifyConvolution(OpTy op) {
  RankedTensorType filters = op.getFilters().getType();
  Type operand = op->getOperand(0).getType();
  Type element = getElementTypeOrSelf(operand),
       stored = getElementTypeOrSelf(op->getResult(0));
  if (stored != element && stored != getComputeType(element))
    return op.emitOpError("gives ")
           << op->getResult(0).getType() << " from " << operand
           << ", expected that element type, or the one it is computed in";
  if (filters.getRank() != 4)
    return op.emitOpError("has filters ")
           << filters << ", expected [filters, height, width, channels]";
  if (failed(verifyWindow(op, op.getImages(), op.getPositions(), getKernel(op),
                          /*needsTaps=*/false)))
    return failure();
  int64_t channels = op.getImages().getType().getDimSize(3);
  int64_t own = filters.getDimSize(3), count = filters.getDimSize(0);
  if (own < 1 || channels % own != 0 || count % (channels / own) != 0)
    return op.emitOpError("filters ")
           << filters << " do not fit images of " << channels
           << " channels: expected groups of " << own
           << " channels, as many as divide " << count << " filters";
  if (op.getPositions().getType().getDimSize(3) != count)
    return op.emitOpError("positions ")
           << op.getPositions().getType() << " do not have the " << count
           << " filters as channels";
  return success();
}

template <typename OpTy> static Window getConvolutionWindow(OpTy op) {
  return makeWindow(op, op.getImages(), op.getPositions(), getKernel(op));
}

/// One product for each tap, channel of a group, position and filter.
template <typename OpTy> static int64_t countFlops(OpTy op) {
  RankedTensorType filters = op.getFilters().getType();
  return 2 * op.getPositions().getType().getNumElements() *
         (filters.getNumElements() /
          std::max<int64_t>(filters.getDimSize(0), 1));
}

LogicalResult Conv2DOp::verify() { return verifyConvolution(*this); }
Window Conv2DOp::getWindow() { return getConvolutionWindow(*this); }
int64_t Conv2DOp::getFlops() { return countFlops(*this); }

LogicalResult Conv2DInputGradOp::verify() { return verifyConvolution(*this); }
Window Conv2DInputGradOp::getWindow() { return getConvolutionWindow(*this); }
int64_t Conv2DInputGradOp::getFlops() { return countFlops(*this); }

LogicalResult Conv2DFilterGradOp::verify() { return verifyConvolution(*this); }
Window Conv2DFilterGradOp::getWindow() { return getConvolutionWindow(*this); }
int64_t Conv2DFilterGradOp::getFlops() { return countFlops(*this); }

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult verifyPooling(OpTy op) {
  if (failed(verifyWindow(op, op.getImages(), op.getPositions(), op.getKernel(),
                          /*needsTaps=*/true)))
    return failure();
  RankedTensorType images = op.getImages().getType(),
                   positions = op.getPositions().getType();
  if (images.getDimSize(3) != positions.getDimSize(3))
    return op.emitOpError("pools ")
           << images << " to " << positions << ", expected the same channels";
  return success();
}

template <typename OpTy> static Window getPoolingWindow(OpTy op) {
  return makeWindow(op, op.getImages(), op.getPositions(), op.getKernel());
}

LogicalResult MaxPool2DOp::verify() { return verifyPooling(*this); }
Window MaxPool2DOp::getWindow() { return getPoolingWindow(*this); }

LogicalResult MaxPool2DGradOp::verify() {
  if (!haveSameShapes(getImages().getType(), getDimages().getType()))
    return emitOpError("gives ")
           << getDimages().getType() << ", expected the shape of "
           << getImages().getType();
  return verifyPooling(*this);
}
Window MaxPool2DGradOp::getWindow() { return getPoolingWindow(*this); }

LogicalResult SumPool2DOp::verify() { return verifyPooling(*this); }
Window SumPool2DOp::getWindow() { return getPoolingWindow(*this); }

LogicalResult SumPool2DGradOp::verify() { return verifyPooling(*this); }
Window SumPool2DGradOp::getWindow() { return getPoolingWindow(*this); }

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

Value BatchNormOp::buildForEvaluation(OpBuilder &builder) {
  auto norm = cast<BatchNormOp>(builder.clone(**this));
  norm.setRunning(true);
  return norm.getY();
}
