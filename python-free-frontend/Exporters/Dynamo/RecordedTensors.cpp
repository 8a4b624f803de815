//===- RecordedTensors.cpp - the tensors that dynamo lists ----------------===//
//
// See RecordedTensors.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RecordedTensors.h"
#include "Exporters/DtcExport/ReadRecord.h"
#include "Exporters/Dynamo/Metadata.h"
#include "Exporters/Dynamo/RecordedCall.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

Expected<RecordedTensors> RecordedTensors::read(const onnx::ModelProto &model) {
  RecordedTensors tensors;
  std::string signature =
      readMetadata(model.graph().unknown_fields(), graphMetadata,
                   "pkg.torch.export.ExportedProgram.graph_signature");
  // A file without weights has parameters among its inputs.
  if (model.graph().input_size() <=
      int(StringRef(signature).count(": USER_INPUT")))
    for (const auto &input : model.graph().input())
      tensors.inputs.insert(input.name());
  tensors.readSignature(signature);
  if (Error error = readRecord(model, tensors))
    return std::move(error);
  return tensors;
}

std::string RecordedTensors::getOwnName(StringRef target) {
  std::string name = target.str();
  while (inputs.contains(name))
    name = makeResultName(dropNumber(name), getNumber(name) + 1);
  if (name != target)
    renamed[name] = target.str();
  return name;
}

void RecordedTensors::readSignature(StringRef text) {
  for (StringRef line : split(text, '\n')) {
    auto [argument, description] = line.split(": ");
    std::vector<std::string> target = readQuoted(description);
    if (target.empty())
      continue;
    StringRef kind = description.split(' ').first;
    if (kind == "BUFFER_MUTATION")
      changedBuffers.push_back(getOwnName(target.front()));
    Origin origin;
    origin.name = getOwnName(target.front());
    if (kind == "BUFFER")
      origin.kind = Origin::Buffer;
    else if (kind == "CONSTANT_TENSOR")
      origin.kind = Origin::Constant;
    else if (kind != "PARAMETER")
      continue;
    origin.isSaved = origin.kind != Origin::Constant &&
                     !description.contains("persistent=False");
    origin.argument = argument.str();
    byArgument[argument] = add(std::move(origin));
  }
}

const Origin *RecordedTensors::findArgument(StringRef argument) const {
  auto it = byArgument.find(argument);
  return it == byArgument.end() ? nullptr : &tensors[it->second];
}

} // namespace dtc::frontend
