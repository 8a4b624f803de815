//===- UnrollLoops.cpp - iterations of Loop and Scan ----------------------===//
//
// See UnrollLoops.h.
//
//===----------------------------------------------------------------------===//

#include "ControlFlow/UnrollLoops.h"
#include "File/InlineNodes.h"
#include "File/Nodes.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace dtc::frontend {

namespace {
constexpr StringLiteral notValid =
    "the model is not valid ONNX; export it again";

onnx::NodeProto makeNumber(const std::string &name, int64_t value) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.add_output(name);
  addInt(node, "value_int", value);
  return node;
}

onnx::NodeProto makeTrue(const std::string &name) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.add_output(name);
  onnx::TensorProto &value =
      *addAttribute(node, "value", onnx::AttributeProto::TENSOR).mutable_t();
  value.set_data_type(onnx::TensorProto::BOOL);
  value.add_int32_data(1);
  return node;
}
} // namespace

/// Loop(iterations, condition, carried...). Both of the first two operands may
/// be missing. The condition that the body returns counts even if the second
/// operand is missing, as in ONNX Runtime.
Error Unroller::readLoop() {
  maxRounds = std::numeric_limits<int64_t>::max();
  if (call.hasOperand(0)) {
    auto given = call.constant(0, "M");
    if (!given)
      return given.takeError();
    if (Error error = call.requireScalars({0}))
      return error;
    maxRounds = (*given)->getInt(0);
  }
  for (int i = 2; i < call.node.input_size(); ++i)
    carried.push_back(call.node.input(i));
  if (call.node.input_size() > 1)
    condition = call.node.input(1);
  return Error::success();
}

Expected<std::vector<Unroller::List>> Unroller::readLists(StringRef direction,
                                                          size_t count) const {
  std::vector<List> lists(count);
  std::string what = ("scan_" + direction).str();
  if (auto axes = call.getInts(what + "_axes")) {
    if (axes->size() != count)
      return problem(what + "_axes has " + Twine(axes->size()) +
                         " numbers, expected " + Twine(count),
                     notValid);
    for (auto [list, axis] : zip(lists, *axes))
      list.axis = axis;
  }
  if (auto directions = call.getInts(what + "_directions")) {
    if (directions->size() != count)
      return problem(what + "_directions has " + Twine(directions->size()) +
                         " numbers, expected " + Twine(count),
                     notValid);
    for (auto [list, isReversed] : zip(lists, *directions))
      list.isReversed = isReversed != 0;
  }
  return lists;
}

/// Scan(carried..., lists...). It has an iteration for each element of the
/// lists.
Error Unroller::readScan() {
  int64_t numLists = call.getInt("num_scan_inputs", 0);
  int64_t numCarried = call.node.input_size() - numLists;
  if (numLists < 1 || numCarried < 0)
    return problem("scans " + Twine(numLists) + " lists, but has " +
                       Twine(call.node.input_size()) + " operands",
                   notValid);
  for (int64_t i = 0; i < numCarried; ++i)
    carried.push_back(call.node.input(i));
  auto lists = readLists("input", numLists);
  if (!lists)
    return lists.takeError();
  sources = *lists;
  for (auto [i, list] : enumerate(sources)) {
    unsigned operand = numCarried + i;
    auto axis = normalizeAxis(list.axis, call.rank(operand));
    if (!axis)
      return axis.takeError();
    list.axis = *axis;
    int64_t size = call.shape(operand)[*axis];
    if (i > 0 && size != maxRounds)
      return problem("scans lists of different lengths, " + Twine(maxRounds) +
                         " and " + Twine(size),
                     notValid);
    maxRounds = size;
  }
  return Error::success();
}

Error Unroller::readBody() {
  const auto *attribute = call.attribute("body");
  if (!attribute)
    return problem("has no body", notValid);
  body = &attribute->g();
  int64_t inputs = carried.size() + (isScan ? sources.size() : 2);
  int64_t fixed = carried.size() + (isScan ? 0 : 1);
  if (body->input_size() != inputs || body->output_size() < fixed ||
      call.node.output_size() > body->output_size() - (isScan ? 0 : 1))
    return problem("has a body of " + Twine(body->input_size()) +
                       " inputs and " + Twine(body->output_size()) +
                       " outputs, expected " + Twine(inputs) +
                       " and at least " + Twine(fixed),
                   notValid);
  auto lists = isScan ? readLists("output", body->output_size() - fixed)
                      : std::vector<List>(body->output_size() - fixed);
  if (!lists)
    return lists.takeError();
  results = *lists;
  elements.resize(results.size());
  return Error::success();
}

Expected<Unroller> Unroller::read(const Call &call, std::string prefix) {
  Unroller unroller(call, std::move(prefix));
  if (Error error = unroller.isScan ? unroller.readScan() : unroller.readLoop())
    return std::move(error);
  if (Error error = unroller.readBody())
    return std::move(error);
  return unroller;
}

std::vector<onnx::NodeProto> Unroller::makeRound() {
  std::string name = prefix + "#" + std::to_string(rounds);
  std::vector<onnx::NodeProto> nodes;
  std::vector<std::string> names;
  if (!isScan) {
    nodes.push_back(makeNumber(name + ".round", rounds));
    if (condition.empty()) {
      condition = name + ".condition";
      nodes.push_back(makeTrue(condition));
    }
    names = {name + ".round", condition};
  }
  append_range(names, carried);
  for (auto [i, list] : enumerate(sources)) {
    std::string element = name + ".element" + std::to_string(i);
    nodes.push_back(makeNumber(
        element + ".index", list.isReversed ? maxRounds - 1 - rounds : rounds));
    onnx::NodeProto &lookup = nodes.emplace_back();
    lookup.set_op_type("Gather");
    lookup.add_input(call.node.input(carried.size() + i));
    lookup.add_input(element + ".index");
    lookup.add_output(element);
    addInt(lookup, "axis", list.axis);
    names.push_back(element);
  }
  InlinedGraph round = inlineGraph(*body, names, name);
  append_range(nodes, round.nodes);
  auto output = round.outputs.begin();
  if (!isScan)
    condition = *output++;
  for (std::string &value : carried)
    value = *output++;
  for (std::vector<std::string> &list : elements)
    list.push_back(*output++);
  ++rounds;
  return nodes;
}

Expected<std::vector<onnx::NodeProto>> Unroller::makeResults() const {
  std::vector<onnx::NodeProto> nodes;
  for (auto [i, to] : enumerate(call.node.output())) {
    if (to.empty())
      continue;
    if (i < carried.size()) {
      nodes.push_back(makeUnary("Identity", carried[i], to));
      continue;
    }
    List list = results[i - carried.size()];
    std::vector<std::string> parts = elements[i - carried.size()];
    if (parts.empty())
      return problem("has no iteration, so its output " + Twine(i) +
                     " would be an empty list");
    if (list.isReversed)
      std::reverse(parts.begin(), parts.end());
    onnx::NodeProto join;
    join.set_op_type("Concat");
    join.add_output(to);
    addInt(join, "axis", list.axis);
    for (const std::string &part : parts) {
      onnx::NodeProto &single = nodes.emplace_back(makeUnary(
          "Unsqueeze", part, to + "#" + std::to_string(join.input_size())));
      addInts(single, "axes", {list.axis});
      join.add_input(single.output(0));
    }
    nodes.push_back(join);
  }
  return nodes;
}

} // namespace dtc::frontend
