//===- NodeImporter.h - from nodes to values --------------------*- C++ -*-===//
//
// In:  the nodes of a model, in order.
// Out: a binding for each result: a constant where all that it depends on is
//      known, else an IR value of the function that is built.
// May include all other folders but File/ModelFile.h and Exporters/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_NODES_NODEIMPORTER_H
#define DTC_FRONTEND_NODES_NODEIMPORTER_H

#include "ControlFlow/Sequences.h"
#include "ControlFlow/UnrollLoops.h"
#include "Evaluate/Evaluator.h"
#include "Nodes/Binding.h"
#include "Nodes/ForwardFunction.h"
#include "Ops/Masks.h"
#include "Ops/Randomness.h"

namespace dtc::frontend {

class NodeImporter {
public:
  /// `floatType`: what ONNX's FLOAT is here. `live`: values that an output
  /// depends on.
  NodeImporter(ForwardFunction &function, const OperatorTable &operators,
               Randomness &randomness, DType floatType,
               const llvm::StringSet<> &live, ImportReport &report)
      : function(function), operators(operators), randomness(randomness),
        floatType(floatType), live(live), report(report) {}

  /// Version of the operator set whose rules hold.
  int64_t opset = 0;
  /// Parameters that values of the model are. Those that are used become
  /// arguments.
  llvm::ArrayRef<Parameter> parameters;
  /// What is known by name: inputs and initializers before the first node.
  llvm::StringMap<Binding> bindings;

  /// Imports a node that is, or is within, node `index` of the graph. A node
  /// whose operands could not be imported is passed over; problems of its own
  /// go to the report.
  void import(const onnx::NodeProto &node, int index);
  /// The IR value of a binding, made at its first use.
  mlir::Value materialize(Binding &binding);
  bool isSequence(llvm::StringRef name) const {
    return sequences.contains(name);
  }

private:
  mlir::Value materialize(Binding &binding, NodeBuilder &node);
  void fail(llvm::Error error, const onnx::NodeProto &node,
            llvm::StringRef name);
  void importAll(llvm::ArrayRef<onnx::NodeProto> nodes, int index);
  /// False when an operand had a problem, which was reported before.
  bool readOperands(Call &call) const;
  /// Errors where something needs an output that the rule has not set.
  void requireOutputs(const onnx::NodeProto &node, llvm::StringRef name);
  std::string makePrefix(const onnx::NodeProto &node, int index);
  /// Whether the node became others.
  llvm::Expected<bool> expand(const Call &call, int index);
  llvm::Error importBranch(const Call &call, int index);
  llvm::Error importLoop(const Call &call, int index);
  llvm::Expected<bool> goesOn(const Unroller &loop) const;
  llvm::Error evaluate(const Call &call);
  llvm::Error follow(const Call &call, Binding &result) const;
  llvm::Error selectByMask(NodeBuilder &node);
  llvm::Error build(const Call &call, llvm::StringRef name);

  ForwardFunction &function;
  const OperatorTable &operators;
  Randomness &randomness;
  DType floatType;
  const llvm::StringSet<> &live;
  ImportReport &report;

  Evaluator evaluator;
  Sequences sequences;
  Masks masks;
  /// The arguments of parameters; null until one is used.
  std::vector<mlir::Value> arguments;
  /// Of nodes of inner graphs.
  llvm::StringSet<> prefixes;
  /// Of all loops.
  int64_t rounds = 0;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_NODES_NODEIMPORTER_H
