//===- MatMul.cpp - import of matrix products -----------------------------===//
//
// MatMul and Gemm. A product with a 2-D weight is one 2-D product for any rank
// of the activations. A transpose of an operand becomes a flag.
//
//===----------------------------------------------------------------------===//

#include "Ops/MatMul.h"
#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Removes a transpose of the last two dimensions from `value`, and returns
/// true. The product sets its flag instead. Other parts of the transpose stay.
bool takeTranspose(NodeBuilder &node, Value &value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return false;
  Shape permutation(transpose.getPermutation());
  int64_t rank = permutation.size();
  if (permutation[rank - 2] != rank - 1)
    return false;
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  value = node.transpose(transpose.getX(), permutation);
  return true;
}

Error importMatMul(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  Value a = node.operand(0), b = node.operand(1);
  Shape left(node.shapeOf(a)), right(node.shapeOf(b));
  if (left.empty() || right.empty())
    return problem("multiplies a scalar", "use Mul");
  // A vector is a row as the left operand and a column as the right one.
  bool isRow = left.size() == 1, isColumn = right.size() == 1;
  if (isRow)
    left.insert(left.begin(), 1);
  if (isColumn)
    right.push_back(1);
  if (left.back() != right[right.size() - 2])
    return problem("multiplies " + toString(node.call.shape(0)) + " by " +
                   toString(node.call.shape(1)) + ": inner sizes differ");
  a = node.reshape(a, left);
  b = node.reshape(b, right);

  Expected<Shape> batch = broadcastShapes(ArrayRef(left).drop_back(2),
                                          ArrayRef(right).drop_back(2));
  if (!batch)
    return batch.takeError();
  Shape result = *batch;
  result.push_back(left[left.size() - 2]);
  result.push_back(right.back());
  if (right.size() == 2 && left.size() > 2) {
    int64_t rows = numElements(ArrayRef(left).drop_back());
    a = node.reshape(a, {rows, left.back()});
  } else {
    Shape leftFull = *batch, rightFull = *batch;
    leftFull.append(left.end() - 2, left.end());
    rightFull.append(right.end() - 2, right.end());
    a = node.broadcast(a, leftFull);
    b = node.broadcast(b, rightFull);
  }
  Value value = buildProduct(node, a, false, b, false);
  if (isColumn)
    result.pop_back();
  if (isRow)
    result.erase(result.end() - (isColumn ? 1 : 2));
  node.setResult(0, node.reshape(value, result));
  return Error::success();
}

Error importGemm(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  const Call &call = node.call;
  if (call.rank(0) != 2 || call.rank(1) != 2)
    return problem("multiplies " + toString(call.shape(0)) + " by " +
                   toString(call.shape(1)) + ", expected matrices");
  bool transposeA = call.getInt("transA", 0);
  bool transposeB = call.getInt("transB", 0);
  if (call.shape(0)[transposeA ? 0 : 1] != call.shape(1)[transposeB ? 1 : 0])
    return problem("multiplies " + toString(call.shape(0)) + " by " +
                   toString(call.shape(1)) + ": inner sizes differ");
  Value result = buildProduct(node, node.operand(0), transposeA,
                              node.operand(1), transposeB);
  double alpha = call.getFloat("alpha", 1), beta = call.getFloat("beta", 1);
  if (alpha != 1)
    result = node.mul(result, node.scalar(alpha, result));
  if (call.hasOperand(2) && beta != 0) {
    Expected<Shape> shape =
        broadcastShapes(node.shapeOf(result), call.shape(2));
    if (!shape)
      return shape.takeError();
    if (ArrayRef<int64_t>(*shape) != node.shapeOf(result))
      return problem("bias " + toString(call.shape(2)) +
                     " does not broadcast to " +
                     toString(node.shapeOf(result)));
    Value bias = node.operand(2);
    if (beta != 1)
      bias = node.mul(bias, node.scalar(beta, bias));
    result = node.add(result, bias);
  }
  node.setResult(0, result);
  return Error::success();
}
} // namespace

Value buildProduct(NodeBuilder &node, Value a, bool transposeA, Value b,
                   bool transposeB) {
  ArrayRef<int64_t> left = node.shapeOf(a), right = node.shapeOf(b);
  Shape shape(left.drop_back(2));
  shape.push_back(left.drop_back(transposeA ? 0 : 1).back());
  shape.push_back(right.drop_back(transposeB ? 1 : 0).back());
  transposeA ^= takeTranspose(node, a);
  transposeB ^= takeTranspose(node, b);
  return node.create<MatMulOp>(node.typeOf(shape, node.elementType(a)), a, b,
                               transposeA, transposeB);
}

void addMatMulOperators(OperatorTable &table) {
  table.add({
      {"MatMul", 1, 2, 2, "", importMatMul},
      {"Gemm", 7, 2, 3, "alpha beta transA transB", importGemm},
  });
}

} // namespace dtc::frontend
