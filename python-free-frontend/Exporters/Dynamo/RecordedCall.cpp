//===- RecordedCall.cpp - calls that dynamo records with nodes ------------===//
//
// See RecordedCall.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RecordedCall.h"
#include "Exporters/Dynamo/Metadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

StringRef dropNumber(StringRef result) {
  StringRef name = result.rtrim("0123456789");
  return name.size() < result.size() && name.consume_back("_") ? name : result;
}

int64_t getNumber(StringRef result) {
  int64_t number = 0;
  result.drop_front(dropNumber(result).size())
      .ltrim('_')
      .getAsInteger(10, number);
  return number;
}

std::string makeResultName(StringRef name, int64_t number) {
  return number == 0 ? name.str() : (name + "_" + Twine(number)).str();
}

SmallVector<StringRef> RecordedCall::values() const {
  SmallVector<StringRef> all;
  for (const Argument &argument : arguments)
    all.append(argument.values.begin(), argument.values.end());
  return all;
}

bool RecordedCall::names(StringRef value) const {
  return is_contained(values(), value);
}

StringRef RecordedCall::text(unsigned argument) const {
  return argument < arguments.size() ? StringRef(arguments[argument].text) : "";
}

std::optional<int64_t> RecordedCall::integer(unsigned argument) const {
  int64_t integer;
  if (text(argument).getAsInteger(10, integer))
    return std::nullopt;
  return integer;
}

/// The text up to the first `end` outside of brackets, or up to a bracket that
/// closes one before the text. Takes it and `end` from the text.
static StringRef takeUntil(StringRef &text, char end) {
  int depth = 0;
  size_t size = 0;
  for (; size < text.size(); ++size) {
    char c = text[size];
    if (depth == 0 && c == end)
      break;
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth < 0)
      break;
  }
  StringRef taken = text.take_front(size);
  text = text.drop_front(std::min(size + 1, text.size()));
  return taken;
}

static SmallVector<std::string, 1> readValues(StringRef argument) {
  SmallVector<std::string, 1> values;
  for (argument = argument.split('%').second; !argument.empty();
       argument = argument.split('%').second)
    values.push_back(
        argument.take_while([](char c) { return isAlnum(c) || c == '_'; })
            .str());
  return values;
}

std::optional<RecordedCall> readCall(const onnx::NodeProto &node) {
  std::string text = readMetadata(node.unknown_fields(), nodeMetadata,
                                  "pkg.torch.onnx.fx_node");
  StringRef rest = text;
  RecordedCall call;
  if (!rest.consume_front("%"))
    return std::nullopt;
  call.result = rest.split(' ').first.str();
  auto [target, inBrackets] =
      rest.split("call_function[target=").second.split("](args = (");
  if (inBrackets.empty())
    return std::nullopt;
  // "torch.ops.aten.linear.default" without namespace and overload.
  target.consume_front("torch.ops.");
  call.op = target.split('.').second.split('.').first.str();
  StringRef keywords = inBrackets.split("kwargs = {").second;
  for (StringRef keyword : split(takeUntil(keywords, '}'), ',')) {
    auto [name, value] = keyword.split(':');
    call.keywords[name.trim()] = value.trim().str();
  }
  for (StringRef all = takeUntil(inBrackets, ')'); !all.empty();) {
    StringRef argument = takeUntil(all, ',');
    call.arguments.push_back({argument.trim().str(), readValues(argument)});
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
  StringRef lines = StringRef(trace).rtrim();
  return lines.drop_front(lines.rfind('\n') + 1).trim().str();
}

NodeRecord readNodeRecord(const onnx::NodeProto &node) {
  return {readCall(node), readModules(node), readSourceLine(node)};
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

void renameInCall(onnx::NodeProto &node, const StringMap<std::string> &values) {
  google::protobuf::UnknownFieldSet *fields = node.mutable_unknown_fields();
  for (int i = 0; i < fields->field_count(); ++i) {
    google::protobuf::UnknownField *field = fields->mutable_field(i);
    onnx::StringStringEntryProto entry;
    if (field->number() != nodeMetadata ||
        field->type() !=
            google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED ||
        !entry.ParseFromString(field->length_delimited()) ||
        entry.key() != "pkg.torch.onnx.fx_node")
      continue;
    entry.set_value(rename(entry.value(), values));
    field->set_length_delimited(entry.SerializeAsString());
  }
}

} // namespace dtc::frontend
