//===- LayoutBuilder.h - build ops with inferred layouts --------*- C++ -*-===//
//
// For passes that replace an op with several after layouts are chosen. The
// sharding rule of each new op infers the layouts of its results.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_ATTENTION_LAYOUTBUILDER_H
#define DTC_LIB_SCHEDULE_ATTENTION_LAYOUTBUILDER_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::ShapedType>(value.getType()).getShape();
}

/// Creates ops whose layouts follow from those of their operands.
class LayoutBuilder {
public:
  LayoutBuilder(mlir::Operation *op)
      : b(op), loc(op->getLoc()),
        mesh(getLayout(op->getOperand(0).getType()).getMesh()) {}

  template <typename OpTy, typename... Args> OpTy createOp(Args &&...args) {
    auto op = OpTy::create(b, loc, std::forward<Args>(args)...);
    setLayouts(op);
    return op;
  }
  template <typename OpTy, typename... Args>
  mlir::Value create(Args &&...args) {
    return createOp<OpTy>(std::forward<Args>(args)...)->getResult(0);
  }
  mlir::Value cast(mlir::Value x, mlir::Type element) {
    return getElementTypeOrSelf(x) == element
               ? x
               : create<CastOp>(getPlain(x, shapeOf(x), element), x);
  }
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    return shapeOf(x) == shape ? x : create<ReshapeOp>(getPlain(x, shape), x);
  }
  mlir::Value transpose(mlir::Value x) {
    return create<TransposeOp>(x, llvm::ArrayRef<int64_t>{0, 2, 1, 3});
  }
  /// A copy of a range of a dimension; the value itself if that is all of it.
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, int64_t size) {
    auto shape = llvm::to_vector(shapeOf(x));
    if (shape[axis] == size)
      return x;
    shape[axis] = size;
    return create<SliceOp>(getPlain(x, shape), x, axis, start, /*view=*/false);
  }
  /// A view of one index of a dimension.
  mlir::Value view(mlir::Value x, int64_t axis, int64_t index) {
    auto shape = llvm::to_vector(shapeOf(x));
    shape[axis] = 1;
    return create<SliceOp>(getPlain(x, shape), x, axis, index, /*view=*/true);
  }
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t axis) {
    if (parts.size() == 1)
      return parts.front();
    auto shape = llvm::to_vector(shapeOf(parts.front()));
    shape[axis] = 0;
    for (mlir::Value part : parts)
      shape[axis] += shapeOf(part)[axis];
    return create<ConcatOp>(getPlain(parts.front(), shape), parts, axis);
  }
  /// The sum of parts. Each part covers the beginning of a dimension of `size`.
  mlir::Value sum(llvm::ArrayRef<mlir::Value> parts, int64_t axis,
                  int64_t size) {
    mlir::Value all;
    for (mlir::Value part : parts) {
      auto shape = llvm::to_vector(shapeOf(part));
      if (shape[axis] != size) {
        shape[axis] = size;
        part = create<PadOp>(getPlain(part, shape), part, axis, 0);
      }
      all = all ? create<AddOp>(all, part) : part;
    }
    return all;
  }
  /// Reduces the last dimension.
  template <typename OpTy> mlir::Value reduce(mlir::Value x) {
    int64_t rank = shapeOf(x).size();
    return create<OpTy>(x, llvm::ArrayRef<int64_t>{rank - 1});
  }
  mlir::Value constant(mlir::DenseElementsAttr value) {
    return create<ConstantOp>(value.getType(), value);
  }
  mlir::Value number(double value, mlir::Type element) {
    return constant(
        mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({}, element),
                                     b.getFloatAttr(element, value)));
  }
  /// Repeats a constant in the layout of `x`.
  mlir::Value broadcast(mlir::Value constant, mlir::Value x) {
    auto op =
        BroadcastOp::create(b, loc, getPlain(constant, shapeOf(x)), constant);
    setLayouts(op, getLayout(x.getType()));
    return op.getY();
  }
  /// The numbers from `first` on in this shape.
  mlir::Value count(llvm::ArrayRef<int64_t> shape, int64_t first = 0) {
    auto type = mlir::RankedTensorType::get(shape, b.getI32Type());
    auto numbers = llvm::map_to_vector(
        llvm::seq(first, first + type.getNumElements()),
        [](int64_t number) { return static_cast<int32_t>(number); });
    return constant(
        mlir::DenseElementsAttr::get(type, llvm::ArrayRef(numbers)));
  }

  /// The reason why an op has no layout; empty if all have one.
  llvm::StringRef getError() const { return error; }

private:
  static mlir::RankedTensorType getPlain(mlir::Value like,
                                         llvm::ArrayRef<int64_t> shape,
                                         mlir::Type element = {}) {
    return mlir::RankedTensorType::get(
        shape, element ? element : getElementTypeOrSelf(like));
  }
  /// A repetition takes the layout `repeated`.
  void setLayouts(mlir::Operation *op, LayoutAttr repeated = {});

  mlir::OpBuilder b;
  mlir::Location loc;
  MeshAttr mesh;
  std::string error;
};

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_ATTENTION_LAYOUTBUILDER_H
