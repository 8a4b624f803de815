//===- DnnGraph.h - operations as cuDNN has them ----------------*- C++ -*-===//
//
// cuDNN's graph interface: descriptors, whose attributes are set one by one;
// graphs of operations on tensors; plans that run a graph.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DNNGRAPH_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DNNGRAPH_H

#include "Core/Fatal.h"
#include "dtc/Runtime/ABI.h"

#include <array>
#include <cudnn_graph.h>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dtc::rt {

#define DTC_DNN_FUNCTIONS(X)                                                   \
  X(cudnnBackendCreateDescriptor)                                              \
  X(cudnnBackendDestroyDescriptor)                                             \
  X(cudnnBackendExecute)                                                       \
  X(cudnnBackendFinalize)                                                      \
  X(cudnnBackendGetAttribute)                                                  \
  X(cudnnBackendSetAttribute)                                                  \
  X(cudnnCreate)                                                               \
  X(cudnnDestroy)                                                              \
  X(cudnnGetErrorString)                                                       \
  X(cudnnGetLastErrorString)                                                   \
  X(cudnnGetVersion)                                                           \
  X(cudnnSetStream)

/// Pointers to the functions, under their names.
struct DnnFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member of this name
#define DTC_MEMBER(name) decltype(&::name) name;
  DTC_DNN_FUNCTIONS(DTC_MEMBER)
#undef DTC_MEMBER
  /// Opens cuDNN once; throws an Error if there is none.
  static const DnnFunctions &get();

  /// "CUDNN_STATUS_BAD_PARAM (what the library says of it)".
  std::string describe(cudnnStatus_t status) const;
};

/// Ends the job unless a call of the library went well.
#define DTC_DNN(call)                                                          \
  do {                                                                         \
    const dtc::rt::DnnFunctions &dnn = dtc::rt::DnnFunctions::get();           \
    if (cudnnStatus_t status = dnn.call; status != CUDNN_STATUS_SUCCESS)       \
      dtc::rt::fatal("%s failed: %s", #call, dnn.describe(status).c_str());    \
  } while (false)

/// A descriptor. Attributes that the library does not accept are fatal.
class DnnDescriptor {
public:
  explicit DnnDescriptor(cudnnBackendDescriptorType_t type);
  DnnDescriptor(DnnDescriptor &&other) noexcept
      : descriptor(std::exchange(other.descriptor, nullptr)) {}
  DnnDescriptor &operator=(DnnDescriptor &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~DnnDescriptor();

  cudnnBackendDescriptor_t get() const { return descriptor; }

  DnnDescriptor &set(cudnnBackendAttributeName_t name,
                     cudnnBackendAttributeType_t type, int64_t count,
                     const void *elements);
  DnnDescriptor &set(cudnnBackendAttributeName_t name,
                     std::span<const int64_t> numbers) {
    return set(name, CUDNN_TYPE_INT64, int64_t(numbers.size()), numbers.data());
  }
  DnnDescriptor &set(cudnnBackendAttributeName_t name, int64_t number) {
    return set(name, CUDNN_TYPE_INT64, 1, &number);
  }
  DnnDescriptor &set(cudnnBackendAttributeName_t name, cudnnDataType_t type) {
    return set(name, CUDNN_TYPE_DATA_TYPE, 1, &type);
  }
  DnnDescriptor &set(cudnnBackendAttributeName_t name,
                     const DnnDescriptor &other) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
               static_cast<const void *>(&other.descriptor));
  }
  /// Finalizes the descriptor: the library checks it as a whole, and no
  /// attribute can be set any more.
  DnnDescriptor &finalize();
  /// Finalizes a descriptor that may not be supported: then returns false, and
  /// `reason`, unless null, gets the library's message.
  bool tryFinalize(std::string *reason);

private:
  cudnnBackendDescriptor_t descriptor = nullptr;
};

/// An engine with its knobs, in place of what heuristics give.
struct DnnEngine {
  int64_t number; ///< the library's, of the engines for such graphs
  std::vector<std::pair<cudnnBackendKnobType_t, int64_t>> knobs;
};

/// The GPU that plans run on, or the properties of one, with which plans are
/// found but not run.
struct DnnTarget {
  cudnnHandle_t handle = nullptr;
  const DnnDescriptor *properties = nullptr;
  /// The number of plans of a graph that are found, for measurements to choose
  /// from.
  size_t mostPlans = 1;
  /// Unless null, gets the library's message about the last graph or plan that
  /// it refused.
  std::string *refusal = nullptr;
  /// The GPU's: 100 for sm_100; 0 if it is not known.
  int architecture = 0;
  /// The only one that plans may have, unless null.
  const DnnEngine *engine = nullptr;
};

/// Limits of a plan.
struct DnnLimits {
  /// Operands of f32 may be rounded to tf32, as tensor cores have them.
  bool mayUseTensorCores;
  int64_t workspaceBytes;
};

/// The most tensors that a plan has.
constexpr int64_t maxDnnTensors = 16;
/// Addresses of a plan's tensors; the tensor with the identifier i + 1 is at
/// addresses[i]. What the plan does not have is null.
using DnnAddresses = std::array<const void *, maxDnnTensors>;

/// A way to compute a graph of operations.
class DnnPlan {
public:
  DnnPlan(DnnDescriptor configuration, DnnDescriptor plan, int64_t bytes)
      : configuration(std::move(configuration)), plan(std::move(plan)),
        bytes(bytes) {}

  int64_t workspaceBytes() const { return bytes; }
  /// The library's number of the engine, and of each of its knobs, with the
  /// value: "5, 2=3, 7=1".
  std::string name() const;

  /// Puts it on the handle's stream.
  void run(cudnnHandle_t handle, const DnnAddresses &addresses,
           const void *workspace);

private:
  DnnDescriptor configuration, plan;
  int64_t bytes;
  /// By the addresses and that of the workspace.
  std::map<std::pair<DnnAddresses, const void *>, DnnDescriptor> packs;
};

/// The place of a tensor's elements: in memory of the device, nowhere, or, for
/// a single element, in memory of the host.
enum class DnnTensor { InMemory, Virtual, ByValue };

/// Tensors and operations on them.
class DnnGraph {
public:
  /// Elements are where the strides say. Addresses are multiples of `alignment`
  /// bytes.
  const DnnDescriptor &addTensor(int64_t identifier, cudnnDataType_t type,
                                 std::span<const int64_t> dims,
                                 std::span<const int64_t> strides,
                                 int64_t alignment,
                                 DnnTensor where = DnnTensor::InMemory);
  /// Adds an operation, or a part that operations refer to. The caller sets its
  /// attributes and finalizes it.
  DnnDescriptor &addPart(cudnnBackendDescriptorType_t type);
  DnnDescriptor &addOperation(cudnnBackendDescriptorType_t type);

  /// The first plans of the library's heuristics that give the same bits in
  /// every run, sum in the type of the operations, and keep the limits.
  std::vector<DnnPlan> find(const DnnTarget &target,
                            const DnnLimits &limits) const;

private:
  /// The target's own engine, if it has one.
  static std::vector<DnnDescriptor> configure(const DnnTarget &target,
                                              const DnnDescriptor &graph);
  // References stay.
  std::deque<DnnDescriptor> parts, operations;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DNNGRAPH_H
