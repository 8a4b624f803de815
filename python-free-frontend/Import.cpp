//===- Import.cpp - from an ONNX file to dtc ops --------------------------===//
//
// Walks the sorted nodes once. A node whose operands are known is computed;
// any other becomes dtc ops. A node that fails makes its results unknown, and
// what depends on them is passed over, so that one run reports everything.
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/Import.h"

#include "ControlFlow/Sequences.h"
#include "ControlFlow/UnrollLoops.h"
#include "Evaluate/Evaluator.h"
#include "Exporters/Exporters.h"
#include "Exporters/GeneratedNames.h"
#include "Exporters/LostTraining.h"
#include "File/Annotations.h"
#include "File/InlineNodes.h"
#include "File/Nodes.h"
#include "Ops/FollowSelection.h"
#include "Ops/KnownValues.h"
#include "Ops/Masks.h"
#include "Ops/Operators.h"
#include "Ops/Randomness.h"
#include "Parameters/ParameterInputs.h"
#include "Parameters/ParameterNames.h"
#include "Parameters/Parameters.h"
#include "Shapes/InputShapes.h"
#include "Shapes/ShapeRules.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "dtc/Training/FindFunction.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// What a name of the model stands for. Unknown when neither is set.
struct Binding {
  DType dtype = DType::F32;
  Shape shape;
  std::shared_ptr<const HostTensor> constant;
  /// Null for a constant or parameter that no op has used yet.
  Value value;
  std::optional<ParameterUse> parameter;
  std::optional<Selection> selection;
};

class Importer {
public:
  Importer(mlir::MLIRContext &context, const ImportOptions &options,
           ImportReport &report)
      : context(context), options(options), report(report), builder(&context),
        floatType(options.f64 ? DType::F64 : DType::F32),
        randomness(context, options, [this](StringRef kind, mlir::Type type) {
          return addInput(kind, type);
        }) {}

  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  void fail(Error error, StringRef op = "", StringRef node = "");
  DType widen(DType dtype) const {
    return dtype == DType::F32 ? floatType : dtype;
  }
  mlir::RankedTensorType typeOf(const Binding &binding) const {
    return mlir::RankedTensorType::get(binding.shape,
                                       toType(&context, binding.dtype));
  }

  void markLive();
  void readInitializers();
  void noteFloat16();
  void noteWhatIsTrained();
  void bindInputs();
  void bindInitializers();
  void bindConstant(StringRef name, const TensorData &data);
  void bindParameters();
  Value addData(const std::string &name, mlir::RankedTensorType type,
                int64_t batchDim);
  Value addInput(StringRef kind, mlir::Type type);
  void importNode(const onnx::NodeProto &node, int index);
  /// False when an operand had a problem, which was reported before.
  bool readOperands(Call &call) const;
  /// Errors where something needs an output that the rule has not set.
  void requireOutputs(const onnx::NodeProto &node, StringRef name);
  std::string makePrefix(const onnx::NodeProto &node, int index);
  Error importBranch(const Call &call, int index);
  Error importLoop(const Call &call, int index);
  Expected<bool> goesOn(const Unroller &loop) const;
  Error importSequence(const Call &call, int index);
  Error evaluateNode(const Call &call);
  Error follow(const Call &call, Binding &result) const;
  Error selectByMask(NodeBuilder &node);
  Error buildNode(const Call &call, mlir::Location loc);
  /// The IR value of a binding, made at its first use.
  Value materialize(Binding &binding, NodeBuilder &builder);
  void finish();
  void noteDeclaredRanks();
  void eraseDeadOps();
  void keepBuffers();
  void eraseUnusedInputs();

  mlir::MLIRContext &context;
  const ImportOptions &options;
  ImportReport &report;
  mlir::OpBuilder builder;
  DType floatType;
  Randomness randomness;

  OperatorTable operators;
  Evaluator evaluator;
  Model model;
  std::optional<TensorReader> reader;
  StringMap<TensorData> initializers;
  StringMap<Shape> inputShapes;
  Parameters parameters;
  /// Values that an output depends on.
  StringSet<> live;
  StringMap<Binding> bindings;
  Sequences sequences;
  Masks masks;
  /// Of nodes of inner graphs.
  StringSet<> prefixes;
  /// Of all loops.
  int64_t rounds = 0;
  std::set<std::pair<std::string, std::string>> reported;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  /// One for each argument, in order.
  SmallVector<mlir::DictionaryAttr> argumentAttributes;
  SmallVector<mlir::Location> argumentLocations;
  /// Parameters in order of their arguments.
  std::vector<Parameter> usedParameters;
  std::vector<Value> parameterArguments;
};

void Importer::fail(Error error, StringRef op, StringRef node) {
  Problem problem = takeProblem(std::move(error));
  // Many initializers of one missing file are one problem.
  if (op.empty() && !reported.insert({problem.reason, problem.advice}).second)
    return;
  report.issues.push_back(
      {op.str(), node.str(), problem.reason, problem.advice});
}

void Importer::markLive() {
  for (const auto &output : model.graph().output())
    live.insert(output.name());
  for (const auto &node : reverse(model.graph().node()))
    if (any_of(node.output(), [&](const std::string &output) {
          return live.contains(output);
        }))
      forEachRead(node, [&](const std::string &name) { live.insert(name); });
}

void Importer::readInitializers() {
  reader.emplace(model.path);
  for (const auto &tensor : model.graph().initializer()) {
    bool isLive = live.contains(tensor.name());
    if (!isLive && !model.record.find(tensor.name()))
      continue;
    Expected<TensorData> data = reader->read(tensor);
    if (!isLive && !data) {
      report.warnings.push_back("'" + tensor.name() +
                                "', which the model does not use, is not "
                                "saved: " +
                                takeProblem(data.takeError()).reason);
    } else if (data) {
      data->transposed = model.restored.transposed.contains(tensor.name());
      initializers.try_emplace(tensor.name(), std::move(*data));
    } else {
      fail(data.takeError());
    }
  }
}

/// What is of 16 bits in the file alone.
void Importer::noteFloat16() {
  int64_t count = llvm::count_if(model.graph().initializer(),
                                 [](const onnx::TensorProto &tensor) {
                                   return isFloat16(tensor.data_type());
                                 });
  if (count > 0)
    report.notes.push_back(
        std::to_string(count) +
        " tensors of 16 bits are read as f32, and so is what is computed from "
        "them; --precision says how to train");
}

/// To fine-tune a part of a model, people freeze the rest.
void Importer::noteWhatIsTrained() {
  if (model.record.isKnown() && !model.record.hasTraining &&
      !options.isFreezeChosen)
    report.notes.push_back(
        "the file does not say which parameters are frozen "
        "(requires_grad=False), nor where no_grad, and not each detach(), "
        "stops gradients: all are trained; tools/export.py says all, --freeze "
        "GLOB freezes");
}

/// An argument that has the batch first, as data have, and what makes it the
/// model's input.
Value Importer::addData(const std::string &name, mlir::RankedTensorType type,
                        int64_t batchDim) {
  mlir::Location loc = mlir::NameLoc::get(builder.getStringAttr(name));
  mlir::Block &body = function.getBody().front();
  if (batchDim == 0 || batchDim >= type.getRank()) // the latter is an issue
    return body.addArgument(type, loc);
  Shape shape(type.getShape().begin(), type.getShape().end());
  auto batch = shape.begin() + batchDim;
  std::rotate(shape.begin(), batch, batch + 1);
  std::string samples = "[batch";
  for (int64_t size : drop_begin(shape))
    samples += ", " + std::to_string(size);
  report.notes.push_back("the batch is dimension " + std::to_string(batchDim) +
                         " of input '" + name + "': data have it first, as " +
                         samples + "]");
  Value data = body.addArgument(type.clone(shape), loc);
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    order.push_back(dim == batchDim ? 0 : dim < batchDim ? dim + 1 : dim);
  return TransposeOp::create(builder, loc, data, order);
}

void Importer::bindInputs() {
  for (const auto &input : model.graph().input()) {
    auto shape = inputShapes.find(input.name());
    if (shape == inputShapes.end() || parameters.uses.contains(input.name()))
      continue;
    int type = input.type().tensor_type().elem_type();
    std::optional<DType> dtype = toDType(type);
    if (!dtype) {
      fail(problem("input '" + input.name() + "' has element type " +
                       onnxTypeName(type),
                   supportedTypes));
      continue;
    }
    Binding binding;
    binding.dtype = widen(*dtype);
    binding.shape = shape->second;
    binding.value =
        addData(input.name(), typeOf(binding), findBatchDim(input, options));
    argumentAttributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        attr::input, builder.getStringAttr(input.name()))));
    bindings[input.name()] = binding;
  }
}

void Importer::bindInitializers() {
  for (const auto &[name, data] : initializers) {
    if (parameters.uses.contains(name))
      continue;
    bindConstant(name, data);
  }
  for (const auto &[copy, source] : parameters.constantCopies)
    bindConstant(copy, initializers.find(source)->second);
}

void Importer::bindConstant(StringRef name, const TensorData &data) {
  if (!data.hasData)
    return fail(problem("initializer '" + name + "' has no data",
                        "only trained parameters may be without; export with "
                        "export_params=True"));
  HostTensor tensor = toHostTensor(data);
  Binding binding;
  binding.dtype = widen(data.dtype);
  binding.shape = data.shape;
  binding.constant = std::make_shared<HostTensor>(
      binding.dtype == data.dtype ? std::move(tensor)
                                  : tensor.cast(binding.dtype));
  bindings[name] = std::move(binding);
}

void Importer::bindParameters() {
  parameterArguments.resize(parameters.table.parameters.size());
  for (const auto &[name, use] : parameters.uses) {
    const Parameter &parameter = parameters.table.parameters[use.index];
    Binding binding;
    binding.dtype =
        widen(parameter.dtype == ParameterType::F64 ? DType::F64 : DType::F32);
    binding.shape = use.shape;
    binding.parameter = use;
    bindings[name] = std::move(binding);
  }
}

/// An input that is no data, under a name that no other has.
Value Importer::addInput(StringRef kind, mlir::Type type) {
  std::string name = kind.str();
  while (inputShapes.contains(name))
    name += '_';
  mlir::Location loc = mlir::NameLoc::get(builder.getStringAttr(name));
  // Parameters come last.
  mlir::Block &body = function.getBody().front();
  unsigned position = body.getNumArguments() - usedParameters.size();
  argumentAttributes.insert(
      argumentAttributes.begin() + position,
      builder.getDictionaryAttr(
          {builder.getNamedAttr(attr::input, builder.getStringAttr(name)),
           builder.getNamedAttr(attr::kind, builder.getStringAttr(kind))}));
  return body.insertArgument(position, type, loc);
}

Value Importer::materialize(Binding &binding, NodeBuilder &node) {
  if (binding.value)
    return binding.value;
  if (binding.constant && binding.selection && binding.selection->isCount)
    return binding.value =
               masks.count(node, *binding.selection, *binding.constant);
  if (binding.constant)
    return binding.value = node.constant(*binding.constant);
  ParameterUse use = *binding.parameter;
  Value &argument = parameterArguments[use.index];
  if (!argument) {
    Parameter &parameter = parameters.table.parameters[use.index];
    auto type = mlir::RankedTensorType::get(parameter.shape,
                                            toType(&context, binding.dtype));
    auto name = builder.getStringAttr(parameter.name);
    argument =
        function.getBody().front().addArgument(type, mlir::NameLoc::get(name));
    SmallVector<mlir::NamedAttribute> attributes{
        builder.getNamedAttr(attr::parameter, name)};
    if (!parameter.isTrained)
      attributes.push_back(
          builder.getNamedAttr(attr::frozen, builder.getUnitAttr()));
    argumentAttributes.push_back(builder.getDictionaryAttr(attributes));
    usedParameters.push_back(parameter);
  }
  binding.value = use.transposed ? node.swapDims(argument, 0, 1)
                                 : node.reshape(argument, use.shape);
  return binding.value;
}

Error Importer::evaluateNode(const Call &call) {
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

/// Sets what a result of a node selects.
Error Importer::follow(const Call &call, Binding &result) const {
  if (!hasSelection(call))
    return Error::success();
  const Operator *op = operators.find(call.node.op_type());
  auto selection = followSelection(call, op && op->isElementwise, result.shape);
  if (!selection)
    return selection.takeError();
  result.selection = *selection;
  return Error::success();
}

/// The places of a mask that is computed.
Error Importer::selectByMask(NodeBuilder &node) {
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

Error Importer::buildNode(const Call &call, mlir::Location loc) {
  const Operator *op = operators.find(call.node.op_type());
  bool isMask = call.node.op_type() == "NonZero";
  if (!op->rule && !isMask)
    return problem("operator is supported only on values known at import",
                   "make its operands constant, or replace it");
  SmallVector<Value> operands;
  NodeBuilder makeOperands(call, builder, loc, {});
  for (const std::string &input : call.node.input())
    operands.push_back(
        input.empty() ? Value() : materialize(bindings[input], makeOperands));
  mlir::Block &body = function.getBody().front();
  mlir::Operation *last = body.empty() ? nullptr : &body.back();
  Call shown = call;
  for (unsigned i = 0; i < shown.operands.size(); ++i)
    if (readsNumber(call, op->isElementwise, i))
      shown.operands[i].constant = nullptr;
  NodeBuilder node(shown, builder, loc, operands, &randomness);
  if (isMask)
    return selectByMask(node);
  if (Error error = hasSelection(call) ? masks.build(op->rule, node, operands)
                                       : op->rule(node))
    return error;
  auto built = last ? std::next(last->getIterator()) : body.begin();
  for (mlir::Operation &made : make_range(built, body.end()))
    for (mlir::Type type : made.getResultTypes())
      if (Error error =
              requirePossible(cast<mlir::RankedTensorType>(type).getShape()))
        return error;
  for (auto [name, value] : zip(call.node.output(), node.getResults())) {
    if (name.empty() || !value)
      continue;
    auto type = cast<mlir::RankedTensorType>(value.getType());
    Binding binding;
    binding.dtype = fromType(type.getElementType());
    binding.shape = Shape(type.getShape());
    binding.value = value;
    if (Error error = follow(call, binding))
      return error;
    // Shapes need the places that there are, sums the number of selected ones.
    if (binding.selection && binding.selection->isCount) {
      Expected<Values> places = evaluator.evaluate(call);
      if (!places)
        return places.takeError();
      binding.constant =
          std::make_shared<HostTensor>(std::move(places->front()));
    }
    bindings[name] = std::move(binding);
  }
  return Error::success();
}

bool Importer::readOperands(Call &call) const {
  for (const std::string &input : call.node.input()) {
    Operand operand;
    if (!input.empty() && !sequences.contains(input)) {
      auto it = bindings.find(input);
      if (it == bindings.end())
        return false;
      const Binding &binding = it->second;
      operand = {true,
                 binding.dtype,
                 binding.shape,
                 binding.constant.get(),
                 binding.parameter.has_value(),
                 binding.selection};
    }
    call.operands.push_back(std::move(operand));
  }
  return true;
}

/// What names of an inner graph's nodes begin with. Nodes of several rounds,
/// and nodes without a name, may be called the same.
std::string Importer::makePrefix(const onnx::NodeProto &node, int index) {
  std::string name = nodeName(node, index), prefix = name;
  for (int64_t number = 1; !prefixes.insert(prefix).second; ++number)
    prefix = name + "." + std::to_string(number);
  return prefix;
}

/// The nodes of the branch that is taken.
Error Importer::importBranch(const Call &call, int index) {
  auto condition = call.constant(0, "cond");
  if (!condition) {
    // Of a node of the graph itself, which this one may be within.
    if (!readInt(model.graph().node(index), annotation::embeddingBag, 0))
      return condition.takeError();
    consumeError(condition.takeError());
    return problem("is of an EmbeddingBag with padding_idx, which leaves out "
                   "rows by its input",
                   "look up with nn.Embedding, and sum the rows times a mask "
                   "that is 0 for padding");
  }
  if (Error error = call.requireScalars({0}))
    return error;
  const auto *branch =
      call.attribute((*condition)->getInt(0) ? "then_branch" : "else_branch");
  if (!branch || branch->g().output_size() != call.node.output_size())
    return problem("has no branch with " + Twine(call.node.output_size()) +
                       " outputs for its condition",
                   "the model is not valid ONNX; export it again");
  for (const onnx::NodeProto &node :
       inlineBranch(call.node, branch->g(), makePrefix(call.node, index)))
    importNode(node, index);
  return Error::success();
}

/// Whether a loop has another round.
Expected<bool> Importer::goesOn(const Unroller &loop) const {
  if (loop.getCondition().empty())
    return true;
  auto condition = bindings.find(loop.getCondition());
  if (condition == bindings.end() || !condition->second.constant ||
      condition->second.selection)
    return problem("how long it goes on is computed at run time",
                   "give it a number of rounds that is known at export");
  if (condition->second.constant->size() != 1)
    return problem("has a condition of shape " +
                       toString(condition->second.shape) +
                       ", expected one element",
                   "the model is not valid ONNX; export it again");
  return condition->second.constant->getInt(0) != 0;
}

/// The nodes of all rounds.
Error Importer::importLoop(const Call &call, int index) {
  constexpr int64_t most = 4096, mostOfAll = 16384;
  Expected<Unroller> loop = Unroller::read(call, makePrefix(call.node, index));
  if (!loop)
    return loop.takeError();
  auto importAll = [&](ArrayRef<onnx::NodeProto> nodes) {
    for (const onnx::NodeProto &node : nodes)
      importNode(node, index);
  };
  size_t numIssues = report.issues.size();
  for (int64_t round = 0; round < loop->getMaxRounds(); ++round) {
    Expected<bool> follows = goesOn(*loop);
    if (!follows)
      return follows.takeError();
    if (!*follows)
      break;
    if (round == most || ++rounds > mostOfAll)
      return problem("has more than " + Twine(most) + " rounds, or more than " +
                         Twine(mostOfAll) + " with those of other loops",
                     "compute them at once in the model");
    importAll(loop->makeRound());
    if (report.issues.size() != numIssues)
      return Error::success();
  }
  auto results = loop->makeResults();
  if (!results)
    return results.takeError();
  importAll(*results);
  return Error::success();
}

Error Importer::importSequence(const Call &call, int index) {
  Expected<std::vector<onnx::NodeProto>> nodes = sequences.expand(call);
  if (!nodes)
    return nodes.takeError();
  for (const onnx::NodeProto &node : *nodes)
    importNode(node, index);
  return Error::success();
}

void Importer::importNode(const onnx::NodeProto &node, int index) {
  std::string name = nodeName(node, index);
  if (Error error = operators.check(node, model.opset))
    return fail(std::move(error), node.op_type(), name);

  // The copy of a merged initializer is a parameter already.
  if (all_of(node.output(), [&](const std::string &output) {
        return bindings.contains(output);
      }))
    return;

  Call call(node, model.opset, floatType);
  if (!readOperands(call))
    return;
  bool isBranch = node.op_type() == "If";
  bool isLoop = Unroller::isLoop(node.op_type());
  if (isBranch || isLoop || sequences.handles(node)) {
    size_t numIssues = report.issues.size();
    if (hasSelection(call))
      return fail(problem("reads what a mask selects, or its number",
                          "select outside of it, and use torch.where"),
                  node.op_type(), name);
    if (Error error = isBranch ? importBranch(call, index)
                      : isLoop ? importLoop(call, index)
                               : importSequence(call, index))
      fail(std::move(error), node.op_type(), name);
    if (report.issues.size() == numIssues)
      requireOutputs(node, name);
    return;
  }
  if (any_of(node.input(), [&](const std::string &input) {
        return sequences.contains(input);
      }))
    return fail(problem("reads a sequence, which sequence operators alone can",
                        "export with dynamo, which writes none"),
                node.op_type(), name);
  mlir::Location loc = mlir::NameLoc::get(builder.getStringAttr(name));
  const Operator *op = operators.find(node.op_type());
  bool isElementwise = op && op->isElementwise;
  bool isKnown = evaluator.canEvaluate(call) &&
                 !needsMask(call, isElementwise) &&
                 !isLargeMask(call, isElementwise);
  if (Error error = isKnown ? evaluateNode(call) : buildNode(call, loc))
    return fail(std::move(error), node.op_type(), name);
  requireOutputs(node, name);
}

void Importer::requireOutputs(const onnx::NodeProto &node, StringRef name) {
  for (auto [i, output] : enumerate(node.output()))
    if (live.contains(output) && !bindings.contains(output) &&
        !sequences.contains(output))
      fail(problem("output " + Twine(i) + " is not supported",
                   "use the first output only"),
           node.op_type(), name);
}

void Importer::eraseDeadOps() {
  for (mlir::Operation &op :
       make_early_inc_range(reverse(function.getBody().front())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

void Importer::eraseUnusedInputs() {
  mlir::Block &body = function.getBody().front();
  for (unsigned i = body.getNumArguments(); i-- > 0;) {
    if (!body.getArgument(i).use_empty())
      continue;
    auto name = argumentAttributes[i].getAs<mlir::StringAttr>(attr::input);
    if (argumentAttributes[i].contains(attr::kind)) {
      // Seed or step of random numbers that nothing reads.
    } else if (name)
      report.notes.push_back("input '" + name.str() +
                             "' has no influence on any output: left out");
    else
      usedParameters.erase(usedParameters.begin() + (i + usedParameters.size() -
                                                     body.getNumArguments()));
    argumentAttributes.erase(argumentAttributes.begin() + i);
    body.eraseArgument(i);
  }
}

/// What the state dict has beside of parameters that the model uses.
void Importer::keepBuffers() {
  auto isSaved = [&](StringRef name) {
    if (const Origin *origin = model.record.find(name))
      return origin->isSaved;
    // Without a record, what PyTorch's exporter did not name itself.
    return !model.record.isKnown() && !isGeneratedName(name) &&
           model.hasPyTorchNames &&
           any_of(report.constants,
                  [&](const ImportReport::Constant &constant) {
                    return constant.name == name;
                  });
  };
  for (const auto &[name, data] : initializers) {
    if (parameters.uses.contains(name) || !data.hasData || !isSaved(name))
      continue;
    ArrayRef<char> bytes = data.bytes;
    if (data.transposed) {
      auto own = std::make_shared<std::vector<char>>(toOwnOrder(data));
      bytes = *own;
      report.parameters.owners.push_back(std::move(own));
    }
    std::vector<std::string> names = model.restored.aliases.lookup(name);
    names.push_back(name.str());
    for (const std::string &own : names)
      report.parameters.buffers.push_back(
          {own, getSafetensorsName(data.dtype), data.shape, bytes});
  }
  llvm::sort(report.parameters.buffers,
             [](const Buffer &a, const Buffer &b) { return a.name < b.name; });
}

/// An exporter that took a value for one of another rank may have dropped or
/// changed what follows: the file is another model then.
void Importer::noteDeclaredRanks() {
  std::vector<std::string> others;
  for (const auto *values :
       {&model.graph().value_info(), &model.graph().output()})
    for (const onnx::ValueInfoProto &value : *values) {
      const auto &type = value.type().tensor_type();
      auto binding = bindings.find(value.name());
      if (type.has_shape() && binding != bindings.end() &&
          size_t(type.shape().dim_size()) != binding->second.shape.size())
        others.push_back(value.name());
    }
  if (!others.empty())
    report.warnings.push_back(
        "the file declares another rank than its operators give: " +
        listFirstNames(others) +
        "; an exporter that takes a value for another may drop what follows, "
        "so compare the loss with the framework's");
}

void Importer::finish() {
  mlir::Location loc = function.getLoc();
  SmallVector<Value> results;
  SmallVector<mlir::DictionaryAttr> resultAttributes;
  onnx::NodeProto noNode;
  Call noCall(noNode, model.opset, floatType);
  NodeBuilder node(noCall, builder, loc, {});
  for (const auto &output : model.graph().output()) {
    results.push_back(materialize(bindings[output.name()], node));
    resultAttributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        attr::output, builder.getStringAttr(output.name()))));
  }
  mlir::func::ReturnOp::create(builder, loc, results);
  eraseDeadOps();
  eraseMarks(function);
  eraseUnusedInputs();
  function.setType(
      builder.getFunctionType(function.getBody().front().getArgumentTypes(),
                              mlir::ValueRange(results).getTypes()));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);

  report.parameters.parameters = std::move(usedParameters);
  noteDeclaredRanks();
  report.parameters.owners = reader->owners();
  report.parameters.owners.push_back(model.proto);
  keepBuffers();
}

mlir::OwningOpRef<mlir::ModuleOp> Importer::run() {
  report.path = options.path;
  Expected<ModelFile> file = readModelFile(options.path);
  if (!file) {
    fail(file.takeError());
    return nullptr;
  }
  Expected<Model> restored = restoreModel(std::move(*file), options.output);
  if (!restored) {
    fail(restored.takeError());
    return nullptr;
  }
  model = std::move(*restored);
  context.loadDialect<DTCDialect, mlir::func::FuncDialect>();

  mlir::Location loc = mlir::NameLoc::get(
      builder.getStringAttr(sys::path::filename(options.path)));
  module = mlir::ModuleOp::create(loc, sys::path::stem(options.path));
  builder.setInsertionPointToEnd(module->getBody());
  function = mlir::func::FuncOp::create(builder, loc, forwardName,
                                        builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());

  markLive();
  readInitializers();
  inputShapes = resolveInputShapes(model.graph(), options, report.issues);
  checkParameterInputs(model, options, report.issues);
  report.notes = model.restored.notes;
  report.details = model.restored.details;
  noteFloat16();
  noteWhatIsTrained();
  append_range(report.warnings, model.restored.warnings);
  append_range(report.warnings, findLostTraining(model, options));
  parameters = findParameters(model, operators, inputShapes, initializers,
                              options, report);
  randomness.readModes(model.graph(), *reader);
  bindInputs();
  bindInitializers();
  bindParameters();
  for (auto [index, node] : enumerate(model.graph().node()))
    if (any_of(node.output(), [&](const std::string &output) {
          return live.contains(output);
        }))
      importNode(node, index);
  for (const auto &output : model.graph().output())
    if (sequences.contains(output.name()))
      fail(problem("output '" + output.name() + "' is a sequence of tensors",
                   "export a model that returns the tensors themselves"));
    else if (auto it = bindings.find(output.name());
             it != bindings.end() && it->second.selection &&
             !it->second.selection->isCount)
      fail(problem("output '" + output.name() +
                       "' has as many elements as a "
                       "mask selects",
                   "export a model whose outputs have fixed shapes"));
  randomness.report(report);
  if (!report.issues.empty())
    return nullptr;
  finish();
  if (failed(mlir::verify(*module)))
    return nullptr;
  return std::move(module);
}
} // namespace

} // namespace dtc::frontend

mlir::OwningOpRef<mlir::ModuleOp> dtc::importOnnx(mlir::MLIRContext &context,
                                                  const ImportOptions &options,
                                                  ImportReport &report) {
  return frontend::Importer(context, options, report).run();
}
