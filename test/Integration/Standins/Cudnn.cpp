//===- Cudnn.cpp - a stand-in of cuDNN ------------------------------------===//
//
// The graph interface: descriptors of any kind, of which the attributes are
// kept as they are given and checked when they are finalized. Plans run the
// operations of their graph one after the other, in f64.
//
//===----------------------------------------------------------------------===//

#include "DnnDescriptor.h"
#include "Machine.h"
#include "Values.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

using namespace dtc::standin;

static thread_local std::string lastError;

void dtc::standin::refuse(cudnnStatus_t status, const char *pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  throw Refusal{status, text};
}

/// Runs a body as a call of the library.
template <typename Body> static cudnnStatus_t call(const Body &body) {
  try {
    body();
    return CUDNN_STATUS_SUCCESS;
  } catch (const Refusal &refusal) {
    lastError = refusal.text;
    return refusal.status;
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

using Rules = std::vector<AttributeRule>;

/// Operations need their tensors, except for a second operand.
static Rules rulesOf(cudnnBackendDescriptorType_t type) {
  constexpr auto reference = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  auto convolution = [](Attribute alpha, Attribute beta, Attribute windows,
                        std::initializer_list<Attribute> tensors) {
    // Numbers may be DOUBLE, too.
    Rules rules = {{alpha, CUDNN_TYPE_FLOAT},
                   {beta, CUDNN_TYPE_FLOAT},
                   {windows, reference}};
    for (Attribute tensor : tensors)
      rules.push_back({tensor, reference});
    return rules;
  };
  switch (type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return {{CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE},
            {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, false},
            {CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, false}};
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    return {{CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE},
            {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE},
            {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64}};
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    return convolution(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y});
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    return convolution(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY});
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    return convolution(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY});
  case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    return {{CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE},
            {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE},
            {CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, false}};
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, reference},
            {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, reference},
            {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, reference, false},
            {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, reference, false},
            {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, reference}};
  case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
    return {{CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE}};
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    return {{CUDNN_ATTR_OPERATION_MATMUL_DESC, reference},
            {CUDNN_ATTR_OPERATION_MATMUL_ADESC, reference},
            {CUDNN_ATTR_OPERATION_MATMUL_BDESC, reference},
            {CUDNN_ATTR_OPERATION_MATMUL_CDESC, reference}};
  case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
    return {{CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE},
            {CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE},
            {CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, CUDNN_TYPE_BOOLEAN}};
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    return {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, reference},
            {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, reference},
            {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, reference}};
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    return {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, reference},
            {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, reference}};
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return {{CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE},
            {CUDNN_ATTR_OPERATIONGRAPH_OPS, reference}};
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    return {{CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, reference},
            {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE}};
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return {{CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE},
            {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, reference}};
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    return {{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64},
            {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR},
            {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR}};
  case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    return {{CUDNN_ATTR_ENGINECFG_ENGINE, reference},
            {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, reference}};
  case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    return {{CUDNN_ATTR_ENGINE_OPERATION_GRAPH, reference},
            {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64}};
  case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR:
    return {{CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE},
            {CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64}};
  default:
    refuse(CUDNN_STATUS_NOT_SUPPORTED,
           "descriptor type %d, which the stand-in does not have", type);
  }
}

static uint64_t sizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_BOOLEAN:
    return 1;
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_HANDLE:
    return 8;
  default: // enumerators, FLOAT
    return 4;
  }
}

const Descriptor::Value &Descriptor::get(Attribute name) const {
  auto found = values.find(name);
  if (found == values.end())
    refuse(CUDNN_STATUS_BAD_PARAM, "attribute %d is not set", name);
  return found->second;
}

double Descriptor::real(Attribute name) const {
  return get(name).type == CUDNN_TYPE_DOUBLE ? number<double>(name)
                                             : number<float>(name);
}

std::vector<int64_t> Descriptor::numbers(Attribute name) const {
  const Value &value = get(name);
  const auto *first = reinterpret_cast<const int64_t *>(value.bytes.data());
  return {first, first + value.count};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static cudaDataType_t typeOf(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_FLOAT:
    return CUDA_R_32F;
  case CUDNN_DATA_DOUBLE:
    return CUDA_R_64F;
  case CUDNN_DATA_HALF:
    return CUDA_R_16F;
  case CUDNN_DATA_BFLOAT16:
    return CUDA_R_16BF;
  case CUDNN_DATA_INT32:
    return CUDA_R_32I;
  case CUDNN_DATA_BOOLEAN:
    return CUDA_R_8U;
  default:
    refuse(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
           "element type %d, which the stand-in does not have", type);
  }
}

Tensor Descriptor::tensor() const {
  return {number<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
          number<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT),
          typeOf(number<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
          numbers(CUDNN_ATTR_TENSOR_DIMENSIONS),
          numbers(CUDNN_ATTR_TENSOR_STRIDES),
          has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
              number<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL),
          has(CUDNN_ATTR_TENSOR_IS_BY_VALUE) &&
              number<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE)};
}

int64_t Tensor::count() const {
  int64_t product = 1;
  for (int64_t size : dims)
    product *= size;
  return product;
}

uint64_t Tensor::bytes() const {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    last += (dims[i] - 1) * strides[i];
  return uint64_t(last + 1) * dtc::standin::sizeOf(type);
}

static void checkTensor(const Descriptor &descriptor) {
  Tensor tensor = descriptor.tensor();
  // Numbers that are not floating-point are virtual: nobody asks their size.
  bool isFloat = tensor.type != CUDA_R_32I && tensor.type != CUDA_R_8U;
  if (!isFloat && !tensor.isVirtual)
    refuse(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
           "a tensor of integers in memory, which the stand-in does not have");
  auto size = isFloat ? int64_t(dtc::standin::sizeOf(tensor.type)) : 1;
  if (tensor.alignment < 1 || tensor.alignment % size)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "alignment of %lld bytes, expected a multiple of the %lld of an "
           "element",
           (long long)tensor.alignment, (long long)size);
  if (tensor.dims.size() != tensor.strides.size() || tensor.dims.size() < 3)
    refuse(CUDNN_STATUS_BAD_PARAM,
           "%zu dimensions and %zu strides, expected as many, at least 3",
           tensor.dims.size(), tensor.strides.size());
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i] < 1 || tensor.strides[i] < 0)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "dimension %zu is not positive, or its stride negative", i);
}

/// The address of each element, in the order of the dimensions.
template <typename Body>
static void forEachElement(const Tensor &tensor, const void *data,
                           const Body &body) {
  auto size = int64_t(dtc::standin::sizeOf(tensor.type));
  forEachIndex(tensor.dims, [&](size_t i, const std::vector<int64_t> &index) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < index.size(); ++dim)
      offset += index[dim] * tensor.strides[dim];
    body(i,
         const_cast<char *>(static_cast<const char *>(data)) + offset * size);
  });
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static void checkGraph(const Descriptor &graph) {
  std::map<int64_t, const Descriptor *> known;
  std::set<int64_t> written;
  for (const DescriptorRef &operation :
       graph.get(CUDNN_ATTR_OPERATIONGRAPH_OPS).references) {
    const OperationKind *kind = OperationKind::find(operation->type);
    if (!kind)
      refuse(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
             "an operation graph has a descriptor of type %d", operation->type);
    auto check = [&](Attribute name, bool writes) {
      if (!operation->has(name))
        return;
      const Descriptor &descriptor = operation->reference(name);
      Tensor tensor = descriptor.tensor();
      auto [place, isNew] = known.try_emplace(tensor.identifier, &descriptor);
      if (!isNew && place->second != &descriptor)
        refuse(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
               "two tensors have the identifier %lld",
               (long long)tensor.identifier);
      if (!writes && tensor.isVirtual && !written.count(tensor.identifier))
        refuse(CUDNN_STATUS_BAD_PARAM,
               "virtual tensor %lld is read before it is written",
               (long long)tensor.identifier);
      if (writes)
        written.insert(tensor.identifier);
    };
    for (Attribute name : kind->reads)
      check(name, false);
    for (Attribute name : kind->writes)
      check(name, true);
  }
}

/// Whether heuristics give engines that compute other bits in every run and do
/// not say so: of gradients of attention, on sm_100.
static bool isUnnoted(const Descriptor &graph) {
  const char *architecture = getenv("DTC_STANDIN_ARCH");
  int products = 0;
  for (const DescriptorRef &operation :
       graph.get(CUDNN_ATTR_OPERATIONGRAPH_OPS).references)
    products += operation->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
  return architecture && strcmp(architecture, "100") == 0 && products == 5;
}

/// Besides heuristics, the library has on sm_100 gradients of attention whose
/// bits stay, by one engine with knobs that depend on the version.
static void configure(Descriptor &configuration) {
  const Descriptor &engine =
      configuration.reference(CUDNN_ATTR_ENGINECFG_ENGINE);
  std::map<cudnnBackendKnobType_t, int64_t> knobs;
  for (const DescriptorRef &choice :
       configuration.get(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES).references)
    knobs[choice->number<cudnnBackendKnobType_t>(
        CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE)] =
        choice->number<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
  std::map<cudnnBackendKnobType_t, int64_t> expected = {
      {CUDNN_KNOB_TYPE_KERNEL_CFG, 31}, {CUDNN_KNOB_TYPE_STAGES, 2}};
  if (cudnnGetVersion() >= 92300)
    expected = {{CUDNN_KNOB_TYPE_TILE_M, 3},     {CUDNN_KNOB_TYPE_TILE_N, 2},
                {CUDNN_KNOB_TYPE_KERNEL_CFG, 2}, {CUDNN_KNOB_TYPE_STREAM_K, 0},
                {CUDNN_KNOB_TYPE_TILE_CGA_M, 0}, {CUDNN_KNOB_TYPE_STAGES, 2}};
  const Descriptor &graph = engine.reference(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  auto number = engine.number<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  if (number != 5 || knobs != expected || !isUnnoted(graph))
    refuse(CUDNN_STATUS_NOT_SUPPORTED, "engine %lld has not these knobs",
           (long long)number);
  configuration.engine = Engine::Plain;
  configuration.values[CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH] =
      engine.get(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

static void check(Descriptor &descriptor) {
  if (descriptor.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
    checkTensor(descriptor);
  if (descriptor.type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) {
    auto dims = descriptor.number<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    for (Attribute name :
         {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
          CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
          CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
      for (int64_t number : descriptor.numbers(name))
        if (descriptor.get(name).count != dims || number < 0)
          refuse(CUDNN_STATUS_BAD_PARAM,
                 "attribute %d of a convolution, expected %lld numbers that "
                 "are not negative",
                 name, (long long)dims);
  }
  if (descriptor.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
    checkGraph(descriptor);
  if (descriptor.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
    configure(descriptor);
  if (descriptor.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    descriptor.engine =
        descriptor.reference(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).engine;
    // Engines that heuristics offer may have no plan for a graph: those whose
    // numbers are in DTC_STANDIN_NO_ENGINE.
    const char *text = getenv("DTC_STANDIN_NO_ENGINE");
    if (text && strchr(text, char('0' + int(descriptor.engine))))
      refuse(CUDNN_STATUS_NOT_SUPPORTED, "engine %d has no plan",
             int(descriptor.engine));
  }
  if (descriptor.type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR &&
      descriptor.get(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count !=
          descriptor.get(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count)
    refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
           "a variant pack has not as many pointers as identifiers");
  if (const OperationKind *kind = OperationKind::find(descriptor.type))
    kind->check(descriptor);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// A deterministic gradient of attention needs, as NVIDIA's cudnn-frontend
/// computes it for its own workspace, a number of 16 bits for each score, in
/// tiles of 64 queries and 128 keys, and the gradients of keys and values for
/// each head of a group. Such a graph has five products.
static int64_t workspaceBytes(const Descriptor &graph, Engine engine) {
  if (engine == Engine::Greedy)
    return int64_t(1) << 40;
  if (const char *text = getenv("DTC_STANDIN_DNN_WORKSPACE"))
    return strtoll(text, nullptr, 10);
  std::vector<Tensor> products;
  for (const DescriptorRef &operation :
       graph.get(CUDNN_ATTR_OPERATIONGRAPH_OPS).references)
    if (operation->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
      products.push_back(operation->tensor(CUDNN_ATTR_OPERATION_MATMUL_CDESC));
  if (products.size() < 5)
    return 4096;
  const std::vector<int64_t> &scores = products[0].dims;
  auto align = [](int64_t size, int64_t tile) {
    return (size + tile - 1) / tile * tile;
  };
  int64_t heads = scores[0] * scores[1];
  int64_t bytes = heads * align(scores[2], 64) * align(scores[3], 128) * 2;
  for (const Tensor &product : products)
    if (product.isVirtual && product.dims[2] == scores[3] &&
        product.dims != scores)
      bytes += product.count() * 2;
  return bytes;
}

static std::vector<Engine> enginesOf(const Descriptor &heuristics) {
  const Descriptor &graph =
      heuristics.reference(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (!isSupported(graph.get(CUDNN_ATTR_OPERATIONGRAPH_OPS).references))
    return {};
  auto mode =
      heuristics.number<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  if (mode == CUDNN_HEUR_MODE_FALLBACK)
    return {Engine::Plain};
  if (isUnnoted(graph))
    return {Engine::Unnoted};
  return {Engine::Nondeterministic, Engine::Greedy, Engine::TensorCores,
          Engine::FastTensorCores};
}

static std::vector<cudnnBackendNumericalNote_t> notesOf(Engine engine) {
  if (engine == Engine::Nondeterministic)
    return {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
  if (usesTensorCores(engine))
    return {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  return {};
}

/// Engines that differ by a knob are one.
static int64_t numberOf(Engine engine) {
  return int64_t(engine == Engine::FastTensorCores ? Engine::TensorCores
                                                   : engine);
}

namespace {

/// A plan with the addresses of its tensors.
struct Run {
  std::vector<DescriptorRef> operations;
  Engine engine;
  std::map<int64_t, const void *> addresses;
  uint64_t seed;

  const void *find(const Tensor &tensor) const;
  std::vector<Access> accesses() const;
  void run() const;
};

} // namespace

const void *Run::find(const Tensor &tensor) const {
  auto found = addresses.find(tensor.identifier);
  if (found == addresses.end())
    fault("cudnnBackendExecute has no address of tensor %lld",
          (long long)tensor.identifier);
  if (reinterpret_cast<uintptr_t>(found->second) % uint64_t(tensor.alignment))
    fault("cudnnBackendExecute has a tensor at %p, and a plan for multiples of "
          "%lld bytes",
          found->second, (long long)tensor.alignment);
  return found->second;
}

std::vector<Access> Run::accesses() const {
  std::vector<Access> result;
  for (const DescriptorRef &operation : operations) {
    const OperationKind &kind = *OperationKind::find(operation->type);
    auto add = [&](Attribute name, bool writes) {
      if (!operation->has(name))
        return;
      Tensor tensor = operation->tensor(name);
      if (tensor.isOnDevice())
        result.push_back({find(tensor), tensor.bytes(), writes});
    };
    for (Attribute name : kind.reads)
      add(name, false);
    for (Attribute name : kind.writes) {
      if (kind.addsToResult(*operation))
        add(name, false);
      add(name, true);
    }
  }
  return result;
}

/// A virtual tensor has its type, too.
static void roundVirtual(const Tensor &tensor, Elements &elements) {
  if (tensor.type != CUDA_R_16BF && tensor.type != CUDA_R_16F)
    return;
  for (double &value : elements) {
    char narrow[8];
    storeValue(tensor.type, narrow, value);
    value = loadValue(tensor.type, narrow);
  }
}

void Run::run() const {
  std::map<int64_t, Elements> elements;
  auto load = [&](const Tensor &tensor) {
    if (tensor.isVirtual)
      return;
    Elements &loaded = elements[tensor.identifier];
    loaded.resize(size_t(tensor.count()));
    forEachElement(tensor, find(tensor), [&](size_t i, const char *element) {
      loaded[i] = loadValue(tensor.type, element);
    });
  };
  for (const DescriptorRef &operation : operations) {
    const OperationKind &kind = *OperationKind::find(operation->type);
    for (Attribute name : kind.reads)
      if (operation->has(name))
        load(operation->tensor(name));
    for (Attribute name : kind.writes)
      if (kind.addsToResult(*operation))
        load(operation->tensor(name));
    kind.run(*operation, engine, elements);
    for (Attribute name : kind.writes) {
      Tensor tensor = operation->tensor(name);
      const Elements &values = elements[tensor.identifier];
      double noise =
          engine == Engine::Nondeterministic || engine == Engine::Unnoted
              ? 1 + double(seed % 97) * 1e-3
              : 1;
      if (!tensor.isVirtual)
        forEachElement(tensor, find(tensor), [&](size_t i, char *element) {
          storeValue(tensor.type, element, values[i] * noise);
        });
      else
        roundVirtual(tensor, elements[tensor.identifier]);
    }
  }
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

namespace {
struct Handle {
  int stream = 0;
};
} // namespace

static DescriptorRef &referenceOf(cudnnBackendDescriptor_t handle) {
  return *static_cast<DescriptorRef *>(handle);
}

/// A descriptor that is not finalized belongs to its handle alone.
static Descriptor &descriptorOf(cudnnBackendDescriptor_t handle) {
  return const_cast<Descriptor &>(*referenceOf(handle));
}

static DescriptorRef finalized(cudnnBackendDescriptor_t handle) {
  if (!handle || !referenceOf(handle)->isFinal)
    refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
           "a descriptor that is not finalized is used");
  return referenceOf(handle);
}

extern "C" {

size_t cudnnGetVersion() {
  const char *version = getenv("DTC_STANDIN_CUDNN");
  return version ? strtoull(version, nullptr, 10) : CUDNN_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t status) {
  static thread_local std::string text;
  text = "status " + std::to_string(int(status));
  return text.c_str();
}

void cudnnGetLastErrorString(char *message, size_t size) {
  snprintf(message, size, "%s", lastError.c_str());
  lastError.clear();
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  *handle = reinterpret_cast<cudnnHandle_t>(new Handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete reinterpret_cast<Handle *>(handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<Handle *>(handle)->stream =
      int(reinterpret_cast<intptr_t>(stream));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *result) {
  return call([&] {
    rulesOf(type);
    *result = new DescriptorRef(std::make_shared<Descriptor>(type));
  });
}

cudnnStatus_t
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete &referenceOf(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle,
                                       Attribute name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *elements) {
  return call([&] {
    Descriptor &descriptor = descriptorOf(handle);
    if (descriptor.isFinal)
      refuse(CUDNN_STATUS_NOT_INITIALIZED,
             "attribute %d of a finalized descriptor is set", name);
    const AttributeRule *rule = nullptr;
    Rules rules = rulesOf(descriptor.type);
    for (const AttributeRule &candidate : rules)
      if (candidate.name == name)
        rule = &candidate;
    if (!rule)
      refuse(CUDNN_STATUS_BAD_PARAM,
             "descriptor type %d has no attribute %d to be set",
             descriptor.type, name);
    bool isDouble = type == CUDNN_TYPE_DOUBLE && rule->type == CUDNN_TYPE_FLOAT;
    if ((type != rule->type && !isDouble) || count < 1)
      refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
             "attribute %d is %lld of type %d, expected type %d", name,
             (long long)count, type, rule->type);
    Descriptor::Value value{type, count, {}, {}};
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      const auto *handles =
          static_cast<const cudnnBackendDescriptor_t *>(elements);
      for (int64_t i = 0; i < count; ++i)
        value.references.push_back(finalized(handles[i]));
    } else {
      const auto *bytes = static_cast<const char *>(elements);
      value.bytes.assign(bytes, bytes + uint64_t(count) * sizeOf(type));
    }
    descriptor.values[name] = std::move(value);
  });
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  return call([&] {
    Descriptor &descriptor = descriptorOf(handle);
    for (const AttributeRule &rule : rulesOf(descriptor.type))
      if (rule.isRequired)
        descriptor.get(rule.name);
    check(descriptor);
    descriptor.isFinal = true;
  });
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t handle,
                                       Attribute name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t wanted, int64_t *count,
                                       void *elements) {
  return call([&] {
    DescriptorRef descriptor = finalized(handle);
    auto expectType = [&](cudnnBackendAttributeType_t expected) {
      if (type != expected)
        refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
               "attribute %d is asked for as type %d, expected %d", name, type,
               expected);
    };
    auto give = [&](int64_t i, cudnnBackendDescriptorType_t kind,
                    Engine engine) {
      auto *handles = static_cast<cudnnBackendDescriptor_t *>(elements);
      Descriptor &other = descriptorOf(handles[i]);
      if (other.type != kind)
        refuse(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
               "attribute %d is put into a descriptor of type %d, expected %d",
               name, other.type, kind);
      other.engine = engine;
      other.values = descriptor->values; // of the heuristics: the graph
      other.isFinal = true;
    };
    auto giveNumber = [&](int64_t number) {
      expectType(CUDNN_TYPE_INT64);
      *static_cast<int64_t *>(elements) = number;
      *count = 1;
    };
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
      expectType(CUDNN_TYPE_BACKEND_DESCRIPTOR);
      std::vector<Engine> engines = enginesOf(*descriptor);
      *count = int64_t(engines.size());
      for (int64_t i = 0; i < std::min(*count, wanted); ++i)
        give(i, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, engines[size_t(i)]);
      break;
    }
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      expectType(CUDNN_TYPE_BACKEND_DESCRIPTOR);
      give(0, CUDNN_BACKEND_ENGINE_DESCRIPTOR, descriptor->engine);
      *count = 1;
      break;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: {
      expectType(CUDNN_TYPE_NUMERICAL_NOTE);
      auto notes = notesOf(descriptor->engine);
      *count = int64_t(notes.size());
      for (int64_t i = 0; i < std::min(*count, wanted); ++i)
        static_cast<cudnnBackendNumericalNote_t *>(elements)[i] =
            notes[size_t(i)];
      break;
    }
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
      expectType(CUDNN_TYPE_BACKEND_DESCRIPTOR);
      *count = usesTensorCores(descriptor->engine) ? 1 : 0;
      for (int64_t i = 0; i < std::min(*count, wanted); ++i)
        give(i, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, descriptor->engine);
      break;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
      expectType(CUDNN_TYPE_KNOB_TYPE);
      *static_cast<cudnnBackendKnobType_t *>(elements) =
          CUDNN_KNOB_TYPE_TILE_SIZE;
      *count = 1;
      break;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
      giveNumber(descriptor->engine == Engine::FastTensorCores);
      break;
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      giveNumber(numberOf(descriptor->engine));
      break;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      giveNumber(workspaceBytes(
          descriptor->reference(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
              .reference(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH),
          descriptor->engine));
      break;
    default:
      refuse(CUDNN_STATUS_NOT_SUPPORTED,
             "attribute %d, which the stand-in does not give", name);
    }
  });
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t planHandle,
                                  cudnnBackendDescriptor_t packHandle) {
  return call([&] {
    DescriptorRef plan = finalized(planHandle), pack = finalized(packHandle);
    const Descriptor &graph =
        plan->reference(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
            .reference(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    Run run{graph.get(CUDNN_ATTR_OPERATIONGRAPH_OPS).references,
            plan->engine,
            {},
            Machine::get().draw()};
    std::vector<int64_t> identifiers =
        pack->numbers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    std::vector<int64_t> addresses =
        pack->numbers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (size_t i = 0; i < identifiers.size(); ++i)
      run.addresses[identifiers[i]] =
          reinterpret_cast<const void *>(addresses[i]);
    std::vector<Access> accesses = run.accesses();
    const void *workspace =
        pack->number<const void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    accesses.push_back(
        {workspace, uint64_t(workspaceBytes(graph, plan->engine)), true});
    int stream = reinterpret_cast<Handle *>(handle)->stream +
                 Machine::get().hasBug("next-stream-dnn");
    std::string name = OperationKind::find(run.operations[0]->type)->name;
    Machine::get().add(stream, name, accesses, [run] {
      auto begin = std::chrono::steady_clock::now();
      run.run();
      if (run.engine == Engine::TensorCores && getenv("DTC_STANDIN_SLOW_PLANS"))
        std::this_thread::sleep_for(std::chrono::steady_clock::now() - begin);
      return true;
    });
  });
}

} // extern "C"
