//===- DnnAttention.cpp - attention as graphs of cuDNN --------------------===//
//
// The library recognizes attention by its operations, in the order and with the
// layouts that its engines know. Tensors between them are virtual, so scores
// are never in memory.
//
//===----------------------------------------------------------------------===//

#include "DnnAttention.h"

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"

#include <cmath>

using namespace dtc::rt;

using Dims = std::array<int64_t, 4>;

namespace {

/// A tensor of a graph and its dimensions.
struct Value {
  const DnnDescriptor *tensor;
  Dims dims;
};

/// Operations on values of [batch, heads, rows, columns].
class AttentionGraph {
public:
  AttentionGraph(const DnnAttention &shape, DnnProgram &program)
      : shape(shape), program(program),
        type(shape.dtype == DTC_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16) {}

  Value queries(int number) {
    return operand(number, shape.rows, shape.heads, shape.width, shape.queries);
  }
  Value keys(int number) {
    return operand(number, shape.cols, shape.groups, shape.width, shape.keys);
  }
  Value values(int number) {
    return operand(number, shape.cols, shape.groups, shape.valueWidth,
                   shape.values);
  }
  Value result(int number) {
    return operand(number, shape.rows, shape.heads, shape.valueWidth,
                   shape.result);
  }
  /// Rows are columns.
  Value transposedKeys(int number) {
    return operand(number, shape.cols, shape.groups, shape.width, shape.keys,
                   /*transposed=*/true);
  }
  Value transposedValues(int number) {
    return operand(number, shape.cols, shape.groups, shape.valueWidth,
                   shape.values, /*transposed=*/true);
  }
  /// A number of f32 for each row.
  Value rowNumbers(DnnProgram::Place where, int64_t heads) {
    return place(where, {shape.batch, shape.heads, shape.rows, 1},
                 {heads * shape.rows, shape.rows, 1, 1}, CUDNN_DATA_FLOAT, 4);
  }
  Value scalar(float value) {
    return place(program.addConstant(value), {1, 1, 1, 1}, {1, 1, 1, 1},
                 CUDNN_DATA_FLOAT, 4, DnnTensor::ByValue);
  }

  Value matmul(Value a, Value b, std::optional<Value> out = {}) {
    Value c = out ? *out
                  : makeVirtual({a.dims[0], a.dims[1], a.dims[2], b.dims[3]},
                                CUDNN_DATA_FLOAT);
    DnnDescriptor &function = graph.addPart(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    function.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT).finalize();
    graph.addOperation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, function)
        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, *a.tensor)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, *b.tensor)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, *c.tensor)
        .finalize();
    return c;
  }

  Value pointwise(cudnnPointwiseMode_t mode, Value x,
                  std::optional<Value> b = {}, std::optional<Value> out = {}) {
    Value y = out ? *out : makeVirtual(x.dims, CUDNN_DATA_FLOAT);
    addPointwise(mode, CUDNN_DATA_FLOAT, x, b, {}, y);
    return y;
  }

  /// Along the columns.
  Value reduce(cudnnReduceTensorOp_t mode, Value x,
               std::optional<Value> out = {}) {
    Value y = out ? *out
                  : makeVirtual({x.dims[0], x.dims[1], x.dims[2], 1},
                                CUDNN_DATA_FLOAT);
    DnnDescriptor &function = graph.addPart(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    function
        .set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
             1, &mode)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    bool isDeterministic = true;
    function
        .set(CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, CUDNN_TYPE_BOOLEAN, 1,
             &isDeterministic)
        .finalize();
    graph.addOperation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, function)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *x.tensor)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *y.tensor)
        .finalize();
    return y;
  }

  /// Rows are columns, in the operands' type.
  Value transpose(Value x, const Dims &strides) {
    Dims dims = {x.dims[0], x.dims[1], x.dims[3], x.dims[2]};
    Value y = makeVirtual(dims, type, strides);
    graph.addOperation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *x.tensor)
        .set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *y.tensor)
        .finalize();
    return y;
  }

  /// Scores with the scale and the mask.
  Value scores(Value q, Value kt, Value scale, int maskNumber) {
    Value scores = pointwise(CUDNN_POINTWISE_MUL, matmul(q, kt), scale);
    if (!shape.maskDims)
      return scores;
    return pointwise(CUDNN_POINTWISE_ADD, scores, mask(maskNumber));
  }

  /// Scores of later columns become -inf.
  Value maskCausal(Value scores) {
    auto index = [&](int64_t axis) {
      Value numbers = makeVirtual(scores.dims, CUDNN_DATA_INT32);
      addPointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, scores, {}, {},
                   numbers, axis);
      return numbers;
    };
    Value row = index(2), column = index(3);
    Value isSeen = makeVirtual(scores.dims, CUDNN_DATA_BOOLEAN);
    addPointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, row, column, {},
                 isSeen);
    Value masked = makeVirtual(scores.dims, CUDNN_DATA_FLOAT);
    addPointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, scores,
                 scalar(-INFINITY), isSeen, masked);
    return masked;
  }

  Value makeVirtual(const Dims &dims, cudnnDataType_t element) {
    return makeVirtual(
        dims, element,
        {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1});
  }
  Value makeVirtual(const Dims &dims, cudnnDataType_t element,
                    const Dims &strides) {
    return {&graph.addTensor(++lastVirtual, element, dims, strides, 16,
                             DnnTensor::Virtual),
            dims};
  }

  bool find(const DnnTarget &target, int64_t workspaceBytes) {
    return program.addStep(target, graph, true, workspaceBytes,
                           std::move(places));
  }
  cudnnDataType_t elementType() const { return type; }

private:
  /// Samples or queries that share a mask have stride 0. Heads that do have a
  /// dimension of size 1, as PyTorch gives them to the library.
  Value mask(int number) {
    auto has = [&](dtc_attention_mask dim) { return shape.maskDims & dim; };
    int64_t rows = has(DTC_MASK_QUERIES) ? shape.rows : 1,
            heads = has(DTC_MASK_HEADS) ? shape.allHeads : 1,
            ofHead = rows * shape.cols;
    return place({number},
                 {shape.batch, has(DTC_MASK_HEADS) ? shape.heads : 1,
                  shape.rows, shape.cols},
                 {has(DTC_MASK_BATCH) ? heads * ofHead : 0, ofHead,
                  has(DTC_MASK_QUERIES) ? shape.cols : 0, 1},
                 type, 2);
  }
  Value operand(int number, int64_t length, int64_t heads, int64_t width,
                DnnAttention::Strides own, bool transposed = false) {
    Dims dims = {shape.batch, heads, length, width},
         strides = {length * own.token, own.head, own.token, 1};
    if (transposed) {
      std::swap(dims[2], dims[3]);
      std::swap(strides[2], strides[3]);
    }
    return place({number}, dims, strides, type, 16);
  }
  Value place(DnnProgram::Place where, const Dims &dims, const Dims &strides,
              cudnnDataType_t element, int64_t alignment,
              DnnTensor kind = DnnTensor::InMemory) {
    places.push_back(where);
    return {&graph.addTensor(int64_t(places.size()), element, dims, strides,
                             alignment, kind),
            dims};
  }
  void addPointwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute, Value x,
                    std::optional<Value> b, std::optional<Value> t, Value y,
                    std::optional<int64_t> axis = {}) {
    DnnDescriptor &function = graph.addPart(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    function.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, compute);
    if (axis)
      function.set(CUDNN_ATTR_POINTWISE_AXIS, *axis);
    function.finalize();
    DnnDescriptor &operation =
        graph.addOperation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *x.tensor)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.tensor);
    if (b)
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b->tensor);
    if (t)
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *t->tensor);
    operation.finalize();
  }

  const DnnAttention &shape;
  DnnProgram &program;
  cudnnDataType_t type;
  DnnGraph graph;
  std::vector<DnnProgram::Place> places; ///< by identifier, from 1
  int64_t lastVirtual = 100;
};

} // namespace

/// Operands: queries, keys, values, mask, result, lse.
std::optional<DnnProgram> dtc::rt::findAttention(const DnnTarget &target,
                                                 const DnnAttention &s,
                                                 int64_t workspaceBytes) {
  DnnProgram program;
  AttentionGraph g(s, program);
  Value q = g.queries(0);
  Value kt = g.transposedKeys(1);
  Value v = g.values(2);
  Value o = g.result(4);
  Value lse = g.rowNumbers({5}, s.allHeads);

  Value scores = g.scores(q, kt, g.scalar(float(s.scale)), 3);
  if (s.causal)
    scores = g.maskCausal(scores);
  Value most = g.reduce(CUDNN_REDUCE_TENSOR_MAX, scores);
  Value powers = g.pointwise(CUDNN_POINTWISE_EXP,
                             g.pointwise(CUDNN_POINTWISE_SUB, scores, most));
  Value sum = g.reduce(CUDNN_REDUCE_TENSOR_ADD, powers);
  g.pointwise(CUDNN_POINTWISE_ADD, most, g.pointwise(CUDNN_POINTWISE_LOG, sum),
              lse);
  Value weights = g.makeVirtual(scores.dims, g.elementType());
  g.pointwise(CUDNN_POINTWISE_DIV, powers, sum, weights);
  g.matmul(weights, v, o);
  if (!g.find(target, workspaceBytes))
    return std::nullopt;
  return program;
}

/// The engine of gradients that keeps their bits on Blackwell of data centers,
/// where heuristics give others, which the library does not note. Number and
/// knobs are facts of NVIDIA's cudnn-frontend; elsewhere it takes heuristics.
static std::optional<DnnEngine> getEngineOfGrad(const DnnTarget &target) {
  if (target.architecture / 10 != 10)
    return std::nullopt;
  size_t version = DnnFunctions::get().cudnnGetVersion();
  if (version < 91800)
    fatal("found cuDNN %zu.%zu, expected 9.18 or later, for gradients of "
          "attention on sm_%d that are the same in every run; install its "
          "libraries, or compile with --precision fp32",
          version / 10000, version / 100 % 100, target.architecture);
  DnnEngine engine{target.architecture > 103 ? 17 : 5, {}};
  if (version < 92300)
    engine.knobs = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 31},
                    {CUDNN_KNOB_TYPE_STAGES, 2}};
  else
    engine.knobs = {
        {CUDNN_KNOB_TYPE_TILE_M, 3},     {CUDNN_KNOB_TYPE_TILE_N, 2},
        {CUDNN_KNOB_TYPE_KERNEL_CFG, 2}, {CUDNN_KNOB_TYPE_STREAM_K, 0},
        {CUDNN_KNOB_TYPE_TILE_CGA_M, 0}, {CUDNN_KNOB_TYPE_STAGES, 2}};
  return engine;
}

/// Operands: those of the forward pass, then the gradients of result, queries,
/// keys and values.
std::optional<DnnProgram> dtc::rt::findAttentionGrad(const DnnTarget &target,
                                                     const DnnAttention &s,
                                                     int64_t workspaceBytes) {
  DnnProgram program;
  AttentionGraph g(s, program);
  Value q = g.queries(0);
  Value kt = g.transposedKeys(1);
  Value vt = g.transposedValues(2);
  Value o = g.result(4);
  Value lse = g.rowNumbers({5}, s.allHeads);
  Value dO = g.result(6);
  Value dq = g.queries(7);
  Value dk = g.keys(8);
  Value dv = g.values(9);

  // The product of the result and its gradient, for each row.
  Value along = g.rowNumbers(
      program.addTemporary(s.batch * s.heads * s.rows * 4), s.heads);
  Value product = g.makeVirtual(dO.dims, CUDNN_DATA_FLOAT,
                                {s.heads * s.rows * s.valueWidth, s.valueWidth,
                                 s.heads * s.valueWidth, 1});
  g.pointwise(CUDNN_POINTWISE_MUL, dO, o, product);
  g.pointwise(CUDNN_POINTWISE_MUL, g.reduce(CUDNN_REDUCE_TENSOR_ADD, product),
              g.scalar(1), along);

  Value scale = g.scalar(float(s.scale));
  Value scores =
      g.pointwise(CUDNN_POINTWISE_SUB, g.scores(q, kt, scale, 3), lse);
  if (s.causal)
    scores = g.maskCausal(scores);
  Value weights = g.pointwise(CUDNN_POINTWISE_EXP, scores);
  const Dims flipped = {s.heads * s.rows * s.cols, s.rows * s.cols, 1, s.cols};
  // Heads of a group add up.
  auto multiply = [&](Value transposed, Value by, Value out, int64_t width) {
    if (s.heads == s.groups) {
      g.matmul(transposed, by, out);
      return;
    }
    Value all =
        g.makeVirtual({s.batch, s.heads, s.cols, width}, g.elementType());
    g.matmul(transposed, by, all);
    g.reduce(CUDNN_REDUCE_TENSOR_ADD, all, out);
  };
  multiply(g.transpose(weights, flipped), dO, dv, s.valueWidth);

  Value dWeights = g.matmul(dO, vt);
  Value dScores = g.pointwise(
      CUDNN_POINTWISE_MUL,
      g.pointwise(CUDNN_POINTWISE_MUL,
                  g.pointwise(CUDNN_POINTWISE_SUB, dWeights, along), weights),
      scale);
  multiply(g.transpose(dScores, flipped), q, dk, s.width);
  Value k =
      g.transpose(kt, {s.cols * s.keys.token, s.keys.head, s.keys.token, 1});
  g.matmul(dScores, k, dq);
  std::optional<DnnEngine> engine = getEngineOfGrad(target);
  DnnTarget own = target;
  own.engine = engine ? &*engine : nullptr;
  if (!g.find(own, workspaceBytes))
    return std::nullopt;
  return program;
}

std::string dtc::rt::nameOf(const DnnAttention &s, bool isGrad) {
  std::string strides;
  for (auto [token, head] : {s.queries, s.keys, s.values, s.result})
    strides += " " + formatShape({token, head});
  return format("%s %sattention%s", nameOf(s.dtype), s.causal ? "causal " : "",
                isGrad ? ", gradient" : "") +
         ": queries " + formatShape({s.batch, s.rows, s.heads, s.width}) +
         ", keys " + formatShape({s.batch, s.cols, s.groups, s.width}) +
         ", values " + formatShape({s.batch, s.cols, s.groups, s.valueWidth}) +
         ", strides" + strides +
         format(", of %lld heads", (long long)s.allHeads) +
         format(", mask %d", s.maskDims);
}
