//===- Attention.cpp - import of attention and rotary embeddings ----------===//
//
// Attention becomes its matrix products and its softmax, with heads as a
// separate dimension, as exporters write it before opset 23.
//
//===----------------------------------------------------------------------===//

#include "Ops/Indices.h"
#include "Ops/MatMul.h"
#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"

#include <cmath>
#include <limits>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Converts x [batch, positions, heads * size] to [batch, heads, positions,
/// size].
Expected<Value> splitHeads(NodeBuilder &node, Value x, StringRef attribute) {
  ArrayRef<int64_t> shape = node.shapeOf(x);
  if (shape.size() == 4)
    return x;
  int64_t heads = node.call.getInt(attribute, 0);
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads != 0)
    return problem(attribute + " is " + Twine(heads) + " for an operand " +
                       toString(shape),
                   "expected rank 4, or rank 3 and a divisor of its last "
                   "dimension");
  x = node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return node.swapDims(x, 1, 2);
}

Value joinHeads(NodeBuilder &node, Value x) {
  Shape shape(node.shapeOf(x));
  return node.reshape(node.swapDims(x, 1, 2),
                      {shape[0], shape[2], shape[1] * shape[3]});
}

/// Repeats each head for all query heads that share it.
Value repeatHeads(NodeBuilder &node, Value x, int64_t times) {
  if (times == 1)
    return x;
  Shape shape(node.shapeOf(x)), grouped = shape, full = shape;
  grouped.insert(grouped.begin() + 2, 1);
  Shape repeated = grouped;
  repeated[2] = times;
  full[1] *= times;
  return node.reshape(node.broadcast(node.reshape(x, grouped), repeated), full);
}

struct AttentionOperands {
  Value query, key, value;
  int64_t past = 0; ///< number of keys before those of the operand
};

Expected<AttentionOperands> readOperands(NodeBuilder &node) {
  AttentionOperands result;
  Expected<Value> query = splitHeads(node, node.operand(0), "q_num_heads");
  if (!query)
    return query.takeError();
  result.query = *query;
  for (unsigned i : {1, 2}) {
    Expected<Value> x = splitHeads(node, node.operand(i), "kv_num_heads");
    if (!x)
      return x.takeError();
    if (node.call.hasOperand(i + 3)) {
      Value past = node.operand(i + 3);
      result.past = node.shapeOf(past)[2];
      Shape shape(node.shapeOf(*x));
      shape[2] += result.past;
      x = node.create<ConcatOp>(node.typeOf(shape, node.elementType(*x)),
                                mlir::ValueRange{past, *x}, 2);
    }
    (i == 1 ? result.key : result.value) = *x;
    if (node.hasResult(i))
      node.setResult(i, *x);
  }
  ArrayRef<int64_t> q = node.shapeOf(result.query);
  ArrayRef<int64_t> k = node.shapeOf(result.key);
  ArrayRef<int64_t> v = node.shapeOf(result.value);
  if (q[0] != k[0] || k.take_front(3) != v.take_front(3) || q[3] != k[3] ||
      q[1] % k[1] != 0)
    return problem("queries " + toString(q) + ", keys " + toString(k) +
                   " and values " + toString(v) + " do not fit");
  result.key = repeatHeads(node, result.key, q[1] / k[1]);
  result.value = repeatHeads(node, result.value, q[1] / k[1]);
  return result;
}

/// Whether each query may see each key, by a boolean mask and by causality.
/// Null if all queries see all keys.
Value findVisible(NodeBuilder &node, ArrayRef<int64_t> scores, int64_t past) {
  const Call &call = node.call;
  Value visible;
  if (call.hasOperand(3) && call.operands[3].dtype == DType::Bool)
    visible = node.operand(3);
  if (call.getInt("is_causal", 0)) {
    Value query = node.add(node.countAlong(scores[2], 0, 2, DType::I32),
                           node.constant(HostTensor::scalar(DType::I32, past)));
    Value causal = node.compare(Comparison::ge, query,
                                node.countAlong(scores[3], 1, 2, DType::I32));
    visible =
        visible ? node.elementwise<LogicalAndOp>({visible, causal}) : causal;
  }
  return visible;
}

Error checkMask(const Call &call, ArrayRef<int64_t> scores) {
  if (!call.hasOperand(3))
    return Error::success();
  Expected<Shape> shape = broadcastShapes(scores, call.shape(3));
  if (!shape)
    return shape.takeError();
  if (ArrayRef(*shape) != scores)
    return problem("mask " + toString(call.shape(3)) +
                   " does not broadcast to " + toString(scores));
  return Error::success();
}

/// Softmax over the visible keys. A query that sees none has only zero weights.
/// Masked scores are the lowest finite number, since -inf would make gradients
/// NaN.
Value buildWeights(NodeBuilder &node, Value scores, Value visible) {
  if (!visible)
    return node.elementwise<SoftmaxOp>(scores);
  bool isDouble = fromType(node.elementType(scores)) == DType::F64;
  double lowest = isDouble ? std::numeric_limits<double>::lowest()
                           : std::numeric_limits<float>::lowest();
  scores = node.select(visible, scores, node.scalar(lowest, scores));
  Value weights = node.elementwise<SoftmaxOp>(scores);
  return node.select(visible, weights, node.scalar(0, weights));
}

Error importAttention(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  if (call.hasOperand(6))
    return problem("operand 'nonpad_kv_seqlen' is not supported",
                   "mask what is padding with attn_mask");
  Expected<AttentionOperands> operands = readOperands(node);
  if (!operands)
    return operands.takeError();
  Value query = operands->query;
  ArrayRef<int64_t> q = node.shapeOf(query);
  double scale = call.getFloat("scale", 1 / std::sqrt(double(q[3])));
  query = node.mul(query, node.scalar(scale, query));
  Value scores = buildProduct(node, query, false, operands->key, true);
  ArrayRef<int64_t> size = node.shapeOf(scores).take_back(2);
  if (Error error = requireFoldable({size[0] + size[1]}))
    return error;
  if (Error error = checkMask(call, node.shapeOf(scores)))
    return error;
  if (double cap = call.getFloat("softcap", 0); cap != 0) {
    scores = node.mul(scores, node.scalar(1 / cap, scores));
    scores =
        node.mul(node.elementwise<TanhOp>(scores), node.scalar(cap, scores));
  }
  if (call.hasOperand(3) && isFloat(call.operands[3].dtype))
    scores = node.add(scores, node.operand(3));
  Value visible = findVisible(node, node.shapeOf(scores), operands->past);
  Value weights = buildWeights(node, scores, visible);
  Value result = buildProduct(node, weights, false, operands->value, false);
  node.setResult(0, call.rank(0) == 3 ? joinHeads(node, result) : result);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Rotary embeddings
//===----------------------------------------------------------------------===//

/// Reads cosines or sines of the angles as [batch or 1, 1, positions, size /
/// 2].
Expected<Value> readAngles(NodeBuilder &node, unsigned i) {
  Value cache = node.operand(i);
  if (node.call.hasOperand(3)) {
    auto positions =
        checkIndices(node, node.operand(3), node.call.shape(i).front());
    if (!positions)
      return positions.takeError();
    cache = dropOutside(node, node.create<GatherOp>(cache, positions->values),
                        positions->areInside, 1);
  }
  Shape shape(node.shapeOf(cache));
  shape.insert(shape.end() - 2, 1);
  return node.reshape(cache, shape);
}

/// Rotates the first `size` elements of each head as pairs. A pair is one
/// element of each half, or two neighbors if interleaved.
Error importRotaryEmbedding(NodeBuilder &node) {
  const Call &call = node.call;
  if (Error error = node.requireFloat(0))
    return error;
  Expected<Value> heads = splitHeads(node, node.operand(0), "num_heads");
  if (!heads)
    return heads.takeError();
  Shape shape(node.shapeOf(*heads));
  int64_t size = call.getInt("rotary_embedding_dim", 0), last = 3;
  if (size == 0)
    size = shape[last];
  SmallVector<Value, 2> angles;
  for (unsigned operand : {1, 2}) {
    Expected<Value> part = readAngles(node, operand);
    if (!part)
      return part.takeError();
    angles.push_back(*part);
  }
  Value cos = angles[0], sin = angles[1];
  if (size % 2 != 0 || size > shape[last] ||
      node.shapeOf(cos).back() != size / 2)
    return problem("rotates " + Twine(size) + " of " + Twine(shape[last]) +
                   " elements, but the caches are " + toString(call.shape(1)));
  bool interleaved = call.getInt("interleaved", 0);
  Value turned = node.slice(*heads, last, 0, size);
  Shape pairs(shape), half(shape);
  half[last] = size / 2;
  pairs[last] = interleaved ? size / 2 : 2;
  pairs.push_back(interleaved ? 2 : size / 2);
  int64_t axis = interleaved ? 4 : 3;
  turned = node.reshape(turned, pairs);
  Value x = node.reshape(node.slice(turned, axis, 0, 1), half);
  Value y = node.reshape(node.slice(turned, axis, 1, 1), half);
  Value parts[] = {node.sub(node.mul(x, cos), node.mul(y, sin)),
                   node.add(node.mul(x, sin), node.mul(y, cos))};
  Shape single(pairs);
  single[axis] = 1;
  for (Value &part : parts)
    part = node.reshape(part, single);
  mlir::Type element = node.elementType(x);
  Value result =
      node.create<ConcatOp>(node.typeOf(pairs, element), parts, axis);
  half[last] = size;
  result = node.reshape(result, half);
  if (size < shape[last]) {
    Value rest = node.slice(*heads, last, size, shape[last] - size);
    result = node.create<ConcatOp>(node.typeOf(shape, element),
                                   mlir::ValueRange{result, rest}, last);
  }
  node.setResult(0, call.rank(0) == 3 ? joinHeads(node, result) : result);
  return Error::success();
}
} // namespace

void addAttentionOperators(OperatorTable &table) {
  table.add({
      {"Attention", 23, 3, 7,
       "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap "
       "softmax_precision",
       importAttention},
      {"RotaryEmbedding", 23, 3, 4,
       "interleaved num_heads rotary_embedding_dim", importRotaryEmbedding},
  });
}

} // namespace dtc::frontend
