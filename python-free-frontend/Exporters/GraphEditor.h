//===- GraphEditor.h - changes of a graph that keep its order - -*- C++ -*-===//
//
// Rewrites add nodes before or after those of the graph, and tensors. Nodes
// keep their indices until `insertNodes` puts all that was added in its place.
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

class GraphEditor {
public:
  explicit GraphEditor(onnx::GraphProto &graph);

  int size() const { return graph.node_size(); }
  onnx::NodeProto &node(int index) { return *graph.mutable_node(index); }
  const onnx::NodeProto &node(int index) const { return graph.node(index); }

  /// Whether it is the name of any value or tensor.
  bool hasName(llvm::StringRef name) const { return names.contains(name); }
  /// Names that nodes read now, and outputs.
  llvm::StringSet<> findReads() const;

  /// Null if no initializer has that name.
  const onnx::TensorProto *findTensor(llvm::StringRef name) const;
  /// A tensor with the elements of `like`.
  void addTensor(const onnx::TensorProto &like, llvm::StringRef name,
                 llvm::ArrayRef<int64_t> dims);
  /// A tensor of these bytes.
  void addTensor(int32_t type, llvm::StringRef bytes, llvm::StringRef name,
                 llvm::ArrayRef<int64_t> dims);
  /// Adds INT64 numbers, and returns their name, made of `name`.
  std::string addIntegers(const llvm::Twine &name,
                          llvm::ArrayRef<int64_t> integers,
                          llvm::ArrayRef<int64_t> dims);
  /// Gives an initializer another name.
  void renameTensor(llvm::StringRef from, llvm::StringRef to);
  /// A name that nothing has yet.
  std::string makeName(const llvm::Twine &name);

  /// A node after one of the graph.
  onnx::NodeProto &addAfter(int index) { return after[index].emplace_back(); }
  /// Adds `op(operands)` before a node, and returns the result's name.
  std::string applyBefore(int index, llvm::StringRef op,
                          llvm::ArrayRef<std::string> operands);
  /// The node that was added last before one.
  onnx::NodeProto &getLastBefore(int index) { return before[index].back(); }
  /// Puts added nodes in their places and drops initializers that lost their
  /// uses. Indices of nodes, and pointers to tensors, end here.
  void insertNodes();

protected:
  onnx::GraphProto &graph;
  llvm::StringMap<onnx::TensorProto *> tensors;
  llvm::StringSet<> names;
  /// Initializers that no node reads in the file.
  llvm::StringSet<> unread;

private:
  llvm::StringMap<unsigned> copies;
  std::map<int, std::vector<onnx::NodeProto>> before, after;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_GRAPHEDITOR_H
