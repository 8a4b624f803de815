//===- SynchronizeWorkers.cpp - mix the parameters of workers -------------===//
//
// Each worker trains parameters of its own. Gossip mixes them with those of
// neighbours in each step. Programs between steps average them: after some
// steps, and on request for evaluations and saved weights.
//
//===----------------------------------------------------------------------===//

#include "../Exchange/ExchangeBuilder.h"
#include "../ParameterBuckets.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/Synchronization.h"

namespace dtc {
#define GEN_PASS_DEF_SYNCHRONIZEWORKERS
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// A tensor that each worker has and that synchronisations change.
struct WorkersTensor {
  BlockArgument value;
  StringRef kind; ///< attr::parameter or attr::state
  StringRef name;
  bool isTrained;

  Attribute getMembers() const {
    auto step = cast<func::FuncOp>(value.getOwner()->getParentOp());
    return step.getArgAttr(value.getArgNumber(), attr::members);
  }
  RankedTensorType getType() const {
    return cast<RankedTensorType>(value.getType());
  }
};

/// The name of a program, and the [period, turn] of a program that steps cause.
struct Program {
  std::string name;
  DenseI64ArrayAttr turn;
};

struct SynchronizeWorkersPass
    : dtc::impl::SynchronizeWorkersBase<SynchronizeWorkersPass> {
  using SynchronizeWorkersBase::SynchronizeWorkersBase;

  void runOnOperation() override;

private:
  Value createTerms(Value x);
  Value createOwn(Value rows);
  Value createForAll(Value x);
  Value createSum(Value x);
  Value createMean(Value x);
  Value createMixed(const MixingRound &round, Value x);
  Value addState(const WorkersTensor &tensor, StringRef name);
  void add(const Program &program, Value value, StringRef kind, StringRef name,
           Attribute members);

  void addAverage();
  void addAveragesOf(ArrayRef<WorkersTensor> tensors, const Program &program);
  void addOuterSteps(ArrayRef<WorkersTensor> tensors, const Program &program);
  void addFragments();
  FailureOr<llvm::StringMap<Value>> mixAll(const MixingRound &round);
  LogicalResult mixInStep(const MixingRound &round);
  LogicalResult mixBetweenSteps(ArrayRef<MixingRound> rounds);

  func::FuncOp step;
  std::optional<OpBuilder> builder;
  std::optional<Synchronization> plan;
  SmallVector<WorkersTensor> tensors;
  Results added;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values of workers
//===----------------------------------------------------------------------===//

/// The tensors of all workers, as rows.
Value SynchronizeWorkersPass::createTerms(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape = {workers};
  llvm::append_range(shape, type.getShape());
  return TermsOp::create(*builder, x.getLoc(), type.clone(shape), x,
                         builder->getStringAttr(dataAxis));
}

/// The row of each worker.
Value SynchronizeWorkersPass::createOwn(Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  return OwnRowOp::create(*builder, rows.getLoc(),
                          type.clone(type.getShape().drop_front()), rows,
                          builder->getStringAttr(dataAxis));
}

/// One value as that of each worker.
Value SynchronizeWorkersPass::createForAll(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape = {workers};
  llvm::append_range(shape, type.getShape());
  return createOwn(
      BroadcastOp::create(*builder, x.getLoc(), type.clone(shape), x));
}

static Value createScalar(OpBuilder &builder, Value like, double value) {
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(like));
  return ConstantOp::create(
      builder, like.getLoc(), type,
      DenseElementsAttr::get(
          type, Attribute(builder.getFloatAttr(type.getElementType(), value))));
}

static Value scale(OpBuilder &builder, Value x, double factor) {
  return MulOp::create(builder, x.getLoc(), x,
                       createScalar(builder, x, factor));
}

/// The sum of all workers' tensors, which all ranks have.
Value SynchronizeWorkersPass::createSum(Value x) {
  Value sum = ReduceSumOp::create(*builder, x.getLoc(), createTerms(x),
                                  ArrayRef<int64_t>{0});
  auto whole = ReshapeOp::create(*builder, x.getLoc(), x.getType(), sum);
  setSplit(whole, builder->getStringAttr(dataAxis), /*dim=*/-1);
  return whole;
}

Value SynchronizeWorkersPass::createMean(Value x) {
  return DivOp::create(*builder, x.getLoc(), createSum(x),
                       createScalar(*builder, x, double(workers)));
}

/// The weighted mean of each worker's tensor and those of its neighbours.
Value SynchronizeWorkersPass::createMixed(const MixingRound &round, Value x) {
  Value rows = createTerms(x), sum;
  for (const MixingTerm &term : round) {
    Value part = rows;
    if (!term.isOwn())
      part = PermuteRowsOp::create(*builder, x.getLoc(), rows.getType(), rows,
                                   term.sources);
    part = scale(*builder, part, double(term.count));
    sum = sum ? Value(AddOp::create(*builder, x.getLoc(), sum, part)) : part;
  }
  sum = DivOp::create(*builder, x.getLoc(), sum,
                      createScalar(*builder, sum, double(round[0].total)));
  return createOwn(sum);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Adds a state that all workers share. The runtime starts it as the
/// parameter or as zero, by its name.
Value SynchronizeWorkersPass::addState(const WorkersTensor &tensor,
                                       StringRef name) {
  NamedAttrList attributes;
  attributes.set(attr::state, builder->getStringAttr(tensor.name + "." + name));
  attributes.set(attr::shared, builder->getUnitAttr());
  attributes.set(attr::optional, builder->getUnitAttr());
  if (Attribute members = tensor.getMembers())
    attributes.set(attr::members, members);
  unsigned position = step.getNumArguments();
  (void)step.insertArgument(position, tensor.getType(),
                            attributes.getDictionary(&getContext()),
                            tensor.value.getLoc());
  return step.getArgument(position);
}

void SynchronizeWorkersPass::add(const Program &program, Value value,
                                 StringRef kind, StringRef name,
                                 Attribute members) {
  NamedAttrList attributes;
  attributes.set(kind, builder->getStringAttr(name));
  attributes.set(attr::program, builder->getStringAttr(program.name));
  if (program.turn)
    attributes.set(attr::turn, program.turn);
  if (members)
    attributes.set(attr::members, members);
  added.add(value, attributes.getDictionary(&getContext()));
}

static SmallVector<WorkersTensor> collectTensors(func::FuncOp step) {
  SmallVector<WorkersTensor> tensors;
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    StringAttr parameter = getArgString(argument, attr::parameter);
    StringAttr state = getArgString(argument, attr::state);
    if (!isFloatTensor(argument.getType()) || !isKept(step, number))
      continue;
    if (parameter)
      tensors.push_back({argument, attr::parameter, parameter,
                         !step.getArgAttr(number, attr::frozen)});
    else if (state.getValue().rsplit('.').second == averageStateName)
      tensors.push_back({argument, attr::state, state, false});
  }
  return tensors;
}

//===----------------------------------------------------------------------===//
// Averages
//===----------------------------------------------------------------------===//

void SynchronizeWorkersPass::addAveragesOf(ArrayRef<WorkersTensor> averaged,
                                           const Program &program) {
  for (const WorkersTensor &tensor : averaged)
    add(program, createForAll(createMean(tensor.value)), tensor.kind,
        tensor.name, tensor.getMembers());
}

/// Nesterov's momentum with the change of the average as the gradient, as
/// torch.optim.SGD computes it.
void SynchronizeWorkersPass::addOuterSteps(ArrayRef<WorkersTensor> averaged,
                                           const Program &program) {
  for (const WorkersTensor &tensor : averaged) {
    if (!tensor.isTrained) {
      addAveragesOf(tensor, program);
      continue;
    }
    Location loc = tensor.value.getLoc();
    Value anchor = addState(tensor, "anchor");
    Value momentum = addState(tensor, "outer_momentum");
    Value change =
        SubOp::create(*builder, loc, anchor, createMean(tensor.value));
    Value moved =
        AddOp::create(*builder, loc,
                      scale(*builder, momentum, plan->outer->momentum), change);
    Value direction = AddOp::create(
        *builder, loc, change, scale(*builder, moved, plan->outer->momentum));
    Value next = SubOp::create(*builder, loc, anchor,
                               scale(*builder, direction, plan->outer->lr));
    Attribute members = tensor.getMembers();
    add(program, createForAll(next), attr::parameter, tensor.name, members);
    add(program, next, attr::state, (tensor.name + ".anchor").str(), members);
    add(program, moved, attr::state, (tensor.name + ".outer_momentum").str(),
        members);
  }
}

void SynchronizeWorkersPass::addAverage() {
  addAveragesOf(tensors, {"average", {}});
}

/// A program for each fragment of the tensors, which have about as many
/// elements each. Their turns are spread over the period.
void SynchronizeWorkersPass::addFragments() {
  // Averages over steps stay a worker's.
  SmallVector<WorkersTensor> parameters =
      llvm::filter_to_vector(tensors, [](const WorkersTensor &tensor) {
        return tensor.kind == attr::parameter;
      });
  int64_t total = 0;
  for (const WorkersTensor &tensor : parameters)
    total += tensor.getType().getNumElements();
  SmallVector<SmallVector<WorkersTensor>> fragments(plan->fragments);
  int64_t before = 0;
  for (const WorkersTensor &tensor : parameters) {
    int64_t size = tensor.getType().getNumElements();
    int64_t middle = before + size / 2;
    size_t number = double(middle) / double(total) * double(plan->fragments);
    fragments[std::min<size_t>(number, plan->fragments - 1)].push_back(tensor);
    before += size;
  }
  for (auto [i, fragment] : llvm::enumerate(fragments)) {
    if (fragment.empty())
      continue;
    int64_t turn = int64_t(i + 1) * plan->period / plan->fragments;
    Program program{"sync", builder->getDenseI64ArrayAttr(
                                {plan->period, turn % plan->period})};
    if (plan->fragments > 1)
      program.name += std::to_string(i + 1);
    if (plan->outer)
      addOuterSteps(fragment, program);
    else
      addAveragesOf(fragment, program);
  }
}

//===----------------------------------------------------------------------===//
// Gossip
//===----------------------------------------------------------------------===//

/// The mixed value of each trained parameter, by name. Parameters are mixed in
/// buckets, which takes fewer messages.
FailureOr<llvm::StringMap<Value>>
SynchronizeWorkersPass::mixAll(const MixingRound &round) {
  llvm::StringMap<Value> mixed;
  for (const WorkersTensor &tensor : tensors)
    if (tensor.isTrained && tensor.getMembers())
      mixed[tensor.name] = createMixed(round, tensor.value);
  if (!mixed.empty()) // these are buckets
    return mixed;
  FailureOr<std::vector<ParameterBucket>> buckets =
      collectBuckets(step, tp, /*ep=*/1, {bucketMb << 20, "", /*align=*/1});
  if (failed(buckets))
    return failure();
  for (const ParameterBucket &bucket : *buckets) {
    RankedTensorType type = bucket.getType(/*multiple=*/1);
    Value rows =
        createMixed(round, joinMembers(*builder, bucket, type,
                                       [](const BucketMember &member) -> Value {
                                         return member.parameter;
                                       }));
    for (const BucketMember &member : bucket.members) {
      auto slice = SliceOp::create(*builder, rows.getLoc(),
                                   type.clone({member.parts, member.getSize()}),
                                   rows, 1, member.start,
                                   /*view=*/true);
      mixed[member.getName()] = restoreMember(*builder, member, slice);
    }
  }
  return mixed;
}

/// Adds the change by mixing to the new value of each parameter. Mixing needs
/// only the old values, so its exchange starts with the step.
LogicalResult SynchronizeWorkersPass::mixInStep(const MixingRound &round) {
  auto mixed = mixAll(round);
  if (failed(mixed))
    return failure();
  llvm::StringMap<Value> old;
  for (const WorkersTensor &tensor : tensors)
    old[tensor.name] = tensor.value;
  func::ReturnOp ret = getReturn(step);
  for (unsigned i : llvm::seq(step.getNumResults()))
    if (StringAttr name = getResultString(step, i, attr::parameter))
      if (Value own = mixed->lookup(name)) {
        Location loc = own.getLoc();
        Value change = SubOp::create(*builder, loc, own, old.lookup(name));
        ret.setOperand(i,
                       AddOp::create(*builder, loc, ret.getOperand(i), change));
      }
  return success();
}

/// A program for each round, which follows a step.
LogicalResult
SynchronizeWorkersPass::mixBetweenSteps(ArrayRef<MixingRound> rounds) {
  int64_t period = rounds.size();
  for (int64_t turn : llvm::seq(period)) {
    Program program{"sync" + std::to_string(turn),
                    builder->getDenseI64ArrayAttr({period, turn})};
    // Steps count from 1.
    auto mixed = mixAll(rounds[(turn + period - 1) % period]);
    if (failed(mixed))
      return failure();
    for (const WorkersTensor &tensor : tensors)
      if (tensor.isTrained)
        add(program, mixed->lookup(tensor.name), tensor.kind, tensor.name,
            tensor.getMembers());
  }
  return success();
}

void SynchronizeWorkersPass::runOnOperation() {
  llvm::Expected<Synchronization> parsed = Synchronization::parse(sync);
  if (!parsed) {
    getOperation().emitError(llvm::toString(parsed.takeError()));
    return signalPassFailure();
  }
  if (!parsed->hasWorkers() || parsed->hasServer() || workers == 1)
    return;
  FailureOr<func::FuncOp> found = findFunction(getOperation(), stepName);
  if (failed(found))
    return signalPassFailure();
  plan = *parsed;
  step = *found;
  builder.emplace(getReturn(step));
  tensors = collectTensors(step);
  added = {};
  if (plan->kind == Synchronization::Every) {
    addFragments();
  } else {
    SmallVector<MixingRound> rounds = getMixing(plan->mixing, workers);
    if (!llvm::all_of(rounds, isDoublyStochastic)) {
      step.emitError("rows and columns of a mixing matrix do not add up to 1");
      return signalPassFailure();
    }
    bool changes = plan->mixing == MixingKind::OnePeer;
    if (failed(changes ? mixBetweenSteps(rounds) : mixInStep(rounds.front())))
      return signalPassFailure();
  }
  addAverage();
  func::ReturnOp ret = getReturn(step);
  if (std::optional<unsigned> eval = findResult(step, attr::output, evalName))
    ret.setOperand(*eval, createSum(ret.getOperand(*eval)));
  Results results;
  results.keepAll(step);
  results.append(added);
  results.assignTo(step);
}
