//===- NodeImporter.cpp - from nodes to values ----------------------------===//
//
// The evaluator computes a node whose operands are known. All other nodes
// become dtc ops. If a node fails, its results stay unknown, and the nodes that
// depend on them are skipped. So one run reports all errors.
//
//===----------------------------------------------------------------------===//

#include "Nodes/NodeImporter.h"
#include "File/Annotations.h"
#include "File/InlineNodes.h"
#include "File/ModelFile.h"
#include "Ops/FollowSelection.h"
#include "Shapes/ShapeRules.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

void NodeImporter::fail(Error error, const onnx::NodeProto &node,
                        StringRef name) {
  Problem problem = takeProblem(std::move(error));
  report.issues.push_back(
      {node.op_type(), name.str(), problem.reason, problem.advice});
}

void NodeImporter::importAll(ArrayRef<onnx::NodeProto> nodes, int index) {
  for (const onnx::NodeProto &node : nodes)
    import(node, index);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value NodeImporter::materialize(Binding &binding, NodeBuilder &node) {
  if (binding.value)
    return binding.value;
  if (binding.constant && binding.selection && binding.selection->isCount)
    return binding.value =
               masks.count(node, *binding.selection, *binding.constant);
  if (binding.constant)
    return binding.value = node.constant(*binding.constant);
  ParameterUse use = *binding.parameter;
  arguments.resize(parameters.size());
  Value &argument = arguments[use.index];
  if (!argument)
    argument = function.addParameter(
        parameters[use.index],
        toType(function.getBuilder().getContext(), binding.dtype));
  binding.value = use.transposed ? node.swapDims(argument, 0, 1)
                                 : node.reshape(argument, use.shape);
  return binding.value;
}

Value NodeImporter::materialize(Binding &binding) {
  onnx::NodeProto none;
  Call call(none, opset, floatType);
  mlir::OpBuilder &builder = function.getBuilder();
  NodeBuilder node(call, builder, function.getBody().getParentOp()->getLoc(),
                   {});
  return materialize(binding, node);
}

bool NodeImporter::readOperands(Call &call) const {
  for (const std::string &input : call.node.input()) {
    Operand &operand = call.operands.emplace_back();
    operand.isSequence = sequences.contains(input);
    if (input.empty() || operand.isSequence)
      continue;
    auto it = bindings.find(input);
    if (it == bindings.end())
      return false;
    const Binding &binding = it->second;
    operand.present = true;
    operand.dtype = binding.dtype;
    operand.shape = binding.shape;
    operand.constant = binding.constant.get();
    operand.isParameter = binding.parameter.has_value();
    operand.selection = binding.selection;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Nodes that become other nodes
//===----------------------------------------------------------------------===//

/// Makes a prefix for the names of an inner graph's nodes. The prefix is
/// unique, since nodes of several iterations and nodes without names may have
/// equal names.
std::string NodeImporter::makePrefix(const onnx::NodeProto &node, int index) {
  std::string name = nodeName(node, index), prefix = name;
  for (int64_t number = 1; !prefixes.insert(prefix).second; ++number)
    prefix = name + "." + std::to_string(number);
  return prefix;
}

/// Imports the branch that the condition takes.
Error NodeImporter::importBranch(const Call &call, int index) {
  auto condition = call.constant(0, "cond");
  if (!condition) {
    if (!call.getInt(annotation::embeddingBag, 0))
      return condition.takeError();
    consumeError(condition.takeError());
    return problem(
        "is part of an EmbeddingBag with padding_idx, which skips "
        "rows that depend on its input",
        "use nn.Embedding, multiply its rows by a mask that is 0 for "
        "padding, and sum them");
  }
  if (Error error = call.requireScalars({0}))
    return error;
  const auto *branch =
      call.attribute((*condition)->getInt(0) ? "then_branch" : "else_branch");
  if (!branch || branch->g().output_size() != call.node.output_size())
    return problem("has no branch with " + Twine(call.node.output_size()) +
                       " outputs for its condition",
                   "the model is not valid ONNX; export it again");
  importAll(inlineBranch(call.node, branch->g(), makePrefix(call.node, index)),
            index);
  return Error::success();
}

/// Whether the loop has another iteration.
Expected<bool> NodeImporter::goesOn(const Unroller &loop) const {
  if (loop.getCondition().empty())
    return true;
  auto condition = bindings.find(loop.getCondition());
  if (condition == bindings.end() || !condition->second.constant ||
      condition->second.selection)
    return problem("the number of iterations is computed at run time",
                   "use a number of iterations that is known at export");
  if (condition->second.constant->size() != 1)
    return problem("has a condition of shape " +
                       toString(condition->second.shape) +
                       ", expected one element",
                   "the model is not valid ONNX; export it again");
  return condition->second.constant->getInt(0) != 0;
}

/// Imports the nodes of all iterations.
Error NodeImporter::importLoop(const Call &call, int index) {
  constexpr int64_t most = 4096, mostOfAll = 16384;
  Expected<Unroller> loop = Unroller::read(call, makePrefix(call.node, index));
  if (!loop)
    return loop.takeError();
  size_t numIssues = report.issues.size();
  for (int64_t round = 0; round < loop->getMaxRounds(); ++round) {
    Expected<bool> follows = goesOn(*loop);
    if (!follows)
      return follows.takeError();
    if (!*follows)
      break;
    if (round == most || ++rounds > mostOfAll)
      return problem("has more than " + Twine(most) +
                         " iterations, or all loops have more than " +
                         Twine(mostOfAll),
                     "replace the loop by operations on whole tensors");
    importAll(loop->makeRound(), index);
    if (report.issues.size() != numIssues)
      return Error::success();
  }
  auto results = loop->makeResults();
  if (!results)
    return results.takeError();
  importAll(*results, index);
  return Error::success();
}

Expected<bool> NodeImporter::expand(const Call &call, int index) {
  bool isBranch = call.node.op_type() == "If";
  bool isLoop = Unroller::isLoop(call.node.op_type());
  if (!isBranch && !isLoop && !sequences.handles(call.node))
    return false;
  if (call.readsSelection())
    return problem("reads elements that a mask selects, or counts them",
                   "select the elements outside of it, or use torch.where");
  if (isBranch || isLoop) {
    if (Error error =
            isBranch ? importBranch(call, index) : importLoop(call, index))
      return std::move(error);
    return true;
  }
  Expected<std::vector<onnx::NodeProto>> nodes = sequences.expand(call);
  if (!nodes)
    return nodes.takeError();
  importAll(*nodes, index);
  return true;
}

//===----------------------------------------------------------------------===//
// Nodes that become values
//===----------------------------------------------------------------------===//

/// Sets the selection of a result.
Error NodeImporter::follow(const Call &call, Binding &result) const {
  if (!call.readsSelection())
    return Error::success();
  const Operator &op = *operators.find(call.node.op_type());
  auto selection = followSelection(call, op, result.shape);
  if (!selection)
    return selection.takeError();
  result.selection = *selection;
  return Error::success();
}

Error NodeImporter::evaluate(const Call &call) {
  Expected<Values> values = evaluator.evaluate(call);
  if (!values)
    return values.takeError();
  for (auto [name, value] : zip(call.node.output(), *values)) {
    Binding binding;
    binding.dtype = value.dtype();
    binding.shape = Shape(value.shape());
    binding.constant = std::make_shared<HostTensor>(std::move(value));
    if (Error error = follow(call, binding))
      return error;
    bindings[name] = std::move(binding);
  }
  return Error::success();
}

/// Imports a NonZero node whose mask is computed.
Error NodeImporter::selectByMask(NodeBuilder &node) {
  Expected<Masks::Places> places = masks.select(node);
  if (!places)
    return places.takeError();
  Binding binding;
  binding.dtype = DType::I64;
  binding.shape = Shape(places->coordinates.shape());
  binding.constant =
      std::make_shared<HostTensor>(std::move(places->coordinates));
  binding.selection = places->selection;
  bindings[node.call.node.output(0)] = std::move(binding);
  return Error::success();
}

Error NodeImporter::build(const Call &call, StringRef name) {
  const Operator *op = operators.find(call.node.op_type());
  bool isMask = call.node.op_type() == "NonZero";
  if (!op->rule && !isMask)
    return problem("operator is supported only on values known at import",
                   "make its operands constant, or replace it");
  mlir::OpBuilder &builder = function.getBuilder();
  mlir::Location loc = mlir::NameLoc::get(builder.getStringAttr(name));
  SmallVector<Value> operands;
  NodeBuilder makeOperands(call, builder, loc, {});
  for (const std::string &input : call.node.input())
    operands.push_back(
        input.empty() ? Value() : materialize(bindings[input], makeOperands));
  mlir::Block &body = function.getBody();
  mlir::Operation *last = body.empty() ? nullptr : &body.back();
  Call shown = call;
  for (unsigned i = 0; i < shown.operands.size(); ++i)
    if (readsNumber(call, *op, i))
      shown.operands[i].constant = nullptr;
  NodeBuilder node(shown, builder, loc, operands, &randomness);
  if (isMask)
    return selectByMask(node);
  if (Error error = call.readsSelection()
                        ? masks.build(op->rule, node, operands)
                        : op->rule(node))
    return error;
  auto built = last ? std::next(last->getIterator()) : body.begin();
  for (mlir::Operation &made : make_range(built, body.end()))
    for (mlir::Type type : made.getResultTypes())
      if (Error error =
              requirePossible(cast<mlir::RankedTensorType>(type).getShape()))
        return error;
  for (auto [output, value] : zip(call.node.output(), node.getResults())) {
    if (output.empty() || !value)
      continue;
    auto type = cast<mlir::RankedTensorType>(value.getType());
    Binding binding;
    binding.dtype = fromType(type.getElementType());
    binding.shape = Shape(type.getShape());
    binding.value = value;
    if (Error error = follow(call, binding))
      return error;
    // Shapes need the number of places, sums the number of selected elements.
    if (binding.selection && binding.selection->isCount) {
      Expected<Values> places = evaluator.evaluate(call);
      if (!places)
        return places.takeError();
      binding.constant =
          std::make_shared<HostTensor>(std::move(places->front()));
    }
    bindings[output] = std::move(binding);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All nodes
//===----------------------------------------------------------------------===//

void NodeImporter::requireOutputs(const onnx::NodeProto &node, StringRef name) {
  for (auto [i, output] : enumerate(node.output()))
    if (live.contains(output) && !bindings.contains(output) &&
        !sequences.contains(output))
      fail(problem("output " + Twine(i) + " is not supported",
                   "use the first output only"),
           node, name);
}

void NodeImporter::import(const onnx::NodeProto &node, int index) {
  std::string name = nodeName(node, index);
  if (Error error = operators.check(node, opset))
    return fail(std::move(error), node, name);

  // A copy of a merged initializer is already a parameter.
  if (all_of(node.output(), [&](const std::string &output) {
        return bindings.contains(output);
      }))
    return;

  Call call(node, opset, floatType);
  if (!readOperands(call))
    return;
  size_t numIssues = report.issues.size();
  Expected<bool> isExpanded = expand(call, index);
  if (!isExpanded)
    return fail(isExpanded.takeError(), node, name);
  if (*isExpanded) {
    if (report.issues.size() == numIssues)
      requireOutputs(node, name);
    return;
  }
  if (any_of(call.operands, [](const Operand &operand) {
        return operand.kind() == ValueKind::Sequence;
      }))
    return fail(problem("reads a sequence of tensors; only sequence operators "
                        "can",
                        "export with dynamo=True, which writes no sequences"),
                node, name);
  const Operator &op = *operators.find(node.op_type());
  bool isKnown = evaluator.canEvaluate(call) && !needsMask(call, op) &&
                 !isLargeMask(call, op.isElementwise);
  if (Error error = isKnown ? evaluate(call) : build(call, name))
    return fail(std::move(error), node, name);
  requireOutputs(node, name);
}

} // namespace dtc::frontend
