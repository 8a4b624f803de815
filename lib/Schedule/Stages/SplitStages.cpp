//===- SplitStages.cpp - split the step into stages -----------------------===//
//
// Writes the functions that `Slices` found. Values of other functions become
// arguments, values that other functions need become results, values that are
// partial on mb are accumulated, and types lose the mb axis.
//
//===----------------------------------------------------------------------===//

#include "ExtractPrograms.h"
#include "Slices.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace dtc {
#define GEN_PASS_DEF_SPLITSTAGES
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// The type in a function: that of one micro-batch, or of the whole sum.
RankedTensorType dropTime(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  LayoutAttr layout = getLayout(type);
  SmallVector<int64_t> shape(tensor.getShape());
  std::optional<AxisLayout> entry = layout.getEntry(MeshAttr::timeAxis);
  if (entry && entry->isSplit() && entry->hasDim())
    shape[entry->dim] /= layout.getMesh().getSize(MeshAttr::timeAxis);
  return RankedTensorType::get(shape, tensor.getElementType(),
                               layout.without(MeshAttr::timeAxis));
}

/// Whether to send only the needed part of a bucket instead of the whole
/// bucket. Padding may be sent, too, because that is cheaper than a copy.
bool isSmallPart(Operation *view) {
  auto slice = dyn_cast<SliceOp>(view);
  return slice && 2 * slice.getType().getNumElements() <
                      slice.getX().getType().getNumElements();
}

/// Moves views behind boundaries, because a boundary sends memory.
void sinkViews(Block &body) {
  for (auto boundary : llvm::make_early_inc_range(body.getOps<BoundaryOp>())) {
    SmallVector<Operation *> views;
    Value base = boundary.getX();
    while (Operation *op = base.getDefiningOp()) {
      if (isa<BoundaryOp>(op) || !isView(op) || isSmallPart(op))
        break;
      views.push_back(op);
      base = op->getOperand(getAlias(op->getResult(0))->operand);
    }
    if (views.empty())
      continue;
    OpBuilder builder(boundary);
    auto moved = BoundaryOp::create(builder, boundary.getLoc(), base.getType(),
                                    base, boundary.getFrom(), boundary.getTo());
    IRMapping mapping;
    mapping.map(base, moved.getY());
    for (Operation *view : llvm::reverse(views))
      builder.clone(*view, mapping);
    boundary.getY().replaceAllUsesWith(mapping.lookup(boundary.getX()));
    boundary.erase();
  }
  // Erase views that only boundaries read.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!isa<BoundaryOp>(op) && isView(&op) && op.use_empty())
      op.erase();
}

/// Numbers of the step's values. A sum over micro-batches has the number of the
/// accumulated value. A value that a stage passes to itself keeps its number.
class Numbering {
public:
  Numbering(Block &body, const Slices &slices) {
    auto isSame = [&](Operation &op) {
      auto boundary = dyn_cast<BoundaryOp>(op);
      return isa<SumMicrobatchesOp>(op) ||
             (boundary && slices.isLocal(boundary));
    };
    for (Value argument : body.getArguments())
      numbers[argument] = count++;
    for (Operation &op : body)
      for (Value result : op.getResults()) {
        numbers[result] =
            isSame(op) ? numbers.lookup(op.getOperand(0)) : count++;
        if (slices.makesPart(op, result))
          parts[result] = count++;
      }
  }
  int64_t operator[](Value value) const { return numbers.lookup(value); }
  /// The number of a micro-batch's part of a value.
  int64_t getPart(Value value) const { return parts.lookup(value); }

private:
  llvm::DenseMap<Value, int64_t> numbers, parts;
  int64_t count = 0;
};

/// Builds the function of one phase on one stage.
class PhaseBuilder {
public:
  PhaseBuilder(const Slices &slices, const Numbering &numbers, int64_t stage,
               Phase phase)
      : slices(slices), numbers(numbers), stage(stage), phase(phase) {}

  func::FuncOp build(ArrayRef<Operation *> ops, OpBuilder &builder,
                     Location location);

private:
  void addArguments(ArrayRef<Operation *> ops);
  void emitAll(ArrayRef<Operation *> ops, OpBuilder &builder);
  void emit(Operation &op, OpBuilder &builder);
  void emitSum(SumOverStagesOp op, OpBuilder &builder);
  SmallVector<Value> getLocalParts(SumOverStagesOp op) const;
  /// Whether this phase adds up a value over micro-batches.
  bool isPartOfSum(Value value) const {
    return slices.isSummed(stage, phase, value);
  }
  /// Whether a value is accumulated here over micro-batches. With one
  /// micro-batch, its value is the sum.
  bool isAccumulatedHere(Value value) const {
    return isPartOfSum(value) &&
           getLayout(value.getType()).getMesh().getSize(MeshAttr::timeAxis) > 1;
  }

  /// The number of an op's operand: of the sum over micro-batches, or of one
  /// micro-batch's part.
  int64_t getNumber(Operation &op, Value operand) const {
    return slices.readsPart(op, operand) ? numbers.getPart(operand)
                                         : numbers[operand];
  }
  /// The number of an op's result.
  int64_t getNumberOfResult(Operation &op, Value result) const {
    return slices.makesPart(op, result) ? numbers.getPart(result)
                                        : numbers[result];
  }

  const Slices &slices;
  const Numbering &numbers;
  int64_t stage;
  Phase phase;
  std::map<int64_t, Type> arguments; ///< by number
  std::map<int64_t, Value> values, results;
  std::map<int64_t, Value> accumulators;
  std::set<int64_t> gathered; ///< gathered arguments
};

SmallVector<Value> PhaseBuilder::getLocalParts(SumOverStagesOp op) const {
  return llvm::to_vector(
      llvm::make_filter_range(op.getParts(), [&](Value part) {
        return slices.getStage(part).value_or(0) == stage;
      }));
}

void PhaseBuilder::addArguments(ArrayRef<Operation *> ops) {
  llvm::DenseSet<int64_t> defined;
  for (Operation *op : ops) {
    SmallVector<Value> operands(op->getOperands());
    if (auto sum = dyn_cast<SumOverStagesOp>(op))
      operands = getLocalParts(sum);
    for (Value operand : operands)
      if (int64_t number = getNumber(*op, operand); !defined.contains(number))
        arguments[number] = dropTime(operand.getType());
    if (isParameterGather(op))
      gathered.insert(numbers[op->getOperand(0)]);
    for (Value result : op->getResults()) {
      if (isAccumulatedHere(result))
        arguments[numbers[result]] = dropTime(result.getType());
      defined.insert(getNumberOfResult(*op, result));
    }
  }
}

/// Emits ops in order, but delays gathered parameters, and ops on them alone,
/// until their first use to save memory.
void PhaseBuilder::emitAll(ArrayRef<Operation *> ops, OpBuilder &builder) {
  // By the numbers of results: a value that crosses chunks has one number.
  std::map<int64_t, Operation *> waiting;
  auto isWaiting = [&](Operation *op) {
    return op->getNumOperands() > 0 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return waiting.count(getNumber(*op, operand)) != 0;
           });
  };
  std::function<void(Operation *)> emitNow = [&](Operation *op) {
    for (Value result : op->getResults())
      waiting.erase(getNumberOfResult(*op, result));
    for (Value operand : op->getOperands())
      if (auto made = waiting.find(getNumber(*op, operand));
          made != waiting.end())
        emitNow(made->second);
    emit(*op, builder);
  };
  for (Operation *op : ops)
    if (isParameterGather(op) || isWaiting(op))
      for (Value result : op->getResults())
        waiting[getNumberOfResult(*op, result)] = op;
    else
      emitNow(op);
  while (!waiting.empty()) // only returned
    emitNow(waiting.begin()->second);
}

void PhaseBuilder::emit(Operation &op, OpBuilder &builder) {
  if (auto sum = dyn_cast<SumOverStagesOp>(op))
    return emitSum(sum, builder);
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, values.at(getNumber(op, operand)));
  SmallVector<Value> made;
  // With one micro-batch, its value is the sum over all of them.
  if (isa<AsPartialOp>(op) && getTime(op.getResult(0)) == Time::Accumulated &&
      getTime(op.getOperand(0)) == Time::Microbatch) {
    made.push_back(mapping.lookup(op.getOperand(0)));
  } else {
    Operation *copy = builder.clone(op, mapping);
    for (auto [old, result] : llvm::zip(op.getResults(), copy->getResults()))
      result.setType(dropTime(old.getType()));
    llvm::append_range(made, copy->getResults());
  }
  for (auto [old, result] : llvm::zip(op.getResults(), made)) {
    int64_t number = numbers[old];
    if (!slices.makesPart(op, old)) {
      values[number] = result;
      if (slices.isExported(stage, phase, old))
        results[number] = result;
      continue;
    }
    int64_t part = numbers.getPart(old);
    values[part] = result;
    if (slices.isPartExported(stage, phase, old))
      results[part] = result;
    if (isAccumulatedHere(old))
      results[number] = AccumulateOp::create(builder, op.getLoc(), result,
                                             accumulators.at(number));
    else if (isPartOfSum(old))
      results[number] = result;
  }
}

void PhaseBuilder::emitSum(SumOverStagesOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  RankedTensorType type = dropTime(op.getType());
  LayoutAttr layout = getLayout(type);
  MeshAttr mesh = layout.getMesh();
  Value sum;
  for (Value part : getLocalParts(op)) {
    Value value = values.at(numbers[part]);
    sum = sum ? AddOp::create(builder, location, type, sum, value) : value;
  }
  if (slices.getNumStages() > 1) {
    SmallVector<AxisLayout> entries(layout.getEntries());
    entries.push_back(
        AxisLayout::partial(builder.getStringAttr(stageAxis), Reduction::sum));
    RankedTensorType partial =
        withLayout(type, LayoutAttr::getCanonical(mesh, entries));
    if (sum)
      sum = AsPartialOp::create(builder, location, partial, sum,
                                builder.getStrArrayAttr({stageAxis}));
    else
      sum = ZeroOp::create(builder, location, partial);
    auto reduce =
        AllReduceOp::create(builder, location, type, Reduction::sum, sum,
                            builder.getStrArrayAttr({stageAxis}));
    // Stages run different programs: the number matches their collectives.
    reduce->setAttr(attr::value,
                    builder.getI64IntegerAttr(numbers[op.getResult()]));
    sum = reduce.getResult(0);
  }
  values[numbers[op.getResult()]] = sum;
  if (slices.isExported(stage, phase, op.getResult()))
    results[numbers[op.getResult()]] = sum;
}

func::FuncOp PhaseBuilder::build(ArrayRef<Operation *> ops, OpBuilder &builder,
                                 Location location) {
  addArguments(ops);
  SmallVector<Type> types;
  for (auto &[number, type] : arguments)
    types.push_back(type);
  auto function = func::FuncOp::create(builder, location, phase.getName(),
                                       builder.getFunctionType(types, {}));
  setPhase(function, phase);
  function.setPrivate();
  Block *body = function.addEntryBlock();
  SmallVector<int64_t> numbersOfArguments;
  for (auto [argument, entry] : llvm::zip(body->getArguments(), arguments)) {
    values[entry.first] = accumulators[entry.first] = argument;
    numbersOfArguments.push_back(entry.first);
  }
  OpBuilder inner = OpBuilder::atBlockEnd(body);
  emitAll(ops, inner);

  SmallVector<Value> returned;
  SmallVector<int64_t> numbersOfResults;
  for (auto &[number, value] : results) {
    returned.push_back(value);
    numbersOfResults.push_back(number);
  }
  // Return every overwritten argument, needed or not, so that the caller sees
  // the new value.
  auto ret = func::ReturnOp::create(inner, location, returned);
  AliasClasses classes(*body);
  llvm::DenseSet<Value> overwritten;
  for (Value value : returned)
    overwritten.insert(getOverwritten(value, classes));
  for (BlockArgument argument : body->getArguments()) {
    Value last = classes.getLast(argument);
    if (last == argument || overwritten.contains(argument))
      continue;
    ret->insertOperands(ret->getNumOperands(), last);
    numbersOfResults.push_back(-1);
  }
  function.setType(builder.getFunctionType(types, ret->getOperandTypes()));
  SignatureEditor signature(function);
  for (auto [i, number] : llvm::enumerate(numbersOfArguments)) {
    signature.setArg(i, attr::value, builder.getI64IntegerAttr(number));
    if (gathered.count(number))
      signature.setArg(i, attr::gatheredAtUse, builder.getUnitAttr());
  }
  for (auto [i, number] : llvm::enumerate(numbersOfResults))
    if (number >= 0)
      signature.setResult(i, attr::value, builder.getI64IntegerAttr(number));
  signature.write();
  annotateUpdates(function);
  return function;
}

struct SplitStagesPass : dtc::impl::SplitStagesBase<SplitStagesPass> {
  using SplitStagesBase::SplitStagesBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    FailureOr<SmallVector<func::FuncOp>> programs = extractPrograms(*step);
    if (failed(programs))
      return signalPassFailure();
    FailureOr<Slices> ofStep = slice(*step);
    if (failed(ofStep))
      return signalPassFailure();
    std::vector<Slices> slices;
    std::vector<PlanArguments> arguments;
    for (func::FuncOp program : *programs) {
      FailureOr<Slices> own = slice(program, ofStep->getNumVirtualStages());
      if (failed(own))
        return signalPassFailure();
      slices.push_back(std::move(*own));
      arguments.emplace_back(program);
    }
    // Other programs share the memory of the step's arguments. So a stage's
    // step also has the arguments that only these programs use.
    split(*step, *ofStep, [&](int64_t stage, BlockArgument argument) {
      return llvm::any_of(llvm::zip(arguments, slices), [&](auto program) {
        BlockArgument same = std::get<0>(program).find(argument);
        return same && std::get<1>(program).isUsed(stage, same);
      });
    });
    for (auto [program, own] : llvm::zip(*programs, slices))
      split(program, own, /*isShared=*/{});
  }

  /// Computes the ops of each stage in the training step, or in another
  /// program.
  FailureOr<Slices> slice(func::FuncOp step, int64_t leastStages = 1) {
    MeshAttr mesh = getMesh(step);
    if (!mesh)
      return step.emitError("has types without layouts; assign a mesh first");
    sinkViews(step.front());
    FailureOr<StageAnalysis> stages = StageAnalysis::compute(step, leastStages);
    if (failed(stages))
      return failure();
    int64_t numStages = mesh.getSize(stageAxis);
    if (stages->getNumStages() % numStages)
      return step.emitError("has ")
             << stages->getNumStages() << " stages, expected a multiple of "
             << numStages << ", the size of mesh axis " << stageAxis;
    return Slices::compute(step, std::move(*stages), numStages, joinWeights);
  }

  /// Whether a stage needs an argument that its own ops do not use; may be
  /// null.
  using IsShared = llvm::function_ref<bool(int64_t, BlockArgument)>;

  void split(func::FuncOp step, const Slices &slices, IsShared isShared) {
    Numbering numbers(step.front(), slices);
    OpBuilder builder(step);
    int64_t numChunks = slices.getNumVirtualStages() / slices.getNumStages();
    for (int64_t stage : llvm::seq<int64_t>(0, slices.getNumStages())) {
      func::FuncOp plan =
          buildStage(step, slices, numbers, stage, isShared, builder);
      if (numChunks > 1)
        plan->setAttr(attr::virtualStages,
                      builder.getI64IntegerAttr(numChunks));
    }
    step.erase();
  }

  /// Makes the module of a stage and returns its plan.
  func::FuncOp buildStage(func::FuncOp step, const Slices &slices,
                          const Numbering &numbers, int64_t stage,
                          IsShared isShared, OpBuilder &builder) {
    bool isStep = step.getName() == stepName;
    StringRef program = isStep ? StringRef() : step.getName();
    auto module =
        ModuleOp::create(builder, step.getLoc(), getStageName(stage, program));
    module->setAttr(attr::stage, builder.getI64IntegerAttr(stage));
    if (!isStep)
      module->setAttr(attr::program, builder.getStringAttr(program));
    if (Attribute turn = step->getAttr(attr::turn))
      module->setAttr(attr::turn, turn);
    OpBuilder inner = OpBuilder::atBlockEnd(module.getBody());
    for (auto &[phase, ops] : slices.getPhases(stage))
      PhaseBuilder(slices, numbers, stage, phase)
          .build(ops.getArrayRef(), inner, step.getLoc());
    return declarePlan(step, slices, numbers, stage, isShared, inner);
  }

  func::FuncOp declarePlan(func::FuncOp step, const Slices &slices,
                           const Numbering &numbers, int64_t stage,
                           IsShared isShared, OpBuilder &builder) {
    auto withNumber = [&](DictionaryAttr attributes, Value value) {
      NamedAttrList list(attributes);
      list.set(attr::value, builder.getI64IntegerAttr(numbers[value]));
      return list.getDictionary(builder.getContext());
    };
    SmallVector<Type> inputs, results;
    SmallVector<DictionaryAttr> inputAttrs, resultAttrs;
    SmallVector<Attribute> records;
    for (BlockArgument argument : step.getArguments())
      if (slices.isUsed(stage, argument) ||
          (isShared && isShared(stage, argument))) {
        inputs.push_back(argument.getType());
        inputAttrs.push_back(
            withNumber(step.getArgAttrDict(argument.getArgNumber()), argument));
      }
    for (OpOperand &returned : step.front().getTerminator()->getOpOperands()) {
      std::optional<int64_t> home = slices.getStage(returned.get());
      if (isRecorded(step, returned.getOperandNumber())) {
        if (home.value_or(0) == stage)
          records.push_back(describeRecord(step, slices, numbers, returned));
        continue;
      }
      if (home && *home != stage)
        continue;
      results.push_back(dropTime(returned.get().getType()));
      resultAttrs.push_back(withNumber(
          step.getResultAttrDict(returned.getOperandNumber()), returned.get()));
    }
    auto plan = func::FuncOp::create(builder, step.getLoc(), planName,
                                     builder.getFunctionType(inputs, results));
    plan.setPrivate();
    plan.setAllArgAttrs(inputAttrs);
    plan.setAllResultAttrs(resultAttrs);

    SmallVector<Attribute> sends, recvs;
    for (const Message &message : slices.getMessages()) {
      BoundaryOp boundary = message.boundary;
      auto describe = [&](Value value, int64_t peer, Phase phase) {
        return builder.getDictionaryAttr(
            {{builder.getStringAttr("value"),
              builder.getI64IntegerAttr(numbers[value])},
             {builder.getStringAttr("stage"), builder.getI64IntegerAttr(peer)},
             {builder.getStringAttr("channel"),
              builder.getI64IntegerAttr(message.channel)},
             {builder.getStringAttr("phase"),
              PhaseAttr::get(builder.getContext(), phase)},
             {builder.getStringAttr("source"), boundary.getLoc()},
             {builder.getStringAttr("type"),
              TypeAttr::get(dropTime(value.getType()))}});
      };
      int64_t from = boundary.getFrom() % slices.getNumStages();
      int64_t to = boundary.getTo() % slices.getNumStages();
      if (from == stage)
        sends.push_back(describe(boundary.getX(), to, message.sent));
      if (to == stage)
        recvs.push_back(describe(boundary.getY(), from, message.received));
    }
    if (!sends.empty())
      plan->setAttr(attr::sends, builder.getArrayAttr(sends));
    if (!recvs.empty())
      plan->setAttr(attr::recvs, builder.getArrayAttr(recvs));
    if (!records.empty())
      plan->setAttr(attr::records, builder.getArrayAttr(records));
    return plan;
  }

  /// Builds an entry of `dtc.records`: the value's number, the phase that makes
  /// it in each micro-batch, the type over all micro-batches, and the result's
  /// attributes.
  Attribute describeRecord(func::FuncOp step, const Slices &slices,
                           const Numbering &numbers, OpOperand &returned) {
    Value value = returned.get();
    Builder b(&getContext());
    NamedAttrList entry(step.getResultAttrDict(returned.getOperandNumber()));
    entry.set("value", b.getI64IntegerAttr(numbers[value]));
    entry.set("phase",
              PhaseAttr::get(b.getContext(), slices.getRecordedPhase(value)));
    entry.set("type", TypeAttr::get(value.getType()));
    return entry.getDictionary(b.getContext());
  }
};

} // namespace
