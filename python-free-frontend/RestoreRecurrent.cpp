//===- RestoreRecurrent.cpp - weights of recurrent layers -----------------===//
//
// See RestoreRecurrent.h.
//
//===----------------------------------------------------------------------===//

#include "RestoreRecurrent.h"
#include "FxRoles.h"
#include "NameList.h"
#include "ParameterNames.h"
#include "dtc/Support/ModulePath.h"

#include <array>
#include <map>

using namespace llvm;

namespace dtc::frontend {

namespace {
/// The gates of PyTorch, by their places among those of ONNX: i, f, g, o among
/// i, o, f, c, and r, z, n among z, r, h.
constexpr int64_t lstmGates[] = {0, 2, 3, 1}, gruGates[] = {1, 0, 2},
                  rnnGates[] = {0};

/// One layer: all directions of a node.
class RecurrentRestorer {
public:
  /// `copies` has the initializers that other names stand for.
  RecurrentRestorer(FxGraph &graph, TensorReader &reader,
                    const StringMap<std::string> &copies, int index);

  /// Whether all of the operands can be those of a layer.
  bool readOperands();
  /// The initializers that hold the weights.
  ArrayRef<std::string> getSources() const { return sources; }

  /// Takes the names of the `layer`th layer from the call that the node is of.
  bool findParameters(int layer);
  /// Names parameters as PyTorch does in a module of this name.
  void nameParameters(StringRef module, int layer);
  /// Makes operands what the parameters are joined to. Appends the names of
  /// those that are new, and warnings of those that the file has in another
  /// shape.
  void restore(std::vector<std::string> &names,
               std::vector<std::string> &warnings);

private:
  bool fits(unsigned operand, std::vector<std::string> &warnings) const;
  SmallVector<int64_t> getDims(unsigned operand) const;
  void restoreOperand(unsigned operand, std::vector<std::string> &names);
  std::string orderGates(const std::string &parameter);
  void setInt(StringRef attribute, int64_t value);

  FxGraph &graph;
  TensorReader &reader;
  int index;
  ArrayRef<int64_t> gates;
  int64_t directions = 1, hidden = 0;
  /// W, R and B, and what they hold where the exporter computed them.
  std::array<std::string, 3> sources;
  std::array<std::optional<TensorData>, 3> operands;
  /// Of each, the parameters that are joined: none of B without biases.
  std::array<SmallVector<std::string>, 3> parameters;
};
} // namespace

RecurrentRestorer::RecurrentRestorer(FxGraph &graph, TensorReader &reader,
                                     const StringMap<std::string> &copies,
                                     int index)
    : graph(graph), reader(reader), index(index) {
  const onnx::NodeProto &node = graph.node(index);
  gates = rnnGates;
  if (node.op_type() == "LSTM")
    gates = lstmGates;
  else if (node.op_type() == "GRU")
    gates = gruGates;
  hidden = readInt(node, "hidden_size", 0);
  for (const auto &attribute : node.attribute())
    if (attribute.name() == "direction" && attribute.s() == "bidirectional")
      directions = 2;
  for (unsigned i = 0; i < 3 && int(i) + 1 < node.input_size(); ++i) {
    const std::string &input = node.input(i + 1);
    auto copy = copies.find(input);
    sources[i] = copy == copies.end() ? input : copy->second;
  }
}

/// Operands that the graph computes already stay.
bool RecurrentRestorer::readOperands() {
  int64_t rows = gates.size() * hidden;
  if (rows <= 0)
    return false;
  for (unsigned i = 0; i < 3; ++i) {
    const onnx::TensorProto *stored = graph.findTensor(sources[i]);
    if (!isFloatTensor(stored) || !isGeneratedName(sources[i]) ||
        graph.provenance.find(sources[i]))
      continue;
    Expected<TensorData> data = reader.read(*stored);
    if (!data) {
      consumeError(data.takeError()); // reported when parameters are read
      return false;
    }
    Shape expected = {directions, i == 2 ? 2 * rows : rows};
    if (i < 2)
      expected.push_back(data->shape.empty() ? 0 : data->shape.back());
    if (!data->hasData || data->shape != expected)
      return false;
    operands[i] = std::move(*data);
  }
  return true;
}

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
    parameters[std::min<size_t>(i % each, 2)].push_back(origin->name);
  }
  return true;
}

void RecurrentRestorer::nameParameters(StringRef module, int layer) {
  for (int64_t direction = 0; direction < directions; ++direction) {
    auto name = [&](StringRef what) {
      return ((module.empty() ? "" : module + ".") + what + "_l" +
              Twine(layer) + (direction == 1 ? "_reverse" : ""))
          .str();
    };
    parameters[0].push_back(name("weight_ih"));
    parameters[1].push_back(name("weight_hh"));
    if (!sources[2].empty())
      parameters[2].append({name("bias_ih"), name("bias_hh")});
  }
}

/// Rows of a parameter in ONNX's order of gates.
std::string RecurrentRestorer::orderGates(const std::string &parameter) {
  std::vector<std::string> parts;
  int64_t count = gates.size();
  for (int64_t place = 0, size = 1; place < count; place += size) {
    // Gates that follow each other in both orders are one slice.
    int64_t first = find(gates, place) - gates.begin();
    for (size = 1; first + size < count; ++size)
      if (gates[first + size] != place + size)
        break;
    if (size == count)
      return parameter;
    auto number = [&](StringRef what, int64_t value) {
      return graph.addIntegers(parameter + "/" + what, {value}, {1});
    };
    parts.push_back(graph.applyBefore(
        index, "Slice",
        {parameter, number("start", first * hidden),
         number("end", (first + size) * hidden), number("axis", 0)}));
  }
  std::string joined = graph.applyBefore(index, "Concat", parts);
  setInt("axis", 0);
  return joined;
}

/// An attribute of the node that was added last.
void RecurrentRestorer::setInt(StringRef name, int64_t value) {
  onnx::AttributeProto &attribute = *graph.getLastBefore(index).add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

/// The shape of each parameter of an operand.
SmallVector<int64_t> RecurrentRestorer::getDims(unsigned operand) const {
  SmallVector<int64_t> dims = {int64_t(gates.size()) * hidden};
  if (operands[operand]->shape.size() == 3)
    dims.push_back(operands[operand]->shape[2]);
  return dims;
}

bool RecurrentRestorer::fits(unsigned operand,
                             std::vector<std::string> &warnings) const {
  for (const std::string &name : parameters[operand])
    if (const onnx::TensorProto *own = graph.findTensor(name);
        own && dimsOf(*own) != getDims(operand)) {
      warnings.push_back("operand " + std::to_string(operand + 1) +
                         " of node '" + graph.node(index).name() +
                         "' should be computed from '" + name +
                         "', which has another shape; check that the file was "
                         "not edited");
      return false;
    }
  return true;
}

void RecurrentRestorer::restoreOperand(unsigned operand,
                                       std::vector<std::string> &names) {
  const TensorData &data = *operands[operand];
  int32_t type = graph.findTensor(sources[operand])->data_type();
  SmallVector<int64_t> dims = getDims(operand);
  int64_t gateBytes =
      data.bytes.size() / parameters[operand].size() / gates.size();

  std::vector<std::string> parts;
  for (auto [i, name] : enumerate(parameters[operand])) {
    if (!graph.findTensor(name)) {
      std::string bytes;
      for (int64_t gate : gates) {
        auto own =
            data.bytes.slice((i * gates.size() + gate) * gateBytes, gateBytes);
        bytes.append(own.begin(), own.end());
      }
      graph.addTensor(type, bytes, name, dims);
      names.push_back(name);
    }
    parts.push_back(orderGates(name));
  }
  std::string value = parts.front();
  if (parts.size() > 1) {
    value = graph.applyBefore(index, "Concat", parts);
    setInt("axis", 0);
  }
  std::string shape = graph.addIntegers(value + "/shape", data.shape,
                                        {int64_t(data.shape.size())});
  graph.node(index).set_input(
      operand + 1, graph.applyBefore(index, "Reshape", {value, shape}));
}

void RecurrentRestorer::restore(std::vector<std::string> &names,
                                std::vector<std::string> &warnings) {
  for (unsigned operand = 0; operand < operands.size(); ++operand)
    if (operands[operand] && !parameters[operand].empty() &&
        fits(operand, warnings))
      restoreOperand(operand, names);
}

static void describe(ArrayRef<std::string> names,
                     std::vector<std::string> &notes) {
  if (!names.empty())
    notes.push_back(std::to_string(names.size()) +
                    " parameters of recurrent layers have PyTorch's names and "
                    "order of gates: " +
                    listFirstNames(names));
}

void restoreRecurrent(FxGraph &graph, TensorReader &reader,
                      RestoredTensors &result) {
  std::vector<std::string> names;
  for (auto &[name, nodes] : graph.findCalls()) {
    int layer = 0;
    for (int index : nodes) {
      StringRef op = graph.node(index).op_type();
      StringRef call = graph.origin(index).call->op;
      if (!(op == "LSTM" && call == "lstm") && !(op == "GRU" && call == "gru"))
        continue;
      RecurrentRestorer node(graph, reader, {}, index);
      if (node.readOperands() && node.findParameters(layer))
        node.restore(names, result.warnings);
      ++layer;
    }
  }
  describe(names, result.notes);
}

void nameRecurrent(onnx::GraphProto &proto, TensorReader &reader,
                   RestoredTensors &result) {
  Provenance none;
  FxGraph graph(proto, none);
  StringMap<std::string> copies;
  for (int index = 0; index < graph.size(); ++index)
    if (const onnx::NodeProto &node = graph.node(index);
        node.op_type() == "Identity" && node.input_size() > 0 &&
        node.output_size() > 0 && graph.findTensor(node.input(0)))
      copies[node.output(0)] = node.input(0);

  std::vector<std::string> names;
  // The module that has the weights, for another call of it.
  std::map<std::vector<std::string>, std::string> owners;
  for (int index = 0; index < graph.size(); ++index) {
    // "/encoder/rnn/LSTM_1" is the second layer of encoder.rnn.
    StringRef path = graph.node(index).name();
    StringRef op = graph.node(index).op_type();
    auto [modules, leaf] = path.rsplit('/');
    int layer = 0;
    if ((op != "LSTM" && op != "GRU" && op != "RNN") ||
        !path.starts_with("/") || !leaf.consume_front(op) ||
        (!leaf.empty() &&
         (!leaf.consume_front("_") || leaf.getAsInteger(10, layer))))
      continue;
    RecurrentRestorer node(graph, reader, copies, index);
    if (!node.readOperands())
      continue;
    std::string module = getModulePath(path);
    std::vector<std::string> key(node.getSources());
    key.push_back(std::to_string(layer));
    std::string &owner = owners.try_emplace(key, module).first->second;
    node.nameParameters(isSameModule(owner, module) ? owner : module, layer);
    node.restore(names, result.warnings);
  }
  graph.insertNodes();
  describe(names, result.notes);
}

} // namespace dtc::frontend
