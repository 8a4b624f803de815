//===- DnnOperations.cpp - operations of the stand-in of cuDNN ------------===//

#include "DnnDescriptor.h"

#include <algorithm>
#include <cmath>
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

/// Rounds like tensor cores with operands of f32: 10 bits of fraction.
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
    if (usesTensorCores(engine) && tensor.type == CUDA_R_32F)
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

/// The number of operands of a function; 0 if the stand-in lacks it.
static int countOperands(cudnnPointwiseMode_t mode) {
  switch (mode) {
  case CUDNN_POINTWISE_IDENTITY:
  case CUDNN_POINTWISE_EXP:
  case CUDNN_POINTWISE_LOG:
  case CUDNN_POINTWISE_GEN_INDEX:
    return 1;
  case CUDNN_POINTWISE_ADD:
  case CUDNN_POINTWISE_SUB:
  case CUDNN_POINTWISE_MUL:
  case CUDNN_POINTWISE_DIV:
  case CUDNN_POINTWISE_CMP_GE:
    return 2;
  case CUDNN_POINTWISE_BINARY_SELECT:
    return 3;
  default:
    return 0;
  }
}

static const Attribute pointwiseOperands[] = {
    CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
    CUDNN_ATTR_OPERATION_POINTWISE_TDESC};

static void checkPointwise(const Descriptor &operation) {
  cudnnPointwiseMode_t mode = modeOf(operation);
  int count = countOperands(mode);
  if (count == 0)
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "pointwise mode %d, which the stand-in does not have", mode);
  Tensor y = operation.tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  for (int i = 0; i < 3; ++i) {
    Attribute name = pointwiseOperands[i];
    if (operation.has(name) != (i < count))
      refuse(CUDNN_STATUS_BAD_PARAM, "pointwise mode %d, expected %d operands",
             mode, count);
    if (i >= count)
      continue;
    std::vector<int64_t> dims = operation.tensor(name).dims;
    for (size_t dim = 0; dim < y.dims.size(); ++dim)
      if (dims.size() != y.dims.size() ||
          (dims[dim] != y.dims[dim] && (dims[dim] != 1 || i == 0)))
        refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
               "tensors of a pointwise operation have different dimensions");
  }
}

static void runPointwise(const Descriptor &operation, Engine,
                         std::map<int64_t, Elements> &elements) {
  cudnnPointwiseMode_t mode = modeOf(operation);
  int count = countOperands(mode);
  Tensor y = operation.tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  std::vector<Tensor> tensors;
  tensors.reserve(size_t(count));
  for (int i = 0; i < count; ++i)
    tensors.push_back(operation.tensor(pointwiseOperands[i]));
  int64_t axis = 0;
  if (mode == CUDNN_POINTWISE_GEN_INDEX)
    axis = operation.reference(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
               .number<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
  Elements result(size_t(y.count()));
  forEachIndex(y.dims, [&](size_t i, const std::vector<int64_t> &index) {
    double x[3] = {};
    for (size_t operand = 0; operand < tensors.size(); ++operand) {
      const Tensor &tensor = tensors[operand];
      int64_t place = 0;
      for (size_t dim = 0; dim < index.size(); ++dim)
        place =
            place * tensor.dims[dim] + (tensor.dims[dim] == 1 ? 0 : index[dim]);
      if (mode != CUDNN_POINTWISE_GEN_INDEX)
        x[operand] = elements[tensor.identifier][size_t(place)];
    }
    switch (mode) {
    case CUDNN_POINTWISE_EXP:
      result[i] = std::exp(x[0]);
      break;
    case CUDNN_POINTWISE_LOG:
      result[i] = std::log(x[0]);
      break;
    case CUDNN_POINTWISE_GEN_INDEX:
      result[i] = double(index[size_t(axis)]);
      break;
    case CUDNN_POINTWISE_ADD:
      result[i] = x[0] + x[1];
      break;
    case CUDNN_POINTWISE_SUB:
      result[i] = x[0] - x[1];
      break;
    case CUDNN_POINTWISE_MUL:
      result[i] = x[0] * x[1];
      break;
    case CUDNN_POINTWISE_DIV:
      result[i] = x[0] / x[1];
      break;
    case CUDNN_POINTWISE_CMP_GE:
      result[i] = x[0] >= x[1];
      break;
    case CUDNN_POINTWISE_BINARY_SELECT:
      result[i] = x[2] != 0 ? x[0] : x[1];
      break;
    default: // IDENTITY
      result[i] = x[0];
    }
  });
  elements[y.identifier] = std::move(result);
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
        CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
        CUDNN_ATTR_OPERATION_POINTWISE_TDESC},
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC},
       checkPointwise,
       runPointwise,
       never},
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       "attention",
       {CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
       {CUDNN_ATTR_OPERATION_MATMUL_CDESC},
       checkMatmul,
       runMatmul,
       never},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       "reduction",
       {CUDNN_ATTR_OPERATION_REDUCTION_XDESC},
       {CUDNN_ATTR_OPERATION_REDUCTION_YDESC},
       checkReduction,
       runReduction,
       never},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       "reshape",
       {CUDNN_ATTR_OPERATION_RESHAPE_XDESC},
       {CUDNN_ATTR_OPERATION_RESHAPE_YDESC},
       checkTranspose,
       runTranspose,
       never}};
  const auto *found = std::find_if(
      std::begin(kinds), std::end(kinds),
      [&](const OperationKind &kind) { return kind.type == type; });
  return found == std::end(kinds) ? nullptr : found;
}

/// Attention is of 16 bits, with heads of up to 128 in eights.
static bool isHead(const Tensor &operand) {
  if (operand.isVirtual)
    return true;
  bool isTransposed = operand.strides[3] != 1;
  int64_t width = operand.dims[isTransposed ? 2 : 3];
  return operand.type != CUDA_R_32F && width <= 128 && width % 8 == 0;
}

/// cuDNN 9.19 gives no engine for a convolution of 16-bit operands whose result
/// is f32, unless another operation stores it; then it wants channels and
/// filters in eights, and no groups.
bool dtc::standin::isSupported(const std::vector<DescriptorRef> &operations) {
  for (const DescriptorRef &operation : operations) {
    const OperationKind *kind = OperationKind::find(operation->type);
    if (kind->run == runMatmul &&
        !(isHead(operation->tensor(CUDNN_ATTR_OPERATION_MATMUL_ADESC)) &&
          isHead(operation->tensor(CUDNN_ATTR_OPERATION_MATMUL_BDESC))))
      return false;
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
