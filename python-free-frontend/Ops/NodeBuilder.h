//===- NodeBuilder.h - builds the dtc ops of one ONNX node ------*- C++ -*-===//
//
// The interface of import rules: the node, its operands as IR values, and short
// forms of common ops. Every op has the node's name as its location.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_NODEBUILDER_H
#define DTC_FRONTEND_OPS_NODEBUILDER_H

#include "Shapes/Call.h"
#include "Support/Problem.h"

#include "dtc/Dialect/Dialect.h"

namespace dtc::frontend {

class Randomness;

/// Builds the ops of one node.
class NodeBuilder {
public:
  NodeBuilder(const Call &call, mlir::OpBuilder &builder, mlir::Location loc,
              llvm::ArrayRef<mlir::Value> operands,
              Randomness *randomness = nullptr)
      : call(call), randomness(randomness), builder(builder), loc(loc),
        operands(operands), results(call.node.output_size()) {}

  const Call &call;
  /// State of all random nodes. Not null in a rule.
  Randomness *randomness;

  /// Name of the node in messages.
  llvm::StringRef getName() const {
    return llvm::cast<mlir::NameLoc>(loc).getName();
  }
  mlir::Value operand(unsigned i) const { return operands[i]; }
  llvm::ArrayRef<mlir::Value> allOperands() const { return operands; }
  void setResult(unsigned i, mlir::Value value) { results[i] = value; }
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }
  /// Whether output `i` of the node has a name, so that something can read it.
  bool hasResult(unsigned i) const {
    return i < results.size() && !call.node.output(i).empty();
  }

  /// Errors if the operands have different element types, or if operand `i` is
  /// not a float.
  llvm::Error requireSameTypes() const { return call.requireSameTypes(); }
  llvm::Error requireFloat(unsigned i) const;

  template <typename Op, typename... Args> Op create(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }

  /// Builds `Op` on NumPy-broadcast operands. The result has the element type
  /// of operand `typeFrom`.
  template <typename Op>
  mlir::Value elementwise(mlir::ValueRange operands, unsigned typeFrom = 0) {
    llvm::SmallVector<mlir::Value> values(operands);
    Shape shape = joinShapes(values);
    return create<Op>(typeOf(shape, elementType(values[typeFrom])), values);
  }
  mlir::Value compare(Comparison predicate, mlir::Value a, mlir::Value b);
  /// Builds a select, also of booleans.
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return elementwise<AddOp>({a, b});
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return elementwise<SubOp>({a, b});
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return elementwise<MulOp>({a, b});
  }

  mlir::Value constant(const HostTensor &tensor);
  /// 0, 1, ..., size - 1 along dimension `dim` of a tensor of `rank`
  /// dimensions. All other dimensions have size 1.
  mlir::Value countAlong(int64_t size, int64_t dim, int64_t rank, DType dtype);
  mlir::IntegerAttr intAttribute(int64_t value) {
    return builder.getI64IntegerAttr(value);
  }
  /// A scalar constant of the element type of `like`.
  mlir::Value scalar(double value, mlir::Value like);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  /// Swaps two dimensions.
  mlir::Value swapDims(mlir::Value x, int64_t a, int64_t b);
  /// [batch, channels, ...] to [batch, ..., channels], and back.
  mlir::Value channelsLast(mlir::Value x);
  mlir::Value channelsFirst(mlir::Value x);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, int64_t size);
  mlir::Value cast(mlir::Value x, DType dtype);
  /// Builds a reduction. Reduced dimensions stay with size 1.
  template <typename Op>
  mlir::Value reduce(mlir::Value x, llvm::ArrayRef<int64_t> axes) {
    if (axes.empty())
      return x;
    Shape shape(shapeOf(x));
    for (int64_t axis : axes)
      shape[axis] = 1;
    return create<Op>(typeOf(shape, elementType(x)), x, axes);
  }
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> axes);

  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value x);
  static mlir::Type elementType(mlir::Value x);
  static mlir::RankedTensorType typeOf(llvm::ArrayRef<int64_t> shape,
                                       mlir::Type elementType);
  mlir::Type toType(DType dtype);

private:
  /// The common shape. Removes broadcast ops from `values`, since elementwise
  /// ops broadcast themselves.
  static Shape joinShapes(llvm::SmallVectorImpl<mlir::Value> &values);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::ArrayRef<mlir::Value> operands;
  llvm::SmallVector<mlir::Value> results;
};

mlir::Type toType(mlir::MLIRContext *context, DType dtype);
DType fromType(mlir::Type type);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_NODEBUILDER_H
