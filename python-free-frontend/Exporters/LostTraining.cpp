//===- LostTraining.cpp - training details that exports lose --------------===//
//
// See LostTraining.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/LostTraining.h"
#include "Exporters/Dynamo/CallTable.h"
#include "File/Nodes.h"
#include "Support/NameList.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

/// Lists products and convolutions without a bias in a file of tf2onnx.
static std::vector<std::string> findWithoutBias(const Model &model) {
  std::vector<std::string> found;
  if (model.proto->producer_name() != "tf2onnx")
    return found;
  StringSet<> added;
  for (const onnx::NodeProto &node : model.graph().node())
    if (node.op_type() == "Add")
      added.insert(node.input().begin(), node.input().end());
  for (const auto &[index, node] : enumerate(model.graph().node()))
    if (is_contained({"MatMul", "Conv"}, node.op_type()) &&
        node.input_size() == 2 && model.initializers.contains(node.input(1)) &&
        !added.contains(node.output(0)))
      found.push_back(nodeName(node, index));
  return found;
}

std::vector<std::string> findLostTraining(const Model &model,
                                          const ImportOptions &options) {
  std::vector<std::string> norms, merged, alphaDropouts;
  StringSet<> statistics, computed;
  for (const auto &[index, node] : enumerate(model.graph().node())) {
    // Before opset 14, more results meant training mode. Of Dynamo's nodes only
    // the call states it.
    std::optional<RecordedCall> call = readCall(node);
    bool trains = call && isBatchNorm(*call) && call->text(5) == "True";
    if (node.op_type() == "BatchNormalization")
      for (int i = 3; i < node.input_size(); ++i)
        statistics.insert(node.input(i));
    if (node.op_type() == "BatchNormalization" &&
        !readInt(node, "training_mode", 0) && node.output_size() == 1 &&
        !trains && node.input_size() > 3 && !computed.contains(node.input(3)))
      norms.push_back(nodeName(node, index));
    if (node.op_type() != "Identity")
      for (const std::string &output : node.output())
        computed.insert(output);
    // Exporters write alpha dropout as several nodes, some of them random.
    if (StringRef(node.op_type()).starts_with("Random") &&
        readSourceLine(node).find("alpha_dropout(") != std::string::npos)
      alphaDropouts.push_back(nodeName(node, index));
    // TorchScript merges a batch norm into the weight and bias of the
    // convolution before it, and invents names for both.
    if (node.op_type() == "Conv" && node.input_size() == 3 &&
        StringRef(node.input(1)).starts_with("onnx::Conv_") &&
        StringRef(node.input(2)).starts_with("onnx::Conv_"))
      merged.push_back(nodeName(node, index));
  }
  std::vector<std::string> warnings;
  if (!norms.empty() && !options.isBatchNormChosen)
    warnings.push_back(
        "the file has batch norms in evaluation mode (" +
        listFirstNames(norms) +
        "), but dtc normalizes with the statistics of each batch, as after "
        "model.train(); --batchnorm chooses the statistics");
  if (!merged.empty())
    warnings.push_back(
        "the exporter seems to have merged batch norms into convolutions (" +
        listFirstNames(merged) +
        "), so dtc trains the model without these batch norms; export with "
        "training=TrainingMode.TRAINING and do_constant_folding=False");
  if (std::vector<std::string> bare = findWithoutBias(model); !bare.empty())
    warnings.push_back(
        "tf2onnx leaves out biases that are zero and merges batch norms into "
        "weights (without a bias: " +
        listFirstNames(bare) +
        "), so dtc trains the model without them; before the export, set "
        "biases "
        "to other numbers, and export a function that calls the model with "
        "training=True");
  if (!alphaDropouts.empty())
    warnings.push_back(
        "the exporter wrote alpha dropout as several nodes (" +
        listFirstNames(alphaDropouts) +
        "): it works in training, but evaluations and --dropout none scale its "
        "input; export without alpha dropout to compare");
  std::vector<std::string> changed;
  for (const std::string &buffer : model.record.changedBuffers)
    if (!statistics.contains(buffer) &&
        !model.restored.explained.contains(buffer) &&
        !StringRef(buffer).ends_with("num_batches_tracked"))
      changed.push_back(buffer);
  if (!changed.empty())
    warnings.push_back("forward changes buffers (" + listFirstNames(changed) +
                       "), but dtc updates only those of batch norms that the "
                       "outputs need, so "
                       "these buffers keep the values of the file");
  return warnings;
}

} // namespace dtc::frontend
