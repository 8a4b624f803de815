//===- FxGraph.h - a graph with the calls it comes from ---------*- C++ -*-===//
//
// A graph of PyTorch's dynamo exporter: each node with the call of torch.export
// that it is part of, and what is needed to give the graph back what the
// exporter's optimizer took from it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_FXGRAPH_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_FXGRAPH_H

#include "Exporters/Dynamo/FxCall.h"
#include "Exporters/Dynamo/Provenance.h"
#include "Exporters/GraphEditor.h"

#include "llvm/ADT/MapVector.h"

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

class FxGraph : public GraphEditor {
public:
  /// Puts modules into the names of nodes, as the older exporter does.
  FxGraph(onnx::GraphProto &graph, const Provenance &provenance);

  const Provenance &provenance;

  const NodeOrigin &origin(int index) const { return origins[index]; }

  /// Whether the graph computes or has as an input what a call results in.
  bool hasValue(llvm::StringRef value) const { return values.contains(value); }
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

  /// The name of a later call of this kind that none has or reads yet.
  std::string makeCallName(llvm::StringRef call);

private:
  void addUses(const onnx::NodeProto &node, const NodeOrigin &origin);

  std::vector<NodeOrigin> origins;
  llvm::StringSet<> values, used, modules;
  llvm::StringSet<> named; ///< by calls
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_FXGRAPH_H
