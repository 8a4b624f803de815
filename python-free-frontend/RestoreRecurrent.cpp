//===- RestoreRecurrent.cpp - weights of recurrent layers -----------------===//
//
// See RestoreRecurrent.h.
//
//===----------------------------------------------------------------------===//

#include "RestoreRecurrent.h"
#include "FxRoles.h"
#include "NameList.h"

#include <array>

using namespace llvm;

namespace dtc::frontend {

namespace {
/// The gates of PyTorch, by their places among those of ONNX: i, f, g, o among
/// i, o, f, c, and r, z, n among z, r, h.
constexpr int64_t lstmGates[] = {0, 2, 3, 1}, gruGates[] = {1, 0, 2};

/// One layer: all directions of a node.
class RecurrentRestorer {
public:
  RecurrentRestorer(FxGraph &graph, TensorReader &reader, int index)
      : graph(graph), reader(reader), index(index),
        gates(graph.node(index).op_type() == "LSTM" ? ArrayRef(lstmGates)
                                                    : ArrayRef(gruGates)) {}

  /// The `layer`th of a call. Appends names of parameters.
  void restore(int layer, std::vector<std::string> &names);

private:
  bool findParameters(int layer);
  bool readOperands();
  void restoreOperand(unsigned operand, std::vector<std::string> &names);

  FxGraph &graph;
  TensorReader &reader;
  int index;
  ArrayRef<int64_t> gates;
  int64_t directions = 1, hidden = 0;
  /// W, R and B, where the exporter computed them.
  std::array<std::optional<TensorData>, 3> operands;
  /// Of each, the parameters that are joined: none of B without biases.
  std::array<SmallVector<const Origin *>, 3> parameters;
};

/// PyTorch's arguments are the input, the state, the parameters of each
/// direction of each layer, whether there are biases, and how many layers.
bool RecurrentRestorer::findParameters(int layer) {
  const FxCall &call = *graph.origin(index).call;
  if (call.arguments.size() < 5 || !call.integers[4])
    return false;
  bool hasBias = call.texts[3] == "True";
  size_t each = hasBias ? 4 : 2, wanted = each * directions;
  ArrayRef<std::string> all = call.arguments[2];
  if (layer >= *call.integers[4] || all.size() != wanted * *call.integers[4])
    return false; // more, if states are projected
  for (auto [i, name] : enumerate(all.slice(layer * wanted, wanted))) {
    const Origin *origin = graph.provenance.findArgument(name);
    if (!origin || origin->kind != Origin::Parameter)
      return false;
    parameters[std::min<size_t>(i % each, 2)].push_back(origin);
  }
  return true;
}

/// Operands that the graph computes already stay.
bool RecurrentRestorer::readOperands() {
  const onnx::NodeProto &node = graph.node(index);
  hidden = readInt(node, "hidden_size", 0);
  for (const auto &attribute : node.attribute())
    if (attribute.name() == "direction" && attribute.s() == "bidirectional")
      directions = 2;
  int64_t rows = gates.size() * hidden;
  for (unsigned i = 0; i < 3 && int(i) + 1 < node.input_size(); ++i) {
    const std::string &input = node.input(i + 1);
    const onnx::TensorProto *stored = graph.findTensor(input);
    if (!isFloatTensor(stored) || graph.provenance.find(input))
      continue;
    Expected<TensorData> data = reader.read(*stored);
    if (!data) {
      consumeError(data.takeError()); // reported when parameters are read
      return false;
    }
    Shape expected = {directions, rows};
    if (i == 2)
      expected[1] *= 2;
    else
      expected.push_back(data->shape.empty() ? 0 : data->shape.back());
    if (!data->hasData || data->shape != expected)
      return false;
    operands[i] = std::move(*data);
  }
  return rows > 0;
}

/// Makes an operand what its parameters are joined to.
void RecurrentRestorer::restoreOperand(unsigned operand,
                                       std::vector<std::string> &names) {
  const TensorData &data = *operands[operand];
  int32_t type =
      graph.findTensor(graph.node(index).input(operand + 1))->data_type();
  int64_t rows = gates.size() * hidden;
  SmallVector<int64_t> dims = {rows};
  if (data.shape.size() == 3)
    dims.push_back(data.shape[2]);
  int64_t gateBytes =
      data.bytes.size() / parameters[operand].size() / gates.size();
  std::vector<int64_t> lookedUp(rows);
  for (auto [own, onnx] : enumerate(gates))
    for (int64_t i = 0; i < hidden; ++i)
      lookedUp[onnx * hidden + i] = own * hidden + i;

  std::vector<std::string> parts;
  for (auto [i, origin] : enumerate(parameters[operand])) {
    if (!graph.findTensor(origin->name)) {
      std::string bytes;
      for (int64_t gate : gates) {
        auto own =
            data.bytes.slice((i * gates.size() + gate) * gateBytes, gateBytes);
        bytes.append(own.begin(), own.end());
      }
      graph.addTensor(type, bytes, origin->name, dims);
      names.push_back(origin->name);
    }
    std::string places = graph.addIntegers(origin->name + "/rows", lookedUp,
                                           {int64_t(lookedUp.size())});
    parts.push_back(graph.applyBefore(index, "Gather", {origin->name, places}));
  }
  std::string value = parts.front();
  if (parts.size() > 1) {
    value = graph.applyBefore(index, "Concat", parts);
    onnx::AttributeProto &axis = *graph.getLastBefore(index).add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(0);
  }
  std::string shape = graph.addIntegers(value + "/shape", data.shape,
                                        {int64_t(data.shape.size())});
  graph.node(index).set_input(
      operand + 1, graph.applyBefore(index, "Reshape", {value, shape}));
}

void RecurrentRestorer::restore(int layer, std::vector<std::string> &names) {
  if (!readOperands() || !findParameters(layer))
    return;
  for (unsigned operand = 0; operand < operands.size(); ++operand)
    if (operands[operand] && !parameters[operand].empty())
      restoreOperand(operand, names);
}
} // namespace

void restoreRecurrent(FxGraph &graph, TensorReader &reader,
                      RestoredTensors &result) {
  std::vector<std::string> names;
  for (auto &[name, nodes] : graph.findCalls()) {
    int layer = 0;
    for (int index : nodes) {
      StringRef op = graph.node(index).op_type();
      StringRef call = graph.origin(index).call->op;
      if ((op == "LSTM" && call == "lstm") || (op == "GRU" && call == "gru"))
        RecurrentRestorer(graph, reader, index).restore(layer++, names);
    }
  }
  if (!names.empty())
    result.notes.push_back(std::to_string(names.size()) +
                           " parameters of recurrent layers have their names "
                           "and their order of gates back: " +
                           listFirstNames(names));
}

} // namespace dtc::frontend
