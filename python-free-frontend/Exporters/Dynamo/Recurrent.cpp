//===- Recurrent.cpp - weights of recurrent layers, by calls --------------===//
//
//   LSTM(x, val_41, val_42, val_64)     %lstm = lstm(%x, [%zeros, %zeros_1],
//       [%p_rnn_weight_ih_l0, %p_rnn_weight_hh_l0, %p_rnn_bias_ih_l0, ...])
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Rules.h"
#include "Exporters/RecurrentWeights.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Names the parameters of the `layer`th layer of a call. Its arguments are the
/// input, the state, the parameters of each direction of each layer, whether
/// there are biases, and how many layers.
static bool nameParameters(const RecordedCall &call,
                           const RecordedTensors &record, int layer,
                           RecurrentWeights &weights) {
  std::optional<int64_t> layers = call.integer(4);
  if (!layers)
    return false;
  bool hasBias = call.text(3) == "True";
  size_t each = hasBias ? 4 : 2, wanted = each * weights.getNumDirections();
  ArrayRef<std::string> all = call.arguments[2].values;
  if (layer >= *layers || all.size() != wanted * *layers)
    return false; // more, if states are projected
  for (auto [i, name] : enumerate(all.slice(layer * wanted, wanted))) {
    const Origin *origin = record.findArgument(name);
    if (!origin || origin->kind != Origin::Parameter)
      return false;
    weights.addParameter(std::min<size_t>(i % each, 2), origin->name);
  }
  return true;
}

void restoreRecurrent(RecordedProgram &program, Findings &findings) {
  std::vector<std::string> names;
  for (auto &[name, nodes] : program.findCalls()) {
    int layer = 0;
    for (int index : nodes) {
      StringRef op = program.node(index).op_type();
      const RecordedCall &call = *program.origin(index).call;
      if (!(op == "LSTM" && call.op == "lstm") &&
          !(op == "GRU" && call.op == "gru"))
        continue;
      RecurrentWeights weights(program, program.reader, {}, index);
      if (weights.readOperands(program.record) &&
          nameParameters(call, program.record, layer, weights))
        weights.restore(names, findings.tensors.warnings);
      ++layer;
    }
  }
  describeRecurrent(names, findings.tensors.notes);
}

} // namespace dtc::frontend
