//===- RecurrentWeights.cpp - weights of recurrent layers -----------------===//
//
// See RecurrentWeights.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/RecurrentWeights.h"
#include "Exporters/GeneratedNames.h"
#include "File/Nodes.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

using namespace llvm;

namespace dtc::frontend {

/// Positions of PyTorch's gates among those of ONNX: i, f, g, o among i, o, f,
/// c, and r, z, n among z, r, h.
constexpr int64_t lstmGates[] = {0, 2, 3, 1}, gruGates[] = {1, 0, 2},
                  rnnGates[] = {0};

RecurrentWeights::RecurrentWeights(GraphEditor &graph, TensorReader &reader,
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

bool RecurrentWeights::readOperands(const TensorRecord &record) {
  int64_t rows = gates.size() * hidden;
  if (rows <= 0)
    return false;
  for (unsigned i = 0; i < 3; ++i) {
    const onnx::TensorProto *stored = graph.findTensor(sources[i]);
    if (!isFloatTensor(stored) || !isGeneratedName(sources[i]) ||
        record.find(sources[i]))
      continue;
    Expected<TensorData> data = reader.read(*stored);
    if (!data) {
      consumeError(data.takeError()); // reported when Parameters/ reads it
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

void RecurrentWeights::nameParameters(StringRef module, int layer) {
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

/// Reorders the rows of a parameter from PyTorch's to ONNX's order of gates.
std::string RecurrentWeights::orderGates(const std::string &parameter) {
  std::vector<std::string> parts;
  int64_t count = gates.size();
  for (int64_t place = 0, size = 1; place < count; place += size) {
    // Gates that are adjacent in both orders become one slice.
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

/// Sets an attribute of the node that was added last.
void RecurrentWeights::setInt(StringRef name, int64_t value) {
  onnx::AttributeProto &attribute = *graph.getLastBefore(index).add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

/// The shape of each parameter of an operand.
SmallVector<int64_t> RecurrentWeights::getDims(unsigned operand) const {
  SmallVector<int64_t> dims = {int64_t(gates.size()) * hidden};
  if (operands[operand]->shape.size() == 3)
    dims.push_back(operands[operand]->shape[2]);
  return dims;
}

bool RecurrentWeights::fits(unsigned operand,
                            std::vector<std::string> &warnings) const {
  for (const std::string &name : parameters[operand])
    if (const onnx::TensorProto *own = graph.findTensor(name);
        own && dimsOf(*own) != getDims(operand)) {
      warnings.push_back("operand " + std::to_string(operand + 1) +
                         " of node '" + graph.node(index).name() +
                         "' cannot be computed from '" + name +
                         "', which has another shape; check that the file was "
                         "not edited");
      return false;
    }
  return true;
}

void RecurrentWeights::restoreOperand(unsigned operand,
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

void RecurrentWeights::restore(std::vector<std::string> &names,
                               std::vector<std::string> &warnings) {
  for (unsigned operand = 0; operand < operands.size(); ++operand)
    if (operands[operand] && !parameters[operand].empty() &&
        fits(operand, warnings))
      restoreOperand(operand, names);
}

void describeRecurrent(ArrayRef<std::string> names,
                       std::vector<std::string> &notes) {
  if (!names.empty())
    notes.push_back(
        "dtc restored PyTorch's names and order of gates for " +
        std::to_string(names.size()) +
        " parameters of recurrent layers: " + listFirstNames(names));
}

} // namespace dtc::frontend
