//===- GraphEditor.h - edits a graph and keeps its order --------*- C++ -*-===//
//
// Rewrites add tensors, and nodes before or after existing ones. Nodes keep
// their indices until `insertNodes` moves all new nodes to their places.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_GRAPHEDITOR_H
#define DTC_FRONTEND_EXPORTERS_GRAPHEDITOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

namespace dtc::frontend {

/// Edits one graph.
class GraphEditor {
public:
  explicit GraphEditor(onnx::GraphProto &graph);

  int size() const { return graph.node_size(); }
  onnx::NodeProto &node(int index) { return *graph.mutable_node(index); }
  const onnx::NodeProto &node(int index) const { return graph.node(index); }

  /// Whether a value or tensor has this name.
  bool hasName(llvm::StringRef name) const { return names.contains(name); }
  /// Names of outputs, and names that nodes read now.
  llvm::StringSet<> findReads() const;

  /// Null if no initializer has this name.
  const onnx::TensorProto *findTensor(llvm::StringRef name) const;
  /// Adds an initializer with the elements of `like`.
  void addTensor(const onnx::TensorProto &like, llvm::StringRef name,
                 llvm::ArrayRef<int64_t> dims);
  /// Adds an initializer with these bytes.
  void addTensor(int32_t type, llvm::StringRef bytes, llvm::StringRef name,
                 llvm::ArrayRef<int64_t> dims);
  /// Adds INT64 numbers. Returns their name, which is derived from `name`.
  std::string addIntegers(const llvm::Twine &name,
                          llvm::ArrayRef<int64_t> integers,
                          llvm::ArrayRef<int64_t> dims);
  /// Adds one number in the type of `like`, and returns its name.
  std::string addNumber(const llvm::Twine &name, const onnx::TensorProto &like,
                        double number);
  /// Renames an initializer.
  void renameTensor(llvm::StringRef from, llvm::StringRef to);
  /// Returns a name that is not in use, derived from `name`.
  std::string makeName(const llvm::Twine &name);

  /// Adds a node after node `index`.
  onnx::NodeProto &addAfter(int index) { return after[index].emplace_back(); }
  /// Adds `op(operands)` before node `index`. Returns the name of the result.
  std::string applyBefore(int index, llvm::StringRef op,
                          llvm::ArrayRef<std::string> operands);
  /// Adds a Reshape to `dims` before node `index`. Returns the name of the
  /// result.
  std::string reshapeBefore(int index, const std::string &value,
                            llvm::ArrayRef<int64_t> dims);
  /// The last node that was added before node `index`.
  onnx::NodeProto &getLastBefore(int index) { return before[index].back(); }
  /// Moves new nodes to their places, and drops initializers that are no longer
  /// used. Invalidates node indices and pointers to tensors. Returns the former
  /// index of each node, or -1 for a new one.
  std::vector<int> insertNodes();

protected:
  onnx::GraphProto &graph;
  llvm::StringMap<onnx::TensorProto *> tensors;
  llvm::StringSet<> names;
  /// Initializers that no node of the file reads.
  llvm::StringSet<> unread;

private:
  void readGraph();

  llvm::StringMap<unsigned> copies;
  std::map<int, std::vector<onnx::NodeProto>> before, after;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_GRAPHEDITOR_H
