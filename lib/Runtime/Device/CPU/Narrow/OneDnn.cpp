//===- OneDnn.cpp - products of bf16 by oneDNN ----------------------------===//
//
// Activations have channels last, as in the arena. The library chooses the
// order of weights, which are small: they are reordered before the call, and
// gradients of weights after it.
//===----------------------------------------------------------------------===//

#include "OneDnn.h"

#include "Core/Fatal.h"
#include "System/Mapping.h"

#include <dnnl.hpp>
#include <map>
#include <optional>
#include <tuple>

using namespace dtc::rt;
using dnnl::memory;

bool OneDnn::hasBf16() {
  dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core_bf16 ||
         isa == dnnl::cpu_isa::avx512_core_amx;
}

namespace {

constexpr auto bf16 = memory::data_type::bf16;

memory::data_type typeOfResult(bool keepsSums) {
  return keepsSums ? memory::data_type::f32 : bf16;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

dnnl::primitive_attr adding() {
  dnnl::primitive_attr attr = attributes();
  dnnl::post_ops sum;
  sum.append_sum(1.0f);
  attr.set_post_ops(sum);
  return attr;
}

/// A convolution, and the reorder of its weights.
struct ConvolutionPlan {
  dnnl::primitive primitive;
  memory::desc x, weight, y;
  memory::desc ordered; ///< weights as the library wants them
  std::optional<dnnl::reorder> reorder;
  memory::desc scratch, reorderScratch;
};

struct MatMulPlan {
  dnnl::matmul primitive;
  memory::desc a, b, c, scratch;
};

auto keyOf(const MatMulShape &s) {
  return std::tuple(s.transposeA, s.transposeB, s.accumulate, s.keepsSums,
                    s.batch, s.m, s.n, s.k);
}

auto keyOf(const GemmArguments &g) {
  return std::tuple(g.m, g.n, g.k, g.aRow, g.aCol, g.bRow, g.bCol, g.ldc,
                    g.accumulate);
}

auto keyOf(const ConvolutionShape &s) {
  const Windows &w = s.windows;
  return std::tuple(s.role, s.accumulate, s.keepsSums, s.filters, s.groups, w.n,
                    w.h, w.w, w.c, w.oh, w.ow, w.kh, w.kw, w.strideH, w.strideW,
                    w.padTop, w.padLeft, w.dilationH, w.dilationW);
}

} // namespace

struct OneDnn::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::map<decltype(keyOf(std::declval<MatMulShape>())), MatMulPlan> products;
  std::map<decltype(keyOf(std::declval<GemmArguments>())), MatMulPlan>
      stridedProducts;
  std::map<decltype(keyOf(std::declval<ConvolutionShape>())), ConvolutionPlan>
      convolutions;
  /// The buffers of a call: its own scratch, and weights in another order.
  std::optional<Mapping> scratch, weights;

  MatMulPlan plan(const MatMulShape &shape);
  MatMulPlan plan(const GemmArguments &product);
  MatMulPlan finish(MatMulPlan plan, bool accumulate);
  template <typename Map, typename Shape>
  void run(Map &plans, const Shape &shape, const void *a, const void *b,
           void *c);
  ConvolutionPlan plan(const ConvolutionShape &shape);
  memory wrap(const memory::desc &desc, const void *data) {
    return memory(desc, engine, const_cast<void *>(data));
  }
  memory borrow(std::optional<Mapping> &arena, const memory::desc &desc) {
    int64_t bytes = desc.get_size();
    if (bytes > 0 && (!arena || arena->size() < bytes))
      arena.emplace(bytes);
    return wrap(desc, bytes > 0 ? arena->data() : nullptr);
  }
};

OneDnn::OneDnn() : state(std::make_unique<State>()) {}
OneDnn::~OneDnn() = default;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Rows x columns, or their transpose, `batch` times.
static memory::desc matrix(int64_t batch, int64_t rows, int64_t columns,
                           bool transposed, memory::data_type type) {
  int64_t row = transposed ? 1 : columns, column = transposed ? rows : 1;
  if (batch == 1)
    return {{rows, columns}, type, memory::dims{row, column}};
  return {
      {batch, rows, columns}, type, memory::dims{rows * columns, row, column}};
}

MatMulPlan OneDnn::State::plan(const MatMulShape &s) {
  MatMulPlan plan;
  plan.a = matrix(s.batch, s.m, s.k, s.transposeA, bf16);
  plan.b = matrix(s.batch, s.k, s.n, s.transposeB, bf16);
  plan.c = matrix(s.batch, s.m, s.n, false, typeOfResult(s.keepsSums));
  return finish(std::move(plan), s.accumulate);
}

MatMulPlan OneDnn::State::plan(const GemmArguments &g) {
  MatMulPlan plan;
  plan.a = {{g.m, g.k}, bf16, memory::dims{g.aRow, g.aCol}};
  plan.b = {{g.k, g.n}, bf16, memory::dims{g.bRow, g.bCol}};
  plan.c = {{g.m, g.n}, memory::data_type::f32, memory::dims{g.ldc, 1}};
  return finish(std::move(plan), g.accumulate);
}

MatMulPlan OneDnn::State::finish(MatMulPlan plan, bool accumulate) {
  dnnl::matmul::primitive_desc description(
      {plan.a, plan.b, plan.c}, accumulate ? adding() : attributes(), engine);
  plan.scratch = description.scratchpad_desc();
  plan.primitive = dnnl::matmul(description);
  return plan;
}

template <typename Map, typename Shape>
void OneDnn::State::run(Map &plans, const Shape &shape, const void *a,
                        const void *b, void *c) {
  auto key = keyOf(shape);
  auto found = plans.find(key);
  if (found == plans.end())
    found = plans.emplace(key, plan(shape)).first;
  MatMulPlan &plan = found->second;
  plan.primitive.execute(
      stream, {{DNNL_ARG_SRC, wrap(plan.a, a)},
               {DNNL_ARG_WEIGHTS, wrap(plan.b, b)},
               {DNNL_ARG_DST, wrap(plan.c, c)},
               {DNNL_ARG_SCRATCHPAD, borrow(scratch, plan.scratch)}});
  stream.wait();
}

void OneDnn::multiply(const MatMulShape &shape, const void *a, const void *b,
                      void *c) {
  state->run(state->products, shape, a, b, c);
}

void OneDnn::multiply(const GemmArguments &product) {
  state->run(state->stridedProducts, product, product.a, product.b, product.c);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

ConvolutionPlan OneDnn::State::plan(const ConvolutionShape &shape) {
  const Windows &w = shape.windows;
  ConvolutionPlan plan;
  bool isWeightGrad = shape.role == DTC_CONV_WEIGHT_GRAD;
  memory::data_type result = typeOfResult(shape.keepsSums);
  auto typeOf = [&](dtc_conv_role role) {
    return shape.role == role ? result : bf16;
  };
  using Tag = memory::format_tag;
  plan.x = {{w.n, w.c, w.h, w.w}, typeOf(DTC_CONV_INPUT_GRAD), Tag::nhwc};
  plan.y = {
      {w.n, shape.filters, w.oh, w.ow}, typeOf(DTC_CONV_FORWARD), Tag::nhwc};
  // filters x kh x kw x channels in memory.
  memory::data_type weightType = typeOf(DTC_CONV_WEIGHT_GRAD);
  memory::dims dims = {shape.filters, w.c / shape.groups, w.kh, w.kw};
  if (shape.groups > 1) {
    dims[0] /= shape.groups;
    dims.insert(dims.begin(), shape.groups);
  }
  plan.weight = {dims, weightType, shape.groups > 1 ? Tag::abdec : Tag::acdb};
  memory::desc any(dims, weightType, Tag::any);
  memory::dims strides = {w.strideH, w.strideW},
               dilations = {w.dilationH - 1, w.dilationW - 1},
               before = {w.padTop, w.padLeft};
  auto after = [](int64_t positions, int64_t stride, int64_t taps,
                  int64_t dilation, int64_t extent, int64_t first) {
    return std::max<int64_t>((positions - 1) * stride + (taps - 1) * dilation +
                                 1 - extent - first,
                             0);
  };
  memory::dims behind = {
      after(w.oh, w.strideH, w.kh, w.dilationH, w.h, w.padTop),
      after(w.ow, w.strideW, w.kw, w.dilationW, w.w, w.padLeft)};

  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
       shape.role == DTC_CONV_FORWARD
           ? plan.x
           : memory::desc(plan.x.dims(), bf16, Tag::nhwc),
       isWeightGrad ? memory::desc(dims, bf16, Tag::any) : any,
       shape.role == DTC_CONV_FORWARD
           ? plan.y
           : memory::desc(plan.y.dims(), bf16, Tag::nhwc),
       strides, dilations, before, behind},
      attributes(), engine);
  if (shape.role == DTC_CONV_FORWARD) {
    plan.ordered = forward.weights_desc();
    plan.scratch = forward.scratchpad_desc();
    plan.primitive = dnnl::convolution_forward(forward);
  } else if (isWeightGrad) {
    dnnl::convolution_backward_weights::primitive_desc backward(
        {dnnl::algorithm::convolution_direct, plan.x, any, plan.y, strides,
         dilations, before, behind},
        attributes(), engine, forward);
    plan.ordered = backward.diff_weights_desc();
    plan.scratch = backward.scratchpad_desc();
    plan.primitive = dnnl::convolution_backward_weights(backward);
  } else {
    dnnl::convolution_backward_data::primitive_desc backward(
        {dnnl::algorithm::convolution_direct, plan.x, any, plan.y, strides,
         dilations, before, behind},
        attributes(), engine, forward);
    plan.ordered = backward.weights_desc();
    plan.scratch = backward.scratchpad_desc();
    plan.primitive = dnnl::convolution_backward_data(backward);
  }
  if (plan.ordered != plan.weight || shape.accumulate) {
    const memory::desc &from = isWeightGrad ? plan.ordered : plan.weight,
                       &to = isWeightGrad ? plan.weight : plan.ordered;
    dnnl::reorder::primitive_desc reorder(
        engine, from, engine, to,
        isWeightGrad && shape.accumulate ? adding() : attributes());
    plan.reorderScratch = reorder.scratchpad_desc();
    plan.reorder = dnnl::reorder(reorder);
  }
  return plan;
}

void OneDnn::convolve(const ConvolutionShape &shape, void *x, void *weight,
                      void *y) {
  bool isWeightGrad = shape.role == DTC_CONV_WEIGHT_GRAD;
  if (shape.accumulate && !isWeightGrad)
    fatal("a convolution of bf16 that is added to a result other than weights");
  auto key = keyOf(shape);
  auto found = state->convolutions.find(key);
  if (found == state->convolutions.end())
    found = state->convolutions.emplace(key, state->plan(shape)).first;
  ConvolutionPlan &plan = found->second;
  memory given = state->wrap(plan.weight, weight), ordered = given;
  auto reorder = [&](memory &from, memory &to) {
    plan.reorder->execute(
        state->stream, {{DNNL_ARG_FROM, from},
                        {DNNL_ARG_TO, to},
                        {DNNL_ARG_SCRATCHPAD,
                         state->borrow(state->scratch, plan.reorderScratch)}});
  };
  if (plan.reorder)
    ordered = state->borrow(state->weights, plan.ordered);
  if (plan.reorder && !isWeightGrad)
    reorder(given, ordered);
  bool isInputGrad = shape.role == DTC_CONV_INPUT_GRAD;
  plan.primitive.execute(
      state->stream,
      {{isInputGrad ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, state->wrap(plan.x, x)},
       {isWeightGrad ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, ordered},
       {shape.role == DTC_CONV_FORWARD ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST,
        state->wrap(plan.y, y)},
       {DNNL_ARG_SCRATCHPAD, state->borrow(state->scratch, plan.scratch)}});
  if (plan.reorder && isWeightGrad)
    reorder(ordered, given);
  state->stream.wait();
}
