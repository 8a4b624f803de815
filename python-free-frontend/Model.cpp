//===- Model.cpp - reads an ONNX model file -------------------------------===//
//
// Tells a model from everything else that people pass by mistake.
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "DropSorts.h"
#include "FxGraph.h"
#include "HoistConstants.h"
#include "InlineNodes.h"
#include "KeepOneBias.h"
#include "ParameterNames.h"
#include "Problem.h"
#include "RestoreRecurrent.h"
#include "SeparateModules.h"
#include "SeparateNames.h"
#include "SeparateNorms.h"
#include "ShareStatistics.h"

#include "dtc/Support/ReadFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

using namespace llvm;

namespace dtc::frontend {

namespace {
constexpr int64_t minOpset = 9, maxOpset = 24, maxIrVersion = 14;

/// Says what `bytes`, which do not parse, are instead of a model.
Error notAModel(StringRef bytes, bool beginsLikeModel) {
  StringRef head = bytes.take_front(256).ltrim();
  if (head.starts_with_insensitive("<!doctype html") ||
      head.starts_with_insensitive("<html"))
    return problem("is an HTML page, not an ONNX model",
                   "download the file itself, not the page about it");
  if (head.starts_with("version https://git-lfs"))
    return problem("is a git-lfs pointer, not an ONNX model",
                   "run 'git lfs pull' to get the file");
  if (head.starts_with("PK"))
    return problem("is a zip archive (a PyTorch checkpoint?), not an ONNX "
                   "model",
                   "export the model with torch.onnx.export");
  if (beginsLikeModel)
    return problem("is a truncated or damaged ONNX model",
                   "copy or export the file again");
  return problem("is not an ONNX model", "expected a protobuf ModelProto");
}

Error checkVersions(Model &model) {
  const onnx::ModelProto &proto = *model.proto;
  if (proto.ir_version() > maxIrVersion)
    return problem("has ONNX IR version " + Twine(proto.ir_version()) +
                       ", newest supported is " + Twine(maxIrVersion),
                   "export with an older onnx package");
  for (const auto &import : proto.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx")
      model.opset = import.version();
  if (model.opset == 0)
    return problem("imports no version of the default operator set",
                   "export the model again");
  if (model.opset < minOpset || model.opset > maxOpset)
    return problem("uses opset " + Twine(model.opset) +
                       ", supported are opsets " + Twine(minOpset) + " to " +
                       Twine(maxOpset),
                   "export with opset_version=20 or convert with "
                   "onnx.version_converter");
  return Error::success();
}
} // namespace

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

Expected<Model> loadModel(StringRef path, StringRef wantedOutput) {
  auto buffer = readFile(path, /*isText=*/false);
  if (!buffer)
    return problem(toString(buffer.takeError()));
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.empty())
    return problem("is empty, not an ONNX model");
  // The limit of protobuf itself.
  if (bytes.size() > size_t(std::numeric_limits<int>::max()))
    return problem("is larger than 2 GiB", "save the weights as external data");

  google::protobuf::LogSilencer silencer;
  google::protobuf::io::ArrayInputStream array(bytes.data(), bytes.size());
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  auto proto = std::make_shared<onnx::ModelProto>();
  bool parsed =
      proto->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
  bool beginsLikeModel = proto->ir_version() > 0 && proto->ir_version() < 1000;
  if (!parsed || !beginsLikeModel)
    return notAModel(bytes, beginsLikeModel);
  if (!proto->has_graph())
    return problem("has no graph", "the file may be truncated; export again");

  Model model;
  model.path = path.str();
  model.proto = proto;
  if (Error error = checkVersions(model))
    return std::move(error);
  if (Error error = inlineFunctions(*proto))
    return std::move(error);
  hoistInitializers(*proto->mutable_graph());
  if (Error error = verifyGraph(model.graph()))
    return std::move(error);
  hoistConstants(*proto->mutable_graph());
  if (Error error = separateNames(*proto))
    return std::move(error);
  Expected<Provenance> provenance = Provenance::read(*proto);
  if (!provenance)
    return provenance.takeError();
  model.provenance = std::move(*provenance);
  shareStatistics(*proto->mutable_graph(), model.provenance.isKnown());
  if (model.provenance.isKnown()) {
    TensorReader reader(path);
    model.restored =
        restoreParameters(*proto->mutable_graph(), model.provenance, reader);
    // What others wrote about the graph may be wrong.
    if (Error error = verifyGraph(model.graph()))
      return std::move(error);
  } else {
    TensorReader reader(path);
    if (proto->producer_name() == "pytorch")
      nameRecurrent(*proto->mutable_graph(), reader, model.restored);
    else if (proto->producer_name() == "tf2onnx" && model.opset >= 11)
      keepOneBias(*proto->mutable_graph(), reader);
    dropSorts(*proto->mutable_graph(), reader);
    separateNorms(*proto->mutable_graph());
    separateModules(*proto->mutable_graph());
  }
  keepOutput(*proto->mutable_graph(), wantedOutput);
  for (const onnx::TensorProto &tensor : model.graph().initializer()) {
    model.initializers[tensor.name()] = &tensor;
    model.hasNames |= isFloatTensor(&tensor) && !isGeneratedName(tensor.name());
  }
  return model;
}

} // namespace dtc::frontend
