//===- DnnConvolution.cpp - convolutions as graphs of cuDNN ---------------===//
//
// The library has channels second in a tensor's dimensions, wherever they are
// in memory.
//
//===----------------------------------------------------------------------===//

#include "DnnConvolution.h"

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"

#include <algorithm>

using namespace dtc::rt;

static cudnnDataType_t typeOf(dtc_dtype dtype) {
  switch (dtype) {
  case DTC_F32:
    return CUDNN_DATA_FLOAT;
  case DTC_F64:
    return CUDNN_DATA_DOUBLE;
  case DTC_BF16:
    return CUDNN_DATA_BFLOAT16;
  case DTC_F16:
    return CUDNN_DATA_HALF;
  default:
    fatal("conv2d of element type %d, expected floating point", dtype);
  }
}

int dtc::rt::resultOf(dtc_conv_role role) {
  switch (role) {
  case DTC_CONV_FORWARD:
    return 2;
  case DTC_CONV_INPUT_GRAD:
    return 0;
  case DTC_CONV_WEIGHT_GRAD:
    return 1;
  }
  fatal("conv2d of role %d, which the runtime does not have", role);
}

/// Padding behind: as much as in front where that gives the same positions,
/// since the library has more engines for it.
static int64_t padBehind(int64_t positions, int64_t stride, int64_t taps,
                         int64_t dilation, int64_t extent, int64_t inFront) {
  int64_t needed =
      (positions - 1) * stride + (taps - 1) * dilation + 1 - extent - inFront;
  return std::clamp(inFront, std::max<int64_t>(needed, 0),
                    std::max<int64_t>(needed + stride - 1, 0));
}

/// Batch, channels, height and width of an operand.
static std::array<int64_t, 4> dimsOf(const DnnConvolution &s, int operand) {
  const std::array<int64_t, 4> dims[] = {
      {s.n, s.c, s.h, s.w},
      {s.filters, s.c / s.groups, s.kh, s.kw},
      {s.n, s.filters, s.oh, s.ow}};
  return dims[operand];
}

static int64_t countOf(const DnnConvolution &shape, int operand) {
  auto [batch, channels, height, width] = dimsOf(shape, operand);
  return batch * channels * height * width;
}

int64_t dtc::rt::resultBytesOf(const DnnConvolution &shape) {
  return countOf(shape, resultOf(shape.role)) *
         sizeOf(shape.keepsSums ? DTC_F32 : shape.dtype);
}

std::string dtc::rt::nameOf(const DnnConvolution &s,
                            const DnnAlignments &alignments) {
  static const char *const roles[] = {"convolution", "gradient of x",
                                      "gradient of the weight"};
  return format("%s %s", nameOf(s.dtype), roles[s.role]) + ": x " +
         formatShape({s.n, s.h, s.w, s.c}) + ", weight " +
         formatShape({s.filters, s.kh, s.kw, s.c / s.groups}) + ", y " +
         formatShape({s.n, s.oh, s.ow, s.filters}) + ", strides " +
         formatShape({s.strideH, s.strideW}) + ", padding " +
         formatShape({s.padTop, s.padLeft}) + ", dilations " +
         formatShape({s.dilationH, s.dilationW}) +
         (s.accumulate ? ", added" : "") + (s.keepsSums ? ", to f32" : "") +
         ", aligned " +
         formatShape({alignments[0], alignments[1], alignments[2]});
}

namespace {

using Place = DnnProgram::Place;

/// Builds the plans of a call.
struct Search {
  const DnnTarget &target;
  const DnnConvolution &shape;
  const DnnAlignments &alignments;
  bool usesTf32;
  int64_t workspaceBytes;
  DnnProgram program;

  int result() const { return resultOf(shape.role); }

  /// A tensor of an operand's shape, channels last in memory.
  const DnnDescriptor &addTensor(DnnGraph &graph, int64_t identifier,
                                 int operand, cudnnDataType_t type,
                                 int64_t alignment,
                                 DnnTensor where = DnnTensor::InMemory) {
    std::array<int64_t, 4> dims = dimsOf(shape, operand);
    auto [batch, channels, height, width] = dims;
    const int64_t strides[] = {channels * height * width, 1, width * channels,
                               channels};
    return graph.addTensor(identifier, type, dims, strides, alignment, where);
  }

  void addConvolution(DnnGraph &graph, const DnnDescriptor &x,
                      const DnnDescriptor &weight, const DnnDescriptor &y,
                      bool isAdded);
  void addPointwise(DnnGraph &graph, cudnnPointwiseMode_t mode,
                    const DnnDescriptor &x, const DnnDescriptor *b,
                    const DnnDescriptor &y);
  bool addStep(const DnnGraph &graph, bool mayUseTensorCores,
               std::vector<Place> tensors) {
    return program.addStep(target, graph, mayUseTensorCores, workspaceBytes,
                           std::move(tensors));
  }

  bool findPlain(dtc_dtype dtype, bool mayUseTensorCores,
                 const std::array<Place, 3> &operands,
                 const DnnAlignments &aligned);
  bool findFused();
  bool findWidened();
};

} // namespace

/// The operation, of whose operands the role writes one.
void Search::addConvolution(DnnGraph &graph, const DnnDescriptor &x,
                            const DnnDescriptor &weight, const DnnDescriptor &y,
                            bool isAdded) {
  const DnnConvolution &s = shape;
  const int64_t strides[] = {s.strideH, s.strideW},
                dilations[] = {s.dilationH, s.dilationW},
                before[] = {s.padTop, s.padLeft},
                behind[] = {padBehind(s.oh, s.strideH, s.kh, s.dilationH, s.h,
                                      s.padTop),
                            padBehind(s.ow, s.strideW, s.kw, s.dilationW, s.w,
                                      s.padLeft)};
  bool isDouble = s.dtype == DTC_F64;
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  DnnDescriptor &windows = graph.addPart(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  windows
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
           isDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1,
           &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(2))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, strides)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilations)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, before)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, behind)
      .finalize();

  struct Names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t alpha, beta, windows, x, weight, y;
  };
  // By role.
  static const Names names[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}};
  const Names &n = names[s.role];
  const float one = 1, rest = isAdded ? 1 : 0;
  const double one64 = 1, rest64 = rest;
  auto type = isDouble ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  graph.addOperation(n.operation)
      .set(n.alpha, type, 1,
           isDouble ? static_cast<const void *>(&one64) : &one)
      .set(n.beta, type, 1,
           isDouble ? static_cast<const void *>(&rest64) : &rest)
      .set(n.windows, windows)
      .set(n.x, x)
      .set(n.weight, weight)
      .set(n.y, y)
      .finalize();
}

/// Adds an operation on x, and on b if there is one, element by element in f32.
void Search::addPointwise(DnnGraph &graph, cudnnPointwiseMode_t mode,
                          const DnnDescriptor &x, const DnnDescriptor *b,
                          const DnnDescriptor &y) {
  DnnDescriptor &function = graph.addPart(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  function.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
      .finalize();
  DnnDescriptor &operation =
      graph.addOperation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  if (b)
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  operation.finalize();
}

/// One operation on operands of a type.
bool Search::findPlain(dtc_dtype dtype, bool mayUseTensorCores,
                       const std::array<Place, 3> &operands,
                       const DnnAlignments &aligned) {
  DnnGraph graph;
  const DnnDescriptor *tensors[3];
  for (int i = 0; i < 3; ++i)
    tensors[i] = &addTensor(graph, i + 1, i, typeOf(dtype), aligned[size_t(i)]);
  addConvolution(graph, *tensors[0], *tensors[1], *tensors[2],
                 shape.accumulate);
  return addStep(graph, mayUseTensorCores, {operands.begin(), operands.end()});
}

/// 16-bit operands and an f32 result. The operation does not support that, so
/// it writes a virtual tensor, and a copy stores it.
bool Search::findFused() {
  DnnGraph graph;
  const DnnDescriptor *tensors[3];
  for (int i = 0; i < 3; ++i)
    tensors[i] = i == result()
                     ? &addTensor(graph, 4, i, CUDNN_DATA_FLOAT, dnnAlignment,
                                  DnnTensor::Virtual)
                     : &addTensor(graph, i + 1, i, typeOf(shape.dtype),
                                  alignments[size_t(i)]);
  bool isAdded = shape.accumulate;
  std::vector<Place> places = {{0}, {1}, {2}};
  Place &sum = places[size_t(result())];
  if (isAdded)
    sum = program.addTemporary(countOf(shape, result()) * 4);
  int64_t alignment = isAdded ? dnnAlignment : alignments[size_t(result())];
  addConvolution(graph, *tensors[0], *tensors[1], *tensors[2], false);
  addPointwise(
      graph, CUDNN_POINTWISE_IDENTITY, *tensors[result()], nullptr,
      addTensor(graph, result() + 1, result(), CUDNN_DATA_FLOAT, alignment));
  Place before = sum;
  if (!addStep(graph, true, std::move(places)))
    return false;
  if (!isAdded)
    return true;
  DnnGraph addition;
  int64_t aligned = alignments[size_t(result())];
  auto add = [&](int64_t identifier, int64_t alignment) -> const auto & {
    return addTensor(addition, identifier, result(), CUDNN_DATA_FLOAT,
                     alignment);
  };
  const DnnDescriptor &from = add(1, dnnAlignment), &old = add(2, aligned);
  addPointwise(addition, CUDNN_POINTWISE_ADD, from, &old, add(3, aligned));
  return addStep(addition, true, {before, {result()}, {result()}});
}

/// The same with copies of the operands in f32. tf32 represents them exactly,
/// so products are exact.
bool Search::findWidened() {
  std::array<Place, 3> places = {{{0}, {1}, {2}}};
  DnnAlignments aligned = alignments;
  for (int i = 0; i < 3; ++i) {
    if (i == result())
      continue;
    Place &place = places[size_t(i)];
    place = program.addTemporary(countOf(shape, i) * 4);
    aligned[size_t(i)] = dnnAlignment;
    DnnGraph graph;
    const DnnDescriptor &from =
        addTensor(graph, 1, i, typeOf(shape.dtype), alignments[size_t(i)]);
    addPointwise(graph, CUDNN_POINTWISE_IDENTITY, from, nullptr,
                 addTensor(graph, 2, i, CUDNN_DATA_FLOAT, dnnAlignment));
    if (!addStep(graph, true, {{i}, place}))
      return false;
  }
  return findPlain(DTC_F32, true, places, aligned);
}

std::optional<DnnProgram>
dtc::rt::findConvolution(const DnnTarget &target, const DnnConvolution &shape,
                         const DnnAlignments &alignments, bool usesTf32,
                         int64_t workspaceBytes) {
  Search search{target, shape, alignments, usesTf32, workspaceBytes, {}};
  bool isNarrow = shape.dtype == DTC_F16 || shape.dtype == DTC_BF16;
  if (!isNarrow || !shape.keepsSums) {
    bool mayUseTensorCores = shape.dtype != DTC_F32 || usesTf32;
    if (search.findPlain(shape.dtype, mayUseTensorCores, {{{0}, {1}, {2}}},
                         alignments))
      return std::move(search.program);
    return std::nullopt;
  }
  if (search.findFused())
    return std::move(search.program);
  search.program = {};
  if (search.findWidened())
    return std::move(search.program);
  return std::nullopt;
}
