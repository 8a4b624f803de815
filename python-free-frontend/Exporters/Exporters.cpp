//===- Exporters.cpp - undoes the rewrites of exporters -------------------===//
//
// Runs all rewrites in order. Each call says which exporter it is for.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Exporters.h"
#include "Exporters/Dynamo/RecordedTensors.h"
#include "Exporters/Dynamo/RestoreProgram.h"
#include "Exporters/GeneratedNames.h"
#include "Exporters/Rewrites.h"
#include "Exporters/TorchScript/RemoveSampleSorts.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Removes all outputs except `wanted`, if it is an output.
static void keepOutput(onnx::GraphProto &graph, StringRef wanted) {
  auto isWanted = [&](const auto &output) { return output.name() == wanted; };
  auto *outputs = graph.mutable_output();
  if (any_of(*outputs, isWanted))
    outputs->erase(
        std::remove_if(outputs->begin(), outputs->end(),
                       [&](const auto &output) { return !isWanted(output); }),
        outputs->end());
}

/// Restores a file with a record of its tensors, from PyTorch's dynamo
/// exporter.
static Error restoreRecorded(Model &model, const RecordedTensors &tensors,
                             TensorReader &reader) {
  model.restored =
      restoreProgram(*model.proto->mutable_graph(), tensors, reader);
  // The record of a file may be wrong, so check the new graph.
  return verifyGraph(model.graph());
}

/// Restores any other file. Only names and nodes tell what it was.
static void restoreUnrecorded(Model &model, TensorReader &reader) {
  onnx::GraphProto &graph = *model.proto->mutable_graph();
  StringRef producer = model.proto->producer_name();

  // TorchScript: give recurrent layers the parameters of their modules.
  if (model.hasPyTorchNames)
    nameRecurrent(graph, reader, model.restored);

  // tf2onnx: keep the second bias of Keras' recurrent layers at zero.
  if (producer == "tf2onnx" && model.opset >= 11)
    freezeSecondBias(graph, reader);

  // TorchScript: remove the sorts of packed sequences.
  removeSampleSorts(graph, reader);

  // Simplifiers: give batch norms separate tensors.
  splitSharedNorms(graph);

  // TorchScript: give each module its own weights.
  splitSharedWeights(graph);
}

Expected<Model> restoreModel(ModelFile file, StringRef wantedOutput) {
  Model model{std::move(file)};
  onnx::GraphProto &graph = *model.proto->mutable_graph();
  TensorReader reader(model.path);

  // Paddle: turn weights into initializers.
  hoistWeights(graph);

  // Dynamo: read the record of the model's tensors.
  Expected<RecordedTensors> tensors = RecordedTensors::read(*model.proto);
  if (!tensors)
    return tensors.takeError();
  model.record = *tensors;
  model.hasPyTorchNames = model.proto->producer_name() == "pytorch";

  // All: let batch norms with several uses read the statistics themselves.
  shareStatistics(graph, model.record.isKnown());

  if (model.record.isKnown()) {
    if (Error error = restoreRecorded(model, *tensors, reader))
      return std::move(error);
  } else {
    restoreUnrecorded(model, reader);
    if (model.hasPyTorchNames)
      model.unrecorded =
          "files of TorchScript do not say which tensors are buffers, "
          "which parameters are frozen, which rows of embeddings are "
          "padding, and where detach() and no_grad stop gradients";
  }

  // Dynamo: add arguments to nodes that only their calls have.
  annotateNodes(graph);

  keepOutput(graph, wantedOutput);
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    model.initializers[tensor.name()] = &tensor;
    model.hasNames |= isFloatTensor(&tensor) && !isGeneratedName(tensor.name());
  }
  return model;
}

} // namespace dtc::frontend
