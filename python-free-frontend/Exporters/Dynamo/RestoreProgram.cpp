//===- RestoreProgram.cpp - the graph as its author wrote it --------------===//
//
// All rules in the order in which they are applied.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RestoreProgram.h"
#include "Exporters/Dynamo/Rules.h"

using namespace llvm;

namespace dtc::frontend {

RestoredTensors restoreProgram(onnx::GraphProto &graph,
                               const RecordedTensors &tensors,
                               TensorReader &reader) {
  Findings findings;
  for (const auto &[name, target] : tensors.renamedTensors())
    findings.add(Finding::NamedLikeInput, quote(target, "is saved as", name));

  // No result has the name of a parameter that may come back.
  renameResults(graph, tensors);
  for (onnx::NodeProto &node : *graph.mutable_node())
    nameByModule(node);
  RecordedProgram program(graph, tensors, reader);

  // Operands that their calls name.
  restoreRecurrent(program, findings);
  findTies(program, findings);
  std::vector<std::string> replaced = restoreOperands(program, findings);

  // Operands that the exporter computed.
  restoreComputed(program, findings);

  // These rules change gradients, and no values.
  stopGradients(program, findings);
  hideKeys(program);
  restoreClamps(program);

  findLosses(program, findings);
  program.insertNodes();
  nameTies(program, findings);
  findUnread(program, replaced, findings);
  return findings.finish();
}

} // namespace dtc::frontend
