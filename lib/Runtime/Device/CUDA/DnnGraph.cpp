//===- DnnGraph.cpp - operations as cuDNN has them ------------------------===//

#include "DnnGraph.h"

#include "Core/Error.h"
#include "Library.h"

#include <algorithm>

using namespace dtc::rt;

const DnnFunctions &DnnFunctions::get() {
  static const DnnFunctions functions = [] {
    static const Library library("cuDNN 9", {"libcudnn.so.9"},
                                 "install cuDNN's libraries, or say where they "
                                 "are in LD_LIBRARY_PATH");
    DnnFunctions loaded;
    DTC_DNN_FUNCTIONS(DTC_LOAD)
    return loaded;
  }();
  return functions;
}

std::string DnnFunctions::describe(cudnnStatus_t status) const {
  char text[512] = "";
  cudnnGetLastErrorString(text, sizeof text);
  return format("%s (%s)", cudnnGetErrorString(status),
                *text ? text : "no description");
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

DnnDescriptor::DnnDescriptor(cudnnBackendDescriptorType_t type) {
  DTC_DNN(cudnnBackendCreateDescriptor(type, &descriptor));
}

DnnDescriptor::~DnnDescriptor() {
  if (descriptor)
    DnnFunctions::get().cudnnBackendDestroyDescriptor(descriptor);
}

DnnDescriptor &DnnDescriptor::set(cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type,
                                  int64_t count, const void *elements) {
  DTC_DNN(cudnnBackendSetAttribute(descriptor, name, type, count, elements));
  return *this;
}

DnnDescriptor &DnnDescriptor::finalize() {
  DTC_DNN(cudnnBackendFinalize(descriptor));
  return *this;
}

bool DnnDescriptor::tryFinalize(std::string *reason) {
  const DnnFunctions &dnn = DnnFunctions::get();
  cudnnStatus_t status = dnn.cudnnBackendFinalize(descriptor);
  if (status != CUDNN_STATUS_SUCCESS && reason)
    *reason = dnn.describe(status);
  return status == CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Graphs and plans
//===----------------------------------------------------------------------===//

/// The configurations of the library's heuristics for a graph, best first.
static std::vector<DnnDescriptor>
findConfigurations(const DnnTarget &target, const DnnDescriptor &graph,
                   cudnnBackendHeurMode_t mode) {
  DnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (target.properties)
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
  std::vector<DnnDescriptor> found;
  if (!heuristics.tryFinalize(target.refusal))
    return found;
  int64_t count = 0;
  DTC_DNN(cudnnBackendGetAttribute(
      heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
      CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
  std::vector<cudnnBackendDescriptor_t> handles;
  handles.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i)
    handles.push_back(
        found.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  DTC_DNN(cudnnBackendGetAttribute(heuristics.get(),
                                   CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count,
                                   static_cast<void *>(handles.data())));
  found.erase(found.begin() + count, found.end());
  return found;
}

static DnnDescriptor engineOf(const DnnDescriptor &configuration) {
  DnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = engine.get();
  int64_t count = 0;
  DTC_DNN(cudnnBackendGetAttribute(
      configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, static_cast<void *>(&handle)));
  return engine;
}

/// Whether the configuration keeps the promises about its numbers.
static bool isExact(const DnnDescriptor &configuration,
                    const DnnLimits &limits) {
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  int64_t count = 0;
  DTC_DNN(cudnnBackendGetAttribute(
      engineOf(configuration).get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
      CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count,
      notes));
  return std::none_of(notes, notes + count, [&](auto note) {
    switch (note) {
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      return true;
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      return !limits.mayUseTensorCores;
    default:
      return false;
    }
  });
}

const DnnDescriptor &DnnGraph::addTensor(int64_t identifier,
                                         cudnnDataType_t type,
                                         std::span<const int64_t> dims,
                                         std::span<const int64_t> strides,
                                         int64_t alignment, DnnTensor where) {
  bool isVirtual = where == DnnTensor::Virtual;
  bool isByValue = where == DnnTensor::ByValue;
  DnnDescriptor &tensor = addPart(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, identifier)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &isVirtual)
      .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &isByValue);
  return tensor.finalize();
}

DnnDescriptor &DnnGraph::addPart(cudnnBackendDescriptorType_t type) {
  return parts.emplace_back(type);
}

DnnDescriptor &DnnGraph::addOperation(cudnnBackendDescriptorType_t type) {
  return operations.emplace_back(type);
}

/// Empty if the library does not have it for this graph.
std::vector<DnnDescriptor> DnnGraph::configure(const DnnTarget &target,
                                               const DnnDescriptor &graph) {
  std::vector<DnnDescriptor> found;
  DnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, target.engine->number);
  if (target.properties)
    engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *target.properties);
  if (!engine.tryFinalize(target.refusal))
    return found;
  std::vector<DnnDescriptor> choices;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (auto [knob, value] : target.engine->knobs) {
    DnnDescriptor &choice =
        choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &knob)
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value);
    if (!choice.tryFinalize(target.refusal))
      return found;
    handles.push_back(choice.get());
  }
  DnnDescriptor configuration(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  configuration.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine)
      .set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
           int64_t(handles.size()), static_cast<const void *>(handles.data()));
  if (configuration.tryFinalize(target.refusal))
    found.push_back(std::move(configuration));
  return found;
}

std::vector<DnnPlan> DnnGraph::find(const DnnTarget &target,
                                    const DnnLimits &limits) const {
  std::vector<cudnnBackendDescriptor_t> handles;
  handles.reserve(operations.size());
  for (const DnnDescriptor &operation : operations)
    handles.push_back(operation.get());
  DnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            int64_t(handles.size()), static_cast<const void *>(handles.data()));
  if (target.handle)
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
              static_cast<const void *>(&target.handle));
  std::vector<DnnPlan> plans;
  if (!graph.tryFinalize(target.refusal))
    return plans;
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (DnnDescriptor &configuration :
         target.engine ? configure(target, graph)
                       : findConfigurations(target, graph, mode)) {
      if (plans.size() == target.mostPlans)
        break;
      // An engine's notes hold for some of its knobs.
      if (!target.engine && !isExact(configuration, limits))
        continue;
      DnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      if (target.handle)
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                 static_cast<const void *>(&target.handle));
      if (target.properties)
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
      if (!plan.tryFinalize(target.refusal))
        continue;
      int64_t bytes = 0, count = 0;
      DTC_DNN(cudnnBackendGetAttribute(plan.get(),
                                       CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                       CUDNN_TYPE_INT64, 1, &count, &bytes));
      if (bytes <= limits.workspaceBytes)
        plans.emplace_back(std::move(configuration), std::move(plan), bytes);
    }
    if (!plans.empty() || target.engine)
      break; // others are the library's last resort
  }
  return plans;
}

static int64_t numberOf(const DnnDescriptor &descriptor,
                        cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type) {
  int64_t number = 0, count = 0; // or an enumerator, of 32 bits
  DTC_DNN(cudnnBackendGetAttribute(descriptor.get(), name, type, 1, &count,
                                   static_cast<void *>(&number)));
  return number;
}

std::string DnnPlan::name() const {
  std::vector<DnnDescriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> handles;
  handles.reserve(CUDNN_KNOB_TYPE_COUNTS);
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i)
    handles.push_back(
        knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR).get());
  int64_t count = 0;
  DTC_DNN(cudnnBackendGetAttribute(
      configuration.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
      CUDNN_TYPE_BACKEND_DESCRIPTOR, int64_t(handles.size()), &count,
      static_cast<void *>(handles.data())));
  std::string name = std::to_string(numberOf(engineOf(configuration),
                                             CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                             CUDNN_TYPE_INT64));
  for (const DnnDescriptor &knob : std::span(knobs).first(size_t(count)))
    name += format(", %lld=%lld",
                   (long long)numberOf(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                       CUDNN_TYPE_KNOB_TYPE),
                   (long long)numberOf(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                                       CUDNN_TYPE_INT64));
  return name;
}

void DnnPlan::run(cudnnHandle_t handle, const DnnAddresses &addresses,
                  const void *workspace) {
  auto known = packs.find({addresses, workspace});
  if (known == packs.end()) {
    std::vector<int64_t> identifiers;
    std::vector<const void *> pointers;
    for (size_t i = 0; i < addresses.size(); ++i)
      if (addresses[i]) {
        identifiers.push_back(int64_t(i) + 1);
        pointers.push_back(addresses[i]);
      }
    DnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, identifiers)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             int64_t(pointers.size()),
             static_cast<const void *>(pointers.data()))
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
             static_cast<const void *>(&workspace))
        .finalize();
    known =
        packs.emplace(std::pair(addresses, workspace), std::move(pack)).first;
  }
  DTC_DNN(cudnnBackendExecute(handle, plan.get(), known->second.get()));
}
