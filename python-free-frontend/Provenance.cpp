//===- Provenance.cpp - what an exporter records about tensors ------------===//
//
// See Provenance.h. Debian's ONNX is older than the metadata of graphs and
// nodes, so these are fields that it does not know.
//
//===----------------------------------------------------------------------===//

#include "Provenance.h"
#include "Problem.h"
#include "dtc/Support/ParseJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <google/protobuf/unknown_field_set.h>

using namespace llvm;

namespace dtc::frontend {

/// The numbers of `metadata_props` in onnx.proto since IR version 10.
constexpr int nodeMetadata = 9, graphMetadata = 16, valueMetadata = 4;

/// The value of `key` among the StringStringEntryProto of field `number`.
static std::string readMetadata(const google::protobuf::UnknownFieldSet &fields,
                                int number, StringRef key) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    if (field.number() != number ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    onnx::StringStringEntryProto entry;
    if (entry.ParseFromString(field.length_delimited()) && entry.key() == key)
      return entry.value();
  }
  return "";
}

StringRef getStem(StringRef call) {
  StringRef stem = call.rtrim("0123456789");
  return stem.size() < call.size() && stem.consume_back("_") ? stem : call;
}

int64_t getNumber(StringRef call) {
  int64_t number = 0;
  call.drop_front(getStem(call).size()).ltrim('_').getAsInteger(10, number);
  return number;
}

std::string makeCallName(StringRef stem, int64_t number) {
  return number == 0 ? stem.str() : (stem + "_" + Twine(number)).str();
}

bool FxCall::uses(StringRef value) const {
  return any_of(arguments, [&](const auto &argument) {
    return is_contained(argument, value);
  });
}

/// "aten.linear.default" without namespace and overload.
static StringRef stripOverload(StringRef target) {
  target.consume_front("torch.ops.");
  return target.split('.').second.split('.').first;
}

/// The text up to the bracket that closes the one before it.
static StringRef takeBracket(StringRef text) {
  int depth = 1;
  for (auto [i, c] : enumerate(text)) {
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth == 0)
      return text.take_front(i);
  }
  return text;
}

static SmallVector<std::string, 1> readValues(StringRef argument) {
  SmallVector<std::string, 1> values;
  while (true) {
    argument = argument.split('%').second;
    if (argument.empty())
      return values;
    values.push_back(
        argument.take_while([](char c) { return isAlnum(c) || c == '_'; })
            .str());
  }
}

std::optional<FxCall> readFxCall(const onnx::NodeProto &node) {
  std::string text = readMetadata(node.unknown_fields(), nodeMetadata,
                                  "pkg.torch.onnx.fx_node");
  StringRef rest = text;
  FxCall call;
  if (!rest.consume_front("%"))
    return std::nullopt;
  call.result = rest.split(' ').first.str();
  auto [before, target] = rest.split("call_function[target=");
  auto [op, arguments] = target.split("](args = (");
  if (arguments.empty())
    return std::nullopt;
  call.op = stripOverload(op).str();
  StringRef keywords = arguments.split("kwargs = {").second;
  for (StringRef keyword : split(takeBracket(keywords), ','))
    call.keywords[keyword.split(':').first.trim()] =
        keyword.split(':').second.trim().str();
  arguments = takeBracket(arguments);
  while (!arguments.empty()) {
    size_t end = 0;
    for (int depth = 0; end < arguments.size(); ++end) {
      char c = arguments[end];
      if (c == ',' && depth == 0)
        break;
      depth += c == '(' || c == '[' || c == '{';
      depth -= c == ')' || c == ']' || c == '}';
    }
    StringRef argument = arguments.take_front(end);
    call.arguments.push_back(readValues(argument));
    int64_t integer;
    call.integers.push_back(argument.trim().getAsInteger(10, integer)
                                ? std::nullopt
                                : std::optional(integer));
    call.texts.push_back(argument.trim().str());
    arguments = arguments.drop_front(std::min(end + 1, arguments.size()));
  }
  return call;
}

/// The texts between single quotes.
static std::vector<std::string> readQuoted(StringRef list) {
  SmallVector<StringRef> parts;
  list.split(parts, '\'');
  std::vector<std::string> result;
  for (size_t i = 1; i + 1 < parts.size(); i += 2)
    result.push_back(parts[i].str());
  return result;
}

std::vector<std::string> readModules(const onnx::NodeProto &node) {
  std::vector<std::string> scopes = readQuoted(readMetadata(
      node.unknown_fields(), nodeMetadata, "pkg.torch.onnx.name_scopes"));
  if (!scopes.empty())
    scopes.pop_back(); // the call
  return scopes;
}

std::string readSourceLine(const onnx::NodeProto &node) {
  std::string trace = readMetadata(node.unknown_fields(), nodeMetadata,
                                   "pkg.torch.onnx.stack_trace");
  SmallVector<StringRef> lines;
  StringRef(trace).rtrim().split(lines, '\n');
  return lines.back().trim().str();
}

/// With each word that `names` has replaced.
static std::string rename(StringRef text, const StringMap<std::string> &names) {
  std::string result;
  auto isWord = [](char c) { return isAlnum(c) || c == '_' || c == '.'; };
  while (!text.empty()) {
    StringRef word = text.take_while(isWord);
    auto it = names.find(word);
    result += it == names.end() ? word : StringRef(it->second);
    text = text.drop_front(word.size());
    StringRef between = text.take_until(isWord);
    result += between;
    text = text.drop_front(between.size());
  }
  return result;
}

static void renameIn(onnx::NodeProto &node, StringRef key,
                     const StringMap<std::string> &names) {
  google::protobuf::UnknownFieldSet *fields = node.mutable_unknown_fields();
  for (int i = 0; i < fields->field_count(); ++i) {
    google::protobuf::UnknownField *field = fields->mutable_field(i);
    onnx::StringStringEntryProto entry;
    if (field->number() != nodeMetadata ||
        field->type() !=
            google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED ||
        !entry.ParseFromString(field->length_delimited()) || entry.key() != key)
      continue;
    entry.set_value(rename(entry.value(), names));
    field->set_length_delimited(entry.SerializeAsString());
  }
}

void renameInCall(onnx::NodeProto &node, const StringMap<std::string> &values) {
  renameIn(node, "pkg.torch.onnx.fx_node", values);
}

void renameModules(onnx::NodeProto &node,
                   const StringMap<std::string> &modules) {
  renameIn(node, "pkg.torch.onnx.name_scopes", modules);
}

Expected<Provenance> Provenance::read(const onnx::ModelProto &model) {
  Provenance provenance;
  if (Error error = provenance.readAll(model))
    return std::move(error);
  return provenance;
}

Error Provenance::readAll(const onnx::ModelProto &model) {
  std::string signature =
      readMetadata(model.graph().unknown_fields(), graphMetadata,
                   "pkg.torch.export.ExportedProgram.graph_signature");
  // A file without weights has parameters among its inputs.
  if (model.graph().input_size() <=
      int(StringRef(signature).count(": USER_INPUT")))
    for (const auto &input : model.graph().input())
      inputs.insert(input.name());
  readSignature(signature);
  for (const auto &entry : model.metadata_props())
    if (entry.key() == "dtc.tensors")
      if (Error error = readRecord(entry.value()))
        return error;
  for (const onnx::ValueInfoProto &value : model.graph().value_info()) {
    std::string list = readMetadata(value.unknown_fields(), valueMetadata,
                                    "pkg.onnxscript.optimizer.folded_from");
    if (!list.empty())
      sources[value.name()] = readQuoted(list);
  }
  return Error::success();
}

void Provenance::add(Origin origin, StringRef argument) {
  auto [it, isNew] = byName.try_emplace(origin.name, tensors.size());
  if (!argument.empty())
    byArgument[argument] = it->second;
  if (!isNew && argument.empty())
    argument = tensors[it->second].argument;
  origin.argument = argument.str();
  if (isNew)
    tensors.push_back(std::move(origin));
  else
    tensors[it->second] = std::move(origin);
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
    add(std::move(origin), argument);
  }
}

/// {"parameters": {NAME: {"trained": BOOL}}, "buffers": {NAME:
/// {"persistent": BOOL}}, "ties": [[NAME, ...]]}. Other keys are ignored. A
/// record that is not of this form is a problem: which parameters are frozen or
/// tied would be lost.
Error Provenance::readRecord(StringRef text) {
  auto malformed = [](const Twine &reason) {
    return problem("its metadata 'dtc.tensors' " + reason,
                   "export it again with tools/export.py");
  };
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return malformed("is not JSON: " + toString(value.takeError()));
  const json::Object *record = value->getAsObject();
  if (!record)
    return malformed("is no JSON object");
  isRecorded = true;
  auto addAll = [&](StringRef key, StringRef flag, Origin::Kind kind) -> Error {
    const json::Value *field = record->get(key);
    const json::Object *list = field ? field->getAsObject() : nullptr;
    if (field && !list)
      return malformed("has '" + key + "' that is no object");
    if (!list)
      return Error::success();
    for (const auto &[name, entry] : *list) {
      const json::Object *object = entry.getAsObject();
      const json::Value *known = object ? object->get(flag) : nullptr;
      if (!object || (known && !known->getAsBoolean()))
        return malformed("has an entry for '" + name.str() +
                         "' that is no object, or whose '" + flag +
                         "' is neither true nor false");
      Origin origin;
      origin.name = name.str();
      origin.kind = kind;
      origin.isSaved = object->getBoolean("persistent").value_or(true);
      origin.isTrained = object->getBoolean("trained").value_or(true);
      add(std::move(origin), "");
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
    return malformed("has 'ties' that is no array");
  for (const json::Value &entry : *ties->getAsArray()) {
    const json::Array *names = entry.getAsArray();
    if (!names || any_of(*names, [](const json::Value &name) {
          return !name.getAsString();
        }))
      return malformed("has a tie that is no array of names");
    std::vector<std::string> &tie = tied.emplace_back();
    for (const json::Value &name : *names)
      tie.push_back(name.getAsString()->str());
  }
  return Error::success();
}

const Origin *Provenance::find(StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &tensors[it->second];
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
