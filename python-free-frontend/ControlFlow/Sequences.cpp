//===- Sequences.cpp - lists of tensors -----------------------------------===//
//
// See Sequences.h. PyTorch's exporters use sequences for chunk, split and
// unbind.
//
//===----------------------------------------------------------------------===//

#include "ControlFlow/Sequences.h"
#include "File/Nodes.h"
#include "Ops/Operators.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
constexpr StringLiteral sequenceOps[] = {
    "SequenceEmpty",   "SequenceConstruct", "SequenceAt",
    "SequenceLength",  "SequenceInsert",    "SequenceErase",
    "SplitToSequence", "ConcatFromSequence"};

onnx::NodeProto makeNode(const Call &call, StringRef op) {
  onnx::NodeProto node;
  node.set_name(call.node.name());
  node.set_op_type(op.str());
  return node;
}
} // namespace

bool Sequences::handles(const onnx::NodeProto &node) const {
  return is_contained(sequenceOps, node.op_type()) ||
         (node.op_type() == "Identity" && contains(node.input(0)));
}

const Sequences::Names &Sequences::list(const Call &call) const {
  return lists.find(call.node.input(0))->second;
}

Expected<size_t> Sequences::position(const Call &call, unsigned i, size_t size,
                                     int64_t otherwise) const {
  int64_t found = otherwise, count = size;
  if (call.hasOperand(i)) {
    auto given = call.constant(i, "position");
    if (!given)
      return given.takeError();
    if (Error error = call.requireScalars({i}))
      return std::move(error);
    found = (*given)->getInt(0);
  }
  if (found < -count || found >= count)
    return problem("position " + Twine(found) + " is outside a sequence of " +
                   Twine(count));
  return found < 0 ? found + count : found;
}

/// Becomes a Split. If parts have size 1 and lose the dimension, a Squeeze of
/// each part follows.
Error Sequences::split(const Call &call, Nodes &nodes) {
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  int64_t size = call.shape(0)[*axis], part = 1;
  std::vector<int64_t> sizes;
  if (call.hasOperand(1)) {
    auto given = call.constant(1, "split");
    if (!given)
      return given.takeError();
    if ((*given)->rank() == 1)
      sizes = (*given)->toInts();
    else
      part = (*given)->getInt(0);
  }
  if (part < 1)
    return problem("splits a tensor into parts of size " + Twine(part) +
                   ", expected at least 1");
  if (sizes.empty())
    for (int64_t start = 0; start < size; start += part)
      sizes.push_back(std::min(part, size - start));
  bool squeezes = !call.hasOperand(1) && !call.getInt("keepdims", 1);

  const std::string &name = call.node.output(0);
  Names &parts = lists[name];
  onnx::NodeProto node = makeNode(call, "Split");
  node.add_input(call.node.input(0));
  addInt(node, "axis", *axis);
  addInts(node, "split", sizes);
  std::string suffix = squeezes ? ".kept" : "";
  for (size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back(name + "#" + std::to_string(i));
    node.add_output(parts.back() + suffix);
  }
  nodes.push_back(node);
  for (const std::string &output : parts) {
    if (!squeezes)
      break;
    onnx::NodeProto &squeeze = nodes.emplace_back(makeNode(call, "Squeeze"));
    squeeze.add_input(output + suffix);
    squeeze.add_output(output);
    addInts(squeeze, "axes", {*axis});
  }
  return Error::success();
}

Error Sequences::concat(const Call &call, Nodes &nodes) {
  const std::string &name = call.node.output(0);
  int64_t axis = call.getInt("axis", 0);
  onnx::NodeProto node = makeNode(call, "Concat");
  for (auto [i, part] : enumerate(list(call))) {
    if (!call.getInt("new_axis", 0)) {
      node.add_input(part);
      continue;
    }
    onnx::NodeProto &single = nodes.emplace_back(makeNode(call, "Unsqueeze"));
    single.add_input(part);
    single.add_output(name + "#" + std::to_string(i));
    addInts(single, "axes", {axis});
    node.add_input(single.output(0));
  }
  if (node.input().empty())
    return problem("concatenates an empty sequence");
  addInt(node, "axis", axis);
  node.add_output(name);
  nodes.push_back(node);
  return Error::success();
}

Error Sequences::at(const Call &call, Nodes &nodes) {
  const Names &names = list(call);
  auto found = position(call, 1, names.size(), 0);
  if (!found)
    return found.takeError();
  onnx::NodeProto &copy = nodes.emplace_back(makeNode(call, "Identity"));
  copy.add_input(names[*found]);
  copy.add_output(call.node.output(0));
  return Error::success();
}

/// Runs SequenceInsert and SequenceErase.
Error Sequences::edit(const Call &call) {
  Names names = list(call);
  bool inserts = call.node.op_type() == "SequenceInsert";
  // Without a position, insert after the last element, or erase the last one.
  size_t places = names.size() + inserts;
  auto found = position(call, inserts ? 2 : 1, places, int64_t(places) - 1);
  if (!found)
    return found.takeError();
  if (inserts)
    names.insert(names.begin() + *found, call.node.input(1));
  else
    names.erase(names.begin() + *found);
  lists[call.node.output(0)] = names;
  return Error::success();
}

Expected<std::vector<onnx::NodeProto>> Sequences::expand(const Call &call) {
  Nodes nodes;
  if (Error error = expandInto(call, nodes))
    return std::move(error);
  return nodes;
}

Error Sequences::expandInto(const Call &call, Nodes &nodes) {
  StringRef op = call.node.op_type();
  if (op == "SplitToSequence")
    return split(call, nodes);
  if (op == "ConcatFromSequence")
    return concat(call, nodes);
  if (op == "SequenceAt")
    return at(call, nodes);
  if (op == "SequenceInsert" || op == "SequenceErase")
    return edit(call);
  if (op == "Identity") {
    lists[call.node.output(0)] = Names(list(call));
  } else if (op == "SequenceLength") {
    onnx::NodeProto &node = nodes.emplace_back(makeNode(call, "Constant"));
    node.add_output(call.node.output(0));
    addInt(node, "value_int", list(call).size());
  } else {
    lists[call.node.output(0)] =
        Names(call.node.input().begin(), call.node.input().end());
  }
  return Error::success();
}

void addSequenceOperators(OperatorTable &table) {
  table.add({
      {"SequenceEmpty", 11, 0, 0, "dtype"},
      {"SequenceConstruct", 11, 1, any, ""},
      {"SequenceAt", 11, 2, 2, "", nullptr, second},
      {"SequenceLength", 11, 1, 1, "", nullptr, first},
      {"SequenceInsert", 11, 2, 3, "", nullptr, third},
      {"SequenceErase", 11, 1, 2, "", nullptr, second},
      {"SplitToSequence", 11, 1, 2, "axis keepdims", nullptr, second},
      {"ConcatFromSequence", 11, 1, 1, "axis new_axis"},
      {"If", 1, 1, 1, "then_branch else_branch", nullptr, first},
      {"Loop", 1, 0, many, "body", nullptr, firstTwo},
      {"Scan", 9, 1, any,
       "body num_scan_inputs scan_input_axes scan_input_directions "
       "scan_output_axes scan_output_directions"},
  });
}

} // namespace dtc::frontend
