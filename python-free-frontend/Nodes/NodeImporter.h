//===- NodeImporter.h - from nodes to values --------------------*- C++ -*-===//
//
// In:  the nodes of a model, in order.
// Out: a binding for each result: a constant if all operands are known, else
//      an IR value of the function under construction.
// May include all other folders except Exporters/.
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

/// Imports nodes one after another.
class NodeImporter {
public:
  /// `floatType`: the type for ONNX's FLOAT. `live`: values that an output
  /// depends on.
  NodeImporter(ForwardFunction &function, const OperatorTable &operators,
               Randomness &randomness, DType floatType,
               const llvm::StringSet<> &live, ImportReport &report)
      : function(function), operators(operators), randomness(randomness),
        floatType(floatType), live(live), report(report) {}

  /// Version of the operator set.
  int64_t opset = 0;
  /// Parameters of the model. Those that a node uses become arguments.
  llvm::ArrayRef<Parameter> parameters;
  /// Values by name. Add inputs and initializers before the first node.
  llvm::StringMap<Binding> bindings;

  /// Imports a node that is node `index` of the graph or is inside of it. Skips
  /// a node if the import of an operand failed. Adds the node's own errors to
  /// the report.
  void import(const onnx::NodeProto &node, int index);
  /// The IR value of a binding. The first use creates it.
  mlir::Value materialize(Binding &binding);
  bool isSequence(llvm::StringRef name) const {
    return sequences.contains(name);
  }

private:
  mlir::Value materialize(Binding &binding, NodeBuilder &node);
  void fail(llvm::Error error, const onnx::NodeProto &node,
            llvm::StringRef name);
  void importAll(llvm::ArrayRef<onnx::NodeProto> nodes, int index);
  /// False if the import of an operand failed, which the report says already.
  bool readOperands(Call &call) const;
  /// Reports outputs that something reads and the rule has not set.
  void requireOutputs(const onnx::NodeProto &node, llvm::StringRef name);
  std::string makePrefix(const onnx::NodeProto &node, int index);
  /// Whether other nodes replaced the node.
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
  /// The argument of each parameter; null until a node uses it.
  std::vector<mlir::Value> arguments;
  /// Name prefixes of inner graphs that are taken.
  llvm::StringSet<> prefixes;
  /// Number of iterations of all loops.
  int64_t rounds = 0;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_NODES_NODEIMPORTER_H
