//===- ReadRecord.cpp - record of tools/export.py -------------------------===//
//
// See ReadRecord.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/DtcExport/ReadRecord.h"
#include "Support/Problem.h"
#include "dtc/Support/ParseJson.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Reads {"parameters": {NAME: {"trained": BOOL}}, "buffers": {NAME:
/// {"persistent": BOOL}}, "ties": [[NAME, ...]]}. Ignores other keys.
static Error readJson(StringRef text, TensorRecord &tensors) {
  auto malformed = [](const Twine &reason) {
    return problem("its metadata 'dtc.tensors' " + reason,
                   "export it again with tools/export.py");
  };
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return malformed("is not JSON: " + toString(value.takeError()));
  const json::Object *record = value->getAsObject();
  if (!record)
    return malformed("is not a JSON object");
  tensors.hasTraining = true;
  auto addAll = [&](StringRef key, StringRef flag, Origin::Kind kind) -> Error {
    const json::Value *field = record->get(key);
    const json::Object *list = field ? field->getAsObject() : nullptr;
    if (field && !list)
      return malformed("has a '" + key + "' that is not an object");
    if (!list)
      return Error::success();
    for (const auto &[name, entry] : *list) {
      const json::Object *object = entry.getAsObject();
      const json::Value *known = object ? object->get(flag) : nullptr;
      if (!object || (known && !known->getAsBoolean()))
        return malformed("has an entry for '" + name.str() +
                         "' that is not an object, or whose '" + flag +
                         "' is neither true nor false");
      Origin origin;
      origin.name = name.str();
      origin.kind = kind;
      origin.isSaved = object->getBoolean("persistent").value_or(true);
      origin.isTrained = object->getBoolean("trained").value_or(true);
      tensors.add(std::move(origin));
    }
    return Error::success();
  };
  if (Error error = addAll("parameters", "trained", Origin::Parameter))
    return error;
  if (Error error = addAll("buffers", "persistent", Origin::Buffer))
    return error;
  const json::Value *ties = record->get("ties");
  if (!ties)
    return Error::success();
  if (!ties->getAsArray())
    return malformed("has a 'ties' that is not an array");
  for (const json::Value &entry : *ties->getAsArray()) {
    const json::Array *names = entry.getAsArray();
    if (!names || any_of(*names, [](const json::Value &name) {
          return !name.getAsString();
        }))
      return malformed("has a tie that is not an array of names");
    std::vector<std::string> &tie = tensors.ties.emplace_back();
    for (const json::Value &name : *names)
      tie.push_back(name.getAsString()->str());
  }
  return Error::success();
}

Error readRecord(const onnx::ModelProto &model, TensorRecord &tensors) {
  for (const auto &entry : model.metadata_props())
    if (entry.key() == "dtc.tensors")
      if (Error error = readJson(entry.value(), tensors))
        return error;
  return Error::success();
}

} // namespace dtc::frontend
