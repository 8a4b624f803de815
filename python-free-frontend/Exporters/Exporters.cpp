//===- Exporters.cpp - undoes what exporters did to a model ---------------===//
//
// All rewrites in order of execution, each with what it undoes.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Exporters.h"
#include "Exporters/Dynamo/AnnotateNodes.h"
#include "Exporters/Dynamo/Provenance.h"
#include "Exporters/Dynamo/RestoreParameters.h"
#include "Exporters/Dynamo/SeparateNames.h"
#include "Exporters/GeneratedNames.h"
#include "Exporters/Paddle/HoistWeights.h"
#include "Exporters/ShareStatistics.h"
#include "Exporters/Simplifiers/SplitSharedNorms.h"
#include "Exporters/Tf2onnx/FreezeSecondBias.h"
#include "Exporters/TorchScript/NameRecurrent.h"
#include "Exporters/TorchScript/RemoveSampleSorts.h"
#include "Exporters/TorchScript/SplitSharedWeights.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Leaves other outputs than a wanted one out.
static void keepOutput(onnx::GraphProto &graph, StringRef wanted) {
  auto isWanted = [&](const auto &output) { return output.name() == wanted; };
  auto *outputs = graph.mutable_output();
  if (any_of(*outputs, isWanted))
    outputs->erase(
        std::remove_if(outputs->begin(), outputs->end(),
                       [&](const auto &output) { return !isWanted(output); }),
        outputs->end());
}

/// Files with a record of their tensors: those of PyTorch's dynamo exporter.
static Error restoreRecorded(Model &model, const Provenance &provenance,
                             TensorReader &reader) {
  model.restored =
      restoreParameters(*model.proto->mutable_graph(), provenance, reader);
  // What others wrote about the graph may be wrong.
  return verifyGraph(model.graph());
}

/// All other files, where names and nodes are the only evidence.
static void restoreUnrecorded(Model &model, TensorReader &reader) {
  onnx::GraphProto &graph = *model.proto->mutable_graph();
  StringRef producer = model.proto->producer_name();

  // TorchScript: recurrent layers get the parameters of their modules.
  if (model.hasPyTorchNames)
    nameRecurrent(graph, reader, model.restored);

  // tf2onnx: recurrent layers of Keras have one bias.
  if (producer == "tf2onnx" && model.opset >= 11)
    freezeSecondBias(graph, reader);

  // TorchScript: packed sequences keep the order of their samples.
  removeSampleSorts(graph, reader);

  // Simplifiers: batch norms get tensors of their own.
  splitSharedNorms(graph);

  // TorchScript: modules get weights of their own.
  splitSharedWeights(graph);
}

Expected<Model> restoreModel(ModelFile file, StringRef wantedOutput) {
  Model model{std::move(file)};
  onnx::GraphProto &graph = *model.proto->mutable_graph();
  TensorReader reader(model.path);

  // Paddle: weights become initializers.
  hoistWeights(graph);

  // Dynamo: no result has the name of a parameter.
  if (Error error = separateNames(*model.proto))
    return std::move(error);
  Expected<Provenance> provenance = Provenance::read(*model.proto);
  if (!provenance)
    return provenance.takeError();
  model.record = *provenance;
  model.hasPyTorchNames = model.proto->producer_name() == "pytorch";

  // Batch norms that are used again read the statistics themselves.
  shareStatistics(graph, model.record.isKnown());

  if (model.record.isKnown()) {
    if (Error error = restoreRecorded(model, *provenance, reader))
      return std::move(error);
  } else {
    restoreUnrecorded(model, reader);
    if (model.hasPyTorchNames)
      model.untold = "a file of TorchScript does not say which tensors are "
                     "buffers, which parameters are frozen, nor where detach() "
                     "and no_grad stop gradients: ";
  }

  // Dynamo: nodes have what only their calls say.
  annotateNodes(graph);

  keepOutput(graph, wantedOutput);
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    model.initializers[tensor.name()] = &tensor;
    model.hasNames |= isFloatTensor(&tensor) && !isGeneratedName(tensor.name());
  }
  return model;
}

} // namespace dtc::frontend
