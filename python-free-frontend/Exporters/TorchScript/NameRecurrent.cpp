//===- NameRecurrent.cpp - parameters of recurrent layers -----------------===//
//
// See Rewrites.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GeneratedNames.h"
#include "Exporters/RecurrentWeights.h"
#include "Exporters/Rewrites.h"
#include "dtc/Support/ModulePath.h"

#include <map>

using namespace llvm;

namespace dtc::frontend {

void nameRecurrent(onnx::GraphProto &proto, TensorReader &reader,
                   RestoredTensors &result) {
  GraphEditor graph(proto);
  TensorRecord none;
  StringMap<std::string> copies;
  for (int index = 0; index < graph.size(); ++index)
    if (const onnx::NodeProto &node = graph.node(index);
        node.op_type() == "Identity" && node.input_size() > 0 &&
        node.output_size() > 0 && graph.findTensor(node.input(0)))
      copies[node.output(0)] = node.input(0);

  std::vector<std::string> names;
  // The module that has these weights, to recognize its other calls.
  std::map<std::vector<std::string>, std::string> owners;
  for (int index = 0; index < graph.size(); ++index) {
    // "/encoder/rnn/LSTM_1" is layer 1 (the second one) of encoder.rnn.
    StringRef path = graph.node(index).name();
    StringRef op = graph.node(index).op_type();
    auto [modules, leaf] = path.rsplit('/');
    int layer = 0;
    if ((op != "LSTM" && op != "GRU" && op != "RNN") ||
        !path.starts_with("/") || !leaf.consume_front(op) ||
        (!leaf.empty() &&
         (!leaf.consume_front("_") || leaf.getAsInteger(10, layer))))
      continue;
    RecurrentWeights weights(graph, reader, copies, index);
    if (!weights.readOperands(none))
      continue;
    std::string module = getModulePath(path);
    std::vector<std::string> key(weights.getSources());
    key.push_back(std::to_string(layer));
    std::string &owner = owners.try_emplace(key, module).first->second;
    weights.nameParameters(isSameModule(owner, module) ? owner : module, layer);
    weights.restore(names, result.warnings);
  }
  graph.insertNodes();
  describeRecurrent(names, result.notes);
}

} // namespace dtc::frontend
