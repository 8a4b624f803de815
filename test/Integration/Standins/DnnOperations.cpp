//===- DnnOperations.cpp - operations of the stand-in of cuDNN ------------===//

#include "DnnDescriptor.h"

#include <algorithm>
#include <cstring>

using namespace dtc::standin;

/// A row of a table by role: forward, by data, by weights.
struct ConvolutionNames {
  Attribute beta, windows, x, weight, y;
};

static ConvolutionNames namesOf(const Descriptor &operation) {
  switch (operation.type) {
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
  default:
    return {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
  }
}

namespace {

struct Convolution {
  ConvolutionNames names;
  Tensor x, weight, y;
  std::vector<int64_t> strides, dilations, before, behind;

  explicit Convolution(const Descriptor &operation)
      : names(namesOf(operation)), x(operation.tensor(names.x)),
        weight(operation.tensor(names.weight)), y(operation.tensor(names.y)) {
    const Descriptor &windows = operation.reference(names.windows);
    strides = windows.numbers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    dilations = windows.numbers(CUDNN_ATTR_CONVOLUTION_DILATIONS);
    before = windows.numbers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    behind = windows.numbers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  }
  int64_t groups() const { return x.dims[1] / weight.dims[1]; }

  /// Calls body(element of x, of weight, of y) for all products.
  template <typename Body> void forEachProduct(const Body &body) const {
    int64_t own = weight.dims[1], filters = y.dims[1];
    int64_t perGroup = filters / groups();
    for (int64_t n = 0; n < y.dims[0]; ++n)
      for (int64_t f = 0; f < filters; ++f)
        for (int64_t oy = 0; oy < y.dims[2]; ++oy)
          for (int64_t ox = 0; ox < y.dims[3]; ++ox)
            for (int64_t c = 0; c < own; ++c)
              for (int64_t i = 0; i < weight.dims[2]; ++i)
                for (int64_t j = 0; j < weight.dims[3]; ++j) {
                  int64_t py = oy * strides[0] - before[0] + i * dilations[0];
                  int64_t px = ox * strides[1] - before[1] + j * dilations[1];
                  if (py < 0 || py >= x.dims[2] || px < 0 || px >= x.dims[3])
                    continue;
                  int64_t channel = f / perGroup * own + c;
                  body(
                      ((n * x.dims[1] + channel) * x.dims[2] + py) * x.dims[3] +
                          px,
                      ((f * own + c) * weight.dims[2] + i) * weight.dims[3] + j,
                      ((n * filters + f) * y.dims[2] + oy) * y.dims[3] + ox);
                }
  }
};

} // namespace

static void checkConvolution(const Descriptor &operation) {
  Convolution c(operation);
  if (c.strides.size() != 2 || c.x.dims.size() != 4 ||
      c.weight.dims.size() != 4 || c.y.dims.size() != 4)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "a convolution of %zu dimensions, expected "
           "4 with two of space",
           c.x.dims.size());
  if (c.x.dims[1] % c.weight.dims[1] || c.y.dims[1] != c.weight.dims[0] ||
      c.y.dims[1] % c.groups() || c.x.dims[0] != c.y.dims[0])
    refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
           "channels, filters or batches of a convolution do not fit");
  for (size_t i : {0, 1}) {
    int64_t room = c.x.dims[i + 2] + c.before[i] + c.behind[i] -
                   c.dilations[i] * (c.weight.dims[i + 2] - 1) - 1;
    int64_t expected = room < 0 ? 0 : room / c.strides[i] + 1;
    if (c.y.dims[i + 2] != expected)
      refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
             "a convolution has %lld positions, expected %lld",
             (long long)c.y.dims[i + 2], (long long)expected);
  }
}

/// As tensor cores have operands of f32: 10 bits behind the point.
static double toTf32(double value) {
  auto narrow = float(value);
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t(0x1fff);
  memcpy(&narrow, &bits, sizeof bits);
  return narrow;
}

static void runConvolution(const Descriptor &operation, Engine engine,
                           std::map<int64_t, Elements> &elements) {
  Convolution c(operation);
  bool isForward =
      operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  bool isByData = operation.type ==
                  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
  const Tensor &resultTensor = isForward ? c.y : isByData ? c.x : c.weight;
  Elements &result = elements[resultTensor.identifier];
  result.resize(size_t(resultTensor.count()));
  double beta = operation.real(c.names.beta);
  for (double &value : result)
    value = beta == 0 ? 0 : beta * value;
  auto load = [&](const Tensor &tensor) {
    Elements loaded = elements[tensor.identifier];
    if (engine == Engine::TensorCores && tensor.type == CUDA_R_32F)
      for (double &value : loaded)
        value = toTf32(value);
    return loaded;
  };
  Elements x, weight, y;
  if (!isByData)
    x = load(c.x);
  if (isForward || isByData)
    weight = load(c.weight);
  if (!isForward)
    y = load(c.y);
  c.forEachProduct([&](int64_t i, int64_t j, int64_t k) {
    if (isForward)
      result[size_t(k)] += x[size_t(i)] * weight[size_t(j)];
    else if (isByData)
      result[size_t(i)] += y[size_t(k)] * weight[size_t(j)];
    else
      result[size_t(j)] += y[size_t(k)] * x[size_t(i)];
  });
}

static bool addsConvolution(const Descriptor &operation) {
  return operation.real(namesOf(operation).beta) != 0;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

static cudnnPointwiseMode_t modeOf(const Descriptor &operation) {
  return operation.reference(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
      .number<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
}

static void checkPointwise(const Descriptor &operation) {
  cudnnPointwiseMode_t mode = modeOf(operation);
  bool isBinary = mode == CUDNN_POINTWISE_ADD;
  if (!isBinary && mode != CUDNN_POINTWISE_IDENTITY)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "pointwise mode %d, which the stand-in does not have", mode);
  if (isBinary != operation.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC))
    refuse(CUDNN_STATUS_BAD_PARAM, "pointwise mode %d has %s second operand",
           mode, isBinary ? "no" : "a");
  Tensor y = operation.tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  for (Attribute name : {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                         CUDNN_ATTR_OPERATION_POINTWISE_BDESC})
    if (operation.has(name) && operation.tensor(name).dims != y.dims)
      refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
             "tensors of a pointwise operation have different dimensions");
}

static void runPointwise(const Descriptor &operation, Engine,
                         std::map<int64_t, Elements> &elements) {
  Elements y = elements[operation.tensor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)
                            .identifier];
  if (modeOf(operation) == CUDNN_POINTWISE_ADD) {
    const Elements &b =
        elements[operation.tensor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)
                     .identifier];
    for (size_t i = 0; i < y.size(); ++i)
      y[i] += b[i];
  }
  elements[operation.tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC).identifier] =
      std::move(y);
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

const OperationKind *OperationKind::find(cudnnBackendDescriptorType_t type) {
  auto never = [](const Descriptor &) { return false; };
  static const OperationKind kinds[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       "convolution forward",
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
       checkConvolution,
       runConvolution,
       addsConvolution},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       "convolution by data",
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
       checkConvolution,
       runConvolution,
       addsConvolution},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       "convolution by weights",
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
       checkConvolution,
       runConvolution,
       addsConvolution},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       "pointwise",
       {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
        CUDNN_ATTR_OPERATION_POINTWISE_BDESC},
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC},
       checkPointwise,
       runPointwise,
       never}};
  const auto *found = std::find_if(
      std::begin(kinds), std::end(kinds),
      [&](const OperationKind &kind) { return kind.type == type; });
  return found == std::end(kinds) ? nullptr : found;
}

/// cuDNN 9.19 gives no engine for a convolution of 16-bit operands whose result
/// is f32, unless another operation stores it; then it wants channels and
/// filters in eights, and no groups.
bool dtc::standin::isSupported(const std::vector<DescriptorRef> &operations) {
  for (const DescriptorRef &operation : operations) {
    const OperationKind *kind = OperationKind::find(operation->type);
    if (kind->run != runConvolution)
      continue;
    Convolution c(*operation);
    bool isFused = operations.size() > 1;
    bool isMixed = c.x.type != c.y.type || c.x.type != c.weight.type;
    if (isMixed && !isFused)
      return false;
    if (isFused && (c.groups() != 1 || c.x.dims[1] % 8 || c.y.dims[1] % 8))
      return false;
  }
  return true;
}
