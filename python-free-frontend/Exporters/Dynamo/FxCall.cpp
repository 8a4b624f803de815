//===- FxCall.cpp - calls that dynamo records with nodes ------------------===//
//
// See FxCall.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/FxCall.h"
#include "Exporters/Dynamo/Metadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

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

} // namespace dtc::frontend
