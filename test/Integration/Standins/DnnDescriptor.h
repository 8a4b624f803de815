//===- DnnDescriptor.h - descriptors of the stand-in of cuDNN ---*- C++ -*-===//
//
// A descriptor is a list of attributes until it is finalized: then it must have
// what its kind requires, and the numbers must fit together.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TEST_STANDINS_DNNDESCRIPTOR_H
#define DTC_TEST_STANDINS_DNNDESCRIPTOR_H

#include <cstdint>
#include <cudnn_graph.h>
#include <library_types.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dtc::standin {

using Attribute = cudnnBackendAttributeName_t;

/// An error of the library, with the text of its last error.
struct Refusal {
  cudnnStatus_t status;
  std::string text;
};
[[noreturn, gnu::format(printf, 2, 3)]] void refuse(cudnnStatus_t status,
                                                    const char *pattern, ...);

/// Kinds of engines, in the order of the heuristics.
enum class Engine {
  Nondeterministic, ///< other bits in every run
  Greedy,           ///< wants a workspace that nobody has
  TensorCores,      ///< rounds operands of f32 to tf32
  FastTensorCores,  ///< the same with another knob
  Plain,
  Unnoted, ///< other bits in every run, of which the library says nothing
};

inline bool usesTensorCores(Engine engine) {
  return engine == Engine::TensorCores || engine == Engine::FastTensorCores;
}

struct Descriptor;
using DescriptorRef = std::shared_ptr<const Descriptor>;

/// A tensor's elements are where its strides say: in memory of the device, or
/// nowhere; or it is one number in memory of the host.
struct Tensor {
  int64_t identifier, alignment;
  cudaDataType_t type;
  std::vector<int64_t> dims, strides;
  bool isVirtual, isByValue;

  bool isOnDevice() const { return !isVirtual && !isByValue; }

  int64_t count() const;
  /// From the first element to behind the last.
  uint64_t bytes() const;
};

struct Descriptor {
  struct Value {
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<char> bytes;
    std::vector<DescriptorRef> references;
  };

  explicit Descriptor(cudnnBackendDescriptorType_t type) : type(type) {}

  /// Refuses what is not there.
  const Value &get(Attribute name) const;
  bool has(Attribute name) const { return values.count(name) != 0; }
  template <typename T> T number(Attribute name) const {
    return *reinterpret_cast<const T *>(get(name).bytes.data());
  }
  /// A number that is given as FLOAT or as DOUBLE.
  double real(Attribute name) const;
  std::vector<int64_t> numbers(Attribute name) const;
  const Descriptor &reference(Attribute name) const {
    return *get(name).references.at(0);
  }
  Tensor tensor() const;
  Tensor tensor(Attribute name) const { return reference(name).tensor(); }

  cudnnBackendDescriptorType_t type;
  bool isFinal = false;
  std::map<Attribute, Value> values;
  Engine engine = Engine::Plain; ///< of engines, and of what has one
};

/// Elements in the order of the dimensions, the last one fastest.
using Elements = std::vector<double>;

/// The valid attributes of descriptors.
struct AttributeRule {
  Attribute name;
  cudnnBackendAttributeType_t type;
  bool isRequired = true;
};

/// A kind of operation.
struct OperationKind {
  cudnnBackendDescriptorType_t type;
  const char *name;
  /// Attributes that are tensors; not all need to be there.
  std::vector<Attribute> reads, writes;
  /// Refuses an operation whose numbers do not fit together.
  void (*check)(const Descriptor &operation);
  /// By identifier: has what the operation reads, and is given what it writes.
  void (*run)(const Descriptor &operation, Engine engine,
              std::map<int64_t, Elements> &elements);
  /// Whether the results have a share of what they were.
  bool (*addsToResult)(const Descriptor &operation);

  /// Null for descriptors that are no operation.
  static const OperationKind *find(cudnnBackendDescriptorType_t type);
};

// Operations on matrices, of DnnMatrices.cpp.
void checkMatmul(const Descriptor &operation);
void runMatmul(const Descriptor &operation, Engine engine,
               std::map<int64_t, Elements> &elements);
void checkReduction(const Descriptor &operation);
void runReduction(const Descriptor &operation, Engine engine,
                  std::map<int64_t, Elements> &elements);
void checkTranspose(const Descriptor &operation);
void runTranspose(const Descriptor &operation, Engine engine,
                  std::map<int64_t, Elements> &elements);

/// Calls body(number, indices) for the elements in their order.
template <typename Body>
void forEachIndex(const std::vector<int64_t> &dims, const Body &body) {
  size_t count = 1;
  for (int64_t size : dims)
    count *= size_t(size);
  std::vector<int64_t> index(dims.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    body(i, index);
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < dims[dim])
        break;
      index[dim] = 0;
    }
  }
}

/// Whether engines compute this graph, as the library's do.
bool isSupported(const std::vector<DescriptorRef> &operations);

} // namespace dtc::standin

#endif // DTC_TEST_STANDINS_DNNDESCRIPTOR_H
