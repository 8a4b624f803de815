//===- Provenance.cpp - what dynamo records about tensors -----------------===//
//
// See Provenance.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Provenance.h"
#include "Exporters/DtcExport/ReadRecord.h"
#include "Exporters/Dynamo/FxCall.h"
#include "Exporters/Dynamo/Metadata.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

Expected<Provenance> Provenance::read(const onnx::ModelProto &model) {
  Provenance provenance;
  std::string signature =
      readMetadata(model.graph().unknown_fields(), graphMetadata,
                   "pkg.torch.export.ExportedProgram.graph_signature");
  // A file without weights has parameters among its inputs.
  if (model.graph().input_size() <=
      int(StringRef(signature).count(": USER_INPUT")))
    for (const auto &input : model.graph().input())
      provenance.inputs.insert(input.name());
  provenance.readSignature(signature);
  if (Error error = readRecord(model, provenance))
    return std::move(error);
  for (const onnx::ValueInfoProto &value : model.graph().value_info()) {
    std::string list = readMetadata(value.unknown_fields(), valueMetadata,
                                    "pkg.onnxscript.optimizer.folded_from");
    if (!list.empty())
      provenance.sources[value.name()] = readQuoted(list);
  }
  return provenance;
}

std::string Provenance::getOwnName(StringRef target) {
  std::string name = target.str();
  while (inputs.contains(name))
    name = makeCallName(getStem(name), getNumber(name) + 1);
  if (name != target)
    renamed[name] = target.str();
  return name;
}

void Provenance::readSignature(StringRef text) {
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

SmallVector<const Origin *> Provenance::findSources(StringRef tensor) const {
  SmallVector<const Origin *> origins;
  auto it = sources.find(tensor);
  if (it == sources.end())
    return origins;
  for (const std::string &name : it->second)
    if (const Origin *origin = find(name))
      origins.push_back(origin);
  return origins;
}

SmallVector<StringRef> Provenance::findSteps(StringRef tensor) const {
  SmallVector<StringRef> steps;
  if (auto it = sources.find(tensor); it != sources.end())
    for (const std::string &name : it->second)
      if (!find(name))
        steps.push_back(name);
  return steps;
}

const Origin *Provenance::findArgument(StringRef argument) const {
  auto it = byArgument.find(argument);
  return it == byArgument.end() ? nullptr : &tensors[it->second];
}

} // namespace dtc::frontend
