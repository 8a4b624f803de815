//===- RestoreRecurrent.cpp - weights of recurrent layers, by calls -------===//
//
// See RestoreRecurrent.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RestoreRecurrent.h"
#include "Exporters/RecurrentWeights.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Names the parameters of the `layer`th layer of a call. Its arguments are the
/// input, the state, the parameters of each direction of each layer, whether
/// there are biases, and how many layers.
static bool nameParameters(const FxCall &call, const Provenance &provenance,
                           int layer, RecurrentWeights &weights) {
  if (call.arguments.size() < 5 || !call.integers[4])
    return false;
  bool hasBias = call.texts[3] == "True";
  size_t each = hasBias ? 4 : 2, wanted = each * weights.getNumDirections();
  ArrayRef<std::string> all = call.arguments[2];
  if (layer >= *call.integers[4] || all.size() != wanted * *call.integers[4])
    return false; // more, if states are projected
  for (auto [i, name] : enumerate(all.slice(layer * wanted, wanted))) {
    const Origin *origin = provenance.findArgument(name);
    if (!origin || origin->kind != Origin::Parameter)
      return false;
    weights.addParameter(std::min<size_t>(i % each, 2), origin->name);
  }
  return true;
}

void restoreRecurrent(FxGraph &graph, TensorReader &reader,
                      RestoredTensors &result) {
  std::vector<std::string> names;
  for (auto &[name, nodes] : graph.findCalls()) {
    int layer = 0;
    for (int index : nodes) {
      StringRef op = graph.node(index).op_type();
      const FxCall &call = *graph.origin(index).call;
      if (!(op == "LSTM" && call.op == "lstm") &&
          !(op == "GRU" && call.op == "gru"))
        continue;
      RecurrentWeights weights(graph, reader, {}, index);
      if (weights.readOperands(graph.provenance) &&
          nameParameters(call, graph.provenance, layer, weights))
        weights.restore(names, result.warnings);
      ++layer;
    }
  }
  describeRecurrent(names, result.notes);
}

} // namespace dtc::frontend
