//===- FxGraph.h - a graph with the calls it comes from ---------*- C++ -*-===//
//
// A graph of PyTorch's dynamo exporter: each node with the call of torch.export
// that it is part of, and what is needed to give the graph back what the
// exporter's optimizer took from it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_FXGRAPH_H
#define DTC_FRONTEND_FXGRAPH_H

#include "Provenance.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

#include <map>

namespace dtc::frontend {

struct NodeOrigin {
  std::optional<FxCall> call;
  /// From the outermost to the node's own: "", "model", "model.layers.0".
  std::vector<std::string> modules;
  /// The line of the model's source that made the call.
  std::string source;

  llvm::StringRef module() const {
    return modules.empty() ? llvm::StringRef()
                           : llvm::StringRef(modules.back());
  }
};

class FxGraph {
public:
  /// Puts modules into the names of nodes, as the older exporter does.
  FxGraph(onnx::GraphProto &graph, const Provenance &provenance);

  const Provenance &provenance;

  int size() const { return graph.node_size(); }
  onnx::NodeProto &node(int index) { return *graph.mutable_node(index); }
  const onnx::NodeProto &node(int index) const { return graph.node(index); }
  const NodeOrigin &origin(int index) const { return origins[index]; }

  /// Whether the graph computes or has as an input what a call results in.
  bool hasValue(llvm::StringRef value) const { return values.contains(value); }
  /// Whether it is the name of any value or tensor.
  bool hasName(llvm::StringRef name) const { return names.contains(name); }
  /// Whether a value is no result of a node, no input and no tensor of the
  /// state dict. Parts that a call gives several of have names of their own.
  bool isGone(llvm::StringRef value) const;
  /// What the call of a node names in place of the result of another call of
  /// its kind that an operand is: the exporter merged the two. "" if it names
  /// that operand, or it is not clear what.
  std::string findMerged(int node, int operand) const;
  /// Whether a call names a tensor of the state dict, or reads it and names no
  /// other there, or nothing reads it.
  bool isUsed(llvm::StringRef name) const { return used.contains(name); }
  /// What nodes read, now.
  llvm::StringSet<> findReads() const;
  /// Marks a tensor as used; true the first time.
  bool markUsed(llvm::StringRef name) { return used.insert(name).second; }
  /// Whether a module has nodes.
  bool hasNodes(llvm::StringRef module) const {
    return modules.contains(module);
  }

  /// The nodes of each call, by its result.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<int>> findCalls() const;

  /// The first dimension of the first input, or 0 if that is dynamic.
  int64_t batch() const;

  /// Null if no initializer has that name.
  const onnx::TensorProto *findTensor(llvm::StringRef name) const;
  /// A tensor with the elements of `like`.
  void addTensor(const onnx::TensorProto &like, llvm::StringRef name,
                 llvm::ArrayRef<int64_t> dims);
  /// Adds INT64 numbers, and returns their name, made of `name`.
  std::string addIntegers(const llvm::Twine &name,
                          llvm::ArrayRef<int64_t> integers,
                          llvm::ArrayRef<int64_t> dims);
  /// A tensor of these bytes.
  void addTensor(int32_t type, llvm::StringRef bytes, llvm::StringRef name,
                 llvm::ArrayRef<int64_t> dims);
  /// A name that nothing has yet.
  std::string makeName(const llvm::Twine &name);
  /// The name of a later call of this kind that none has or reads yet.
  std::string makeCallName(llvm::StringRef call);

  /// A node after one of the graph, once `insertNodes` is called.
  onnx::NodeProto &addAfter(int index) { return after[index].emplace_back(); }
  /// Adds `op(operands)` before a node, and returns the result's name.
  std::string applyBefore(int index, llvm::StringRef op,
                          llvm::ArrayRef<std::string> operands);
  /// The node that was added last before one.
  onnx::NodeProto &getLastBefore(int index) { return before[index].back(); }
  /// Ends the use of indices of nodes and of tensors; drops initializers
  /// without uses.
  void insertNodes();
  /// Gives an initializer another name.
  void renameTensor(llvm::StringRef from, llvm::StringRef to);

private:
  void addUses(const onnx::NodeProto &node, const NodeOrigin &origin);

  onnx::GraphProto &graph;
  std::vector<NodeOrigin> origins;
  llvm::StringMap<onnx::TensorProto *> tensors;
  llvm::StringSet<> names, values, used, modules;
  llvm::StringSet<> named; ///< by calls
  /// Initializers that the file has for the state dict's sake.
  llvm::StringSet<> unread;
  llvm::StringMap<unsigned> copies;
  std::map<int, std::vector<onnx::NodeProto>> before, after;
};

/// "model.norm" and "weight" of "model.norm.weight".
std::pair<llvm::StringRef, llvm::StringRef> splitName(llvm::StringRef name);

bool isFloatTensor(const onnx::TensorProto *tensor);
llvm::SmallVector<int64_t> dimsOf(const onnx::TensorProto &tensor);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FXGRAPH_H
