//===- Randomness.cpp - shared state of random nodes ----------------------===//
//
// See Randomness.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/Randomness.h"
#include "File/Annotations.h"
#include "Support/Glob.h"
#include "Support/NameList.h"
#include "Support/Problem.h"

#include "mlir/IR/BuiltinTypes.h"

#include <charconv>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

void Randomness::readModes(const onnx::GraphProto &graph,
                           TensorReader &reader) {
  StringMap<const onnx::TensorProto *> constants;
  for (const auto &tensor : graph.initializer())
    constants[tensor.name()] = &tensor;
  for (const auto &node : graph.node())
    if (node.op_type() == "Constant" && node.output_size() == 1)
      for (const auto &attribute : node.attribute())
        if (attribute.name() == "value")
          constants[node.output(0)] = &attribute.t();
  for (const auto &node : graph.node()) {
    if (node.op_type() != "Dropout" || node.input_size() < 3)
      continue;
    auto mode = constants.find(node.input(2));
    if (mode == constants.end())
      continue;
    Expected<TensorData> data = reader.read(*mode->second);
    if (data)
      anyTrains |= numElements(data->shape) == 1 && data->hasData &&
                   toHostTensor(*data).getInt(0);
    else
      consumeError(data.takeError()); // reported at the node that uses it
  }
}

Value Randomness::getSeed() {
  if (!seed)
    seed = addInput("seed", mlir::RankedTensorType::get(
                                {}, mlir::IntegerType::get(&context, 64)));
  return seed;
}

Value Randomness::getStep() {
  if (!step)
    step = addInput("step", mlir::RankedTensorType::get(
                                {}, mlir::Float64Type::get(&context)));
  return step;
}

/// Converts a float ratio to the decimal that was meant: 0.1 for
/// 0.100000001490116.
static double unround(double value) {
  auto single = static_cast<float>(value);
  if (single != value)
    return value;
  char text[32];
  auto end = std::to_chars(text, std::end(text), single).ptr;
  std::from_chars(text, end, value);
  return value;
}

/// The path of a node's module: from the exporter's record, or from the name of
/// the node ("encoder.drop" of "/encoder/drop/Dropout").
static std::string getModule(const Call &call) {
  if (const auto *recorded = call.attribute(annotation::module))
    return recorded->s();
  StringRef name = call.node.name();
  if (!name.consume_front("/"))
    return {};
  std::string module = name.rsplit('/').first.str();
  std::replace(module.begin(), module.end(), '/', '.');
  return module;
}

Expected<double> Randomness::getProbability(const Call &call, StringRef name) {
  all.push_back(name.str());
  double ratio = unround(call.getFloat("ratio", 0.5));
  if (call.hasOperand(1)) {
    auto given = call.constant(1, "ratio");
    if (!given)
      return given.takeError();
    if ((*given)->size() == 1)
      ratio = unround((*given)->getFloat(0));
  }
  bool trains = call.opset >= 12 && anyTrains;
  if (call.hasOperand(2)) {
    auto mode = call.constant(2, "training_mode");
    if (!mode)
      return mode.takeError();
    trains = (*mode)->size() == 1 && (*mode)->getInt(0);
  }

  std::optional<double> chosen;
  for (const DropoutOverride &choice : options.dropout) {
    if (!choice.glob.empty() && !matchesGlob(choice.glob, name) &&
        !matchesGlob(choice.glob, getModule(call)))
      continue;
    usedGlobs.insert(choice.glob);
    chosen = choice.probability;
  }
  if (options.noDropout)
    return 0;
  if (chosen)
    return *chosen;
  if (!(ratio >= 0 && ratio <= 1))
    return problem("ratio is " + Twine(std::to_string(ratio)) +
                       ", expected one from 0 to 1",
                   "the model is not valid ONNX; export it again");
  if (!trains && ratio != 0)
    idle.push_back(name.str());
  else if (!call.hasOperand(2) && ratio != 0)
    assumed.push_back(name.str());
  return trains ? ratio : 0;
}

void Randomness::report(ImportReport &report) const {
  for (const DropoutOverride &choice : options.dropout)
    if (!usedGlobs.count(choice.glob))
      report.issues.push_back(
          {"", "",
           choice.glob.empty()
               ? "--dropout gives a probability, but the model has no Dropout"
               : "--dropout '" + choice.glob + "' matches no Dropout",
           all.empty() ? "export the model after model.train()"
                       : "the model has " + listFirstNames(all)});
  if (!idle.empty())
    report.notes.push_back(
        "Dropout nodes that are not in training mode do nothing: " +
        listFirstNames(idle) +
        "; export after model.train(), or pass --dropout P");
  if (!assumed.empty())
    report.notes.push_back("dtc turns on Dropout nodes that do not state their "
                           "mode, since others are in training mode: " +
                           listFirstNames(assumed) +
                           "; --dropout GLOB=0 turns them off");
}

} // namespace dtc::frontend
