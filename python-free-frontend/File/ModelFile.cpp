//===- ModelFile.cpp - reads an ONNX model file ---------------------------===//
//
// Also recognizes other files that people pass by mistake.
//
//===----------------------------------------------------------------------===//

#include "File/ModelFile.h"
#include "File/HoistInitializers.h"
#include "File/InlineNodes.h"
#include "Support/Problem.h"

#include "dtc/Support/ReadFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

using namespace llvm;

namespace dtc::frontend {

namespace {
constexpr int64_t minOpset = 9, maxOpset = 24, maxIrVersion = 14;

/// Says what kind of file `bytes` is, since it is not a model.
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

Error checkVersions(ModelFile &model) {
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

Expected<ModelFile> readModelFile(StringRef path) {
  auto buffer = readFile(path, /*isText=*/false);
  if (!buffer)
    return problem(toString(buffer.takeError()));
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.empty())
    return problem("is empty, not an ONNX model");
  // Protobuf cannot read more.
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

  ModelFile model;
  model.path = path.str();
  model.proto = proto;
  if (Error error = checkVersions(model))
    return std::move(error);
  if (Error error = inlineFunctions(*proto))
    return std::move(error);
  hoistInitializers(*proto->mutable_graph());
  if (Error error = verifyGraph(proto->graph()))
    return std::move(error);
  return model;
}

} // namespace dtc::frontend
