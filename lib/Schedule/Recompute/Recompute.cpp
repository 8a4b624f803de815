//===- Recompute.cpp - recompute activations ------------------------------===//
//
// Clones ops of @forward into @backward and @weight, each before its first use
// there, and removes results of @forward that the backward pass no longer
// reads. RecomputePolicy chooses the values to keep.
//
//===----------------------------------------------------------------------===//

#include "RecomputePolicy.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Plan/Work.h"
#include "dtc/Schedule/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace dtc {
#define GEN_PASS_DEF_RECOMPUTE
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

int64_t getNumber(Attribute number) {
  return number ? cast<IntegerAttr>(number).getInt() : -1;
}
int64_t getArgNumber(func::FuncOp function, unsigned i) {
  return getNumber(function.getArgAttr(i, attr::value));
}
int64_t getResultNumber(func::FuncOp function, unsigned i) {
  return getNumber(function.getResultAttr(i, attr::value));
}

/// Calls `visit` with each message that the plan sends or receives.
void forEachMessage(func::FuncOp plan, StringRef list,
                    function_ref<void(DictionaryAttr)> visit) {
  if (auto entries = plan->getAttrOfType<ArrayAttr>(list))
    llvm::for_each(entries.getAsRange<DictionaryAttr>(), visit);
}
int64_t getMessageNumber(DictionaryAttr message) {
  return getNumber(message.get("value"));
}

/// A function that reads values of the forward pass.
struct Reader {
  explicit Reader(func::FuncOp function) : function(function) {}
  func::FuncOp function;
  DenseMap<Value, Value> values; ///< its copies of forward values
};

/// Rewrites the functions of one chunk of a stage.
class StageRecompute {
public:
  StageRecompute(ModuleOp stage, func::FuncOp plan, unsigned chunk);

  /// Null if the chunk has no forward pass.
  func::FuncOp getForward() const { return forward.function; }
  void run(const RecomputePolicy &policy);

private:
  void classifyArguments();
  void classifyResults();
  bool isReadByKernels(int64_t number);
  void rewrite(func::FuncOp function);
  void shareGathers(func::FuncOp function);
  Value get(Value value, Reader &reader, OpBuilder &builder);
  Value import(Value value, Reader &reader);
  void addResult(func::FuncOp function, Value value, int64_t number);
  void dropRecomputedResults();
  void eraseUnused();
  llvm::DenseSet<int64_t> getReadNumbers(bool byBackwardPass);

  ModuleOp stage;
  func::FuncOp plan;
  unsigned chunk;
  ForwardPass forward;
  llvm::DenseSet<Value> kept;
  std::vector<Reader> readers;
  DenseMap<Operation *, Operation *> clones; ///< of ops of the forward pass
  DenseMap<Value, int64_t> numbers;          ///< of values of the forward pass
  DenseMap<int64_t, Value> byNumber;
  int64_t nextNumber = 0;
};

//===----------------------------------------------------------------------===//
// The forward pass
//===----------------------------------------------------------------------===//

StageRecompute::StageRecompute(ModuleOp stage, func::FuncOp plan,
                               unsigned chunk)
    : stage(stage), plan(plan), chunk(chunk) {
  forward.function = findFunction(stage, {Phase::Forward, chunk});
  auto use = [&](int64_t number) {
    nextNumber = std::max(nextNumber, number + 1);
  };
  for (auto function : stage.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      use(getArgNumber(function, i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      use(getResultNumber(function, i));
  }
  for (StringRef list : {attr::sends, attr::recvs})
    forEachMessage(plan, list, [&](DictionaryAttr message) {
      use(getMessageNumber(message));
    });
  if (!forward.function)
    return;
  classifyArguments();
  classifyResults();
}

/// Classifies arguments. Those that are neither inputs nor received in each
/// micro-batch are computed from parameters.
void StageRecompute::classifyArguments() {
  llvm::DenseSet<int64_t> inputs, activations;
  for (unsigned i = 0; i < plan.getNumArguments(); ++i)
    if (plan.getArgAttr(i, attr::input))
      inputs.insert(getArgNumber(plan, i));
  forEachMessage(plan, attr::recvs, [&](DictionaryAttr message) {
    if (message.getAs<PhaseAttr>("phase").getPhase() ==
        Phase{Phase::Forward, chunk})
      activations.insert(getMessageNumber(message));
  });
  for (BlockArgument argument : forward.function.getArguments()) {
    int64_t number = getArgNumber(forward.function, argument.getArgNumber());
    numbers[argument] = number;
    byNumber[number] = argument;
    if (inputs.contains(number) || activations.contains(number))
      forward.fromInputs.insert(argument);
    if (!inputs.contains(number))
      forward.fromParameters.insert(argument);
  }
  llvm::DenseSet<int64_t> later = getReadNumbers(/*byBackwardPass=*/true);
  for (BlockArgument argument : forward.function.getArguments())
    if (later.contains(numbers[argument]))
      forward.readLater.insert(argument);
  forward.readAgain.insert_range(forward.function.getArguments());
  for (Phase::Kind kind : {Phase::Backward, Phase::Weight})
    if (func::FuncOp function = findFunction(stage, {kind, chunk})) {
      llvm::DenseSet<int64_t> read;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        read.insert(getArgNumber(function, i));
      for (BlockArgument argument : forward.function.getArguments())
        if (!read.contains(numbers[argument]))
          forward.readAgain.erase(argument);
    }
}

void StageRecompute::classifyResults() {
  llvm::DenseSet<int64_t> backward = getReadNumbers(/*byBackwardPass=*/true),
                          others = getReadNumbers(/*byBackwardPass=*/false);
  Operation *terminator = forward.function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    int64_t number = getResultNumber(forward.function, i);
    if (number < 0)
      continue;
    numbers[value] = number;
    byNumber[number] = value;
    if (backward.contains(number)) {
      forward.saved.insert(value);
      if (isReadByKernels(number))
        forward.readByKernels.insert(value);
    }
    if (others.contains(number))
      forward.sent.insert(value);
  }
}

/// Whether the readers of a value in the backward pass can share a kernel with
/// its definition.
bool StageRecompute::isReadByKernels(int64_t number) {
  for (Phase::Kind kind : {Phase::Backward, Phase::Weight})
    if (func::FuncOp function = findFunction(stage, {kind, chunk}))
      for (BlockArgument argument : function.getArguments())
        if (getArgNumber(function, argument.getArgNumber()) == number &&
            llvm::any_of(getReaders(argument), [](Operation *reader) {
              return reader->hasTrait<Product>() ||
                     reader->hasTrait<OpTrait::IsTerminator>() ||
                     isa<CollectiveOpInterface, BoundaryOp>(reader);
            }))
          return false;
  return true;
}

/// Numbers of the values that the backward pass reads, or that all other
/// functions read. Other chunks have their own.
llvm::DenseSet<int64_t> StageRecompute::getReadNumbers(bool byBackwardPass) {
  llvm::DenseSet<int64_t> read;
  for (auto function : stage.getOps<func::FuncOp>()) {
    std::optional<Phase> phase = getPhase(function);
    bool isChunked = phase && phase->isChunked();
    if (function == plan || (isChunked && phase->level != chunk) ||
        (isChunked && phase->kind != Phase::Forward) != byBackwardPass)
      continue;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      read.insert(getArgNumber(function, i));
  }
  if (byBackwardPass)
    return read;
  forEachMessage(plan, attr::sends, [&](DictionaryAttr message) {
    read.insert(getMessageNumber(message));
  });
  for (unsigned i = 0; i < plan.getNumResults(); ++i)
    read.insert(getResultNumber(plan, i));
  return read;
}

//===----------------------------------------------------------------------===//
// The backward pass
//===----------------------------------------------------------------------===//

void StageRecompute::run(const RecomputePolicy &policy) {
  kept = policy.chooseKept(forward);
  for (Phase::Kind kind : {Phase::Backward, Phase::Weight})
    if (func::FuncOp function = findFunction(stage, {kind, chunk}))
      rewrite(function);
  dropRecomputedResults();
  eraseUnused();
}

/// Moves views of saved values to their readers, so that the viewed values are
/// recomputed there and no earlier.
static void sinkViews(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (!isView(&op) || op.use_empty())
      continue;
    Operation *first = *op.user_begin();
    for (Operation *user : op.getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
    // Not moveBefore, which would renumber the whole block.
    op.remove();
    body.getOperations().insert(first->getIterator(), &op);
  }
}

void StageRecompute::rewrite(func::FuncOp function) {
  sinkViews(function.front());
  Reader &reader = readers.emplace_back(function);
  // The recomputed value of each argument.
  DenseMap<Value, Value> wanted;
  for (BlockArgument argument : function.getArguments()) {
    auto it = byNumber.find(getArgNumber(function, argument.getArgNumber()));
    if (it == byNumber.end())
      continue;
    if (isa<BlockArgument>(it->second) || kept.contains(it->second))
      reader.values[it->second] = argument;
    else
      wanted[argument] = it->second;
  }
  for (Operation &op :
       llvm::make_early_inc_range(function.front().getOperations())) {
    OpBuilder builder(&op);
    for (OpOperand &operand : op.getOpOperands())
      if (Value value = wanted.lookup(operand.get()))
        operand.set(get(value, reader, builder));
  }
  llvm::BitVector made(function.getNumArguments());
  for (auto [argument, value] : wanted)
    made.set(cast<BlockArgument>(argument).getArgNumber());
  (void)function.eraseArguments(made);
  shareGathers(function);
}

/// Keeps one gather of each parameter: recomputation may need parameters that
/// the backward pass needs later.
void StageRecompute::shareGathers(func::FuncOp function) {
  DenseMap<std::pair<Value, Type>, Operation *> first;
  for (Operation &op :
       llvm::make_early_inc_range(function.front().getOperations()))
    if (BlockArgument parameter = getGatheredParameter(&op)) {
      auto [it, isNew] =
          first.try_emplace({parameter, op.getResult(0).getType()}, &op);
      if (isNew)
        continue;
      op.replaceAllUsesWith(it->second);
      Operation *cast = op.getOperand(0).getDefiningOp();
      op.erase();
      if (cast && cast->use_empty())
        cast->erase();
    }
}

/// Copies an argument that a recomputed op, such as an all-reduce, would
/// overwrite: it belongs to the caller, which may still need it.
static void copyIfOfCaller(OpResult result, IRMapping &mapping,
                           OpBuilder &builder) {
  std::optional<Alias> alias = getAlias(result);
  if (!alias || alias->kind != AliasKind::Update)
    return;
  Value operand = result.getOwner()->getOperand(alias->operand);
  Value base = mapping.lookup(operand);
  while (Operation *view = base.getDefiningOp()) {
    if (!isView(view))
      return;
    base = view->getOperand(getAlias(view->getResult(0))->operand);
  }
  mapping.map(operand,
              CopyOp::create(builder, result.getLoc(), mapping.lookup(operand))
                  .getResult());
}

/// Returns a forward value in a function of the backward pass. Values that an
/// earlier function has recomputed are not recomputed again.
Value StageRecompute::get(Value value, Reader &reader, OpBuilder &builder) {
  if (Value known = reader.values.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  bool isFree =
      op && (isa<ConstantOp>(op) || isView(op) || isParameterGather(op));
  bool isMade = llvm::any_of(readers, [&](const Reader &earlier) {
    return earlier.values.contains(value);
  });
  if (!op || kept.contains(value) || (isMade && !isFree))
    return import(value, reader);

  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, get(operand, reader, builder));
  for (OpResult result : op->getResults())
    copyIfOfCaller(result, mapping, builder);
  Operation *clone = builder.clone(*op, mapping);
  clones.try_emplace(op, clone);
  for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults()))
    reader.values[from] = to;
  return reader.values[value];
}

/// Adds an argument for a value, and makes the function that has it return it.
Value StageRecompute::import(Value value, Reader &reader) {
  auto [it, isNew] = numbers.try_emplace(value, nextNumber);
  if (isNew)
    ++nextNumber;
  int64_t number = it->second;
  if (!isa<BlockArgument>(value)) {
    if (kept.contains(value))
      addResult(forward.function, value, number);
    else
      for (Reader &earlier : readers)
        if (Value made = earlier.values.lookup(value)) {
          addResult(earlier.function, made, number);
          break;
        }
  }
  Builder builder(stage.getContext());
  func::FuncOp function = reader.function;
  unsigned index = function.getNumArguments();
  NamedAttrList attributes;
  attributes.set(attr::value, builder.getI64IntegerAttr(number));
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (Attribute gather = forward.function.getArgAttr(argument.getArgNumber(),
                                                       attr::gatheredAtUse))
      attributes.set(attr::gatheredAtUse, gather);
  (void)function.insertArgument(index, value.getType(),
                                attributes.getDictionary(builder.getContext()),
                                value.getLoc());
  return reader.values[value] = function.getArgument(index);
}

void StageRecompute::addResult(func::FuncOp function, Value value,
                               int64_t number) {
  unsigned index = function.getNumResults();
  for (unsigned i = 0; i < index; ++i)
    if (getResultNumber(function, i) == number)
      return;
  Builder builder(stage.getContext());
  NamedAttribute attribute(attr::value, builder.getI64IntegerAttr(number));
  (void)function.insertResult(index, value.getType(),
                              builder.getDictionaryAttr(attribute));
  function.front().getTerminator()->insertOperands(index, value);
}

void StageRecompute::dropRecomputedResults() {
  Operation *terminator = forward.getBody().getTerminator();
  llvm::BitVector dropped(forward.function.getNumResults());
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    if (forward.saved.contains(value) && !kept.contains(value))
      dropped.set(i);
  terminator->eraseOperands(dropped);
  (void)forward.function.eraseResults(dropped);
  annotateUpdates(forward.function);
}

/// Erases ops of the forward pass whose results are only recomputed. All
/// members of a group omit the same collectives.
void StageRecompute::eraseUnused() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(forward.getBody()))) {
    if (!op.use_empty() ||
        !(isOpTriviallyDead(&op) || isa<CollectiveOpInterface>(op)))
      continue;
    if (Operation *clone = clones.lookup(&op); clone && op.hasTrait<Product>())
      clone->setAttr(attr::ofForwardPass, UnitAttr::get(op.getContext()));
    op.erase();
  }
  llvm::BitVector unused(forward.function.getNumArguments());
  for (BlockArgument argument : forward.function.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  (void)forward.function.eraseArguments(unused);
  if (llvm::hasSingleElement(forward.getBody()) &&
      forward.function.getNumResults() == 0)
    forward.function.erase();
}

//===----------------------------------------------------------------------===//

struct RecomputePass : dtc::impl::RecomputeBase<RecomputePass> {
  using RecomputeBase::RecomputeBase;

  void runOnOperation() override {
    std::string text = policy;
    FailureOr<RecomputePolicy> parsed =
        RecomputePolicy::parse(text, getOperation());
    FailureOr<SmallVector<ModuleOp>> stages = getStages(getOperation());
    if (failed(parsed) || failed(stages))
      return signalPassFailure();
    bool hasMatch = !parsed->isPattern();
    for (ModuleOp stage : *stages) {
      func::FuncOp plan = getPlan(stage);
      if (!plan)
        return signalPassFailure();
      for (unsigned chunk = 0; chunk < getNumChunks(plan); ++chunk) {
        StageRecompute recompute(stage, plan, chunk);
        if (!recompute.getForward())
          continue;
        hasMatch |= parsed->matchesNode(recompute.getForward());
        recompute.run(*parsed);
      }
    }
    if (!hasMatch) {
      getOperation().emitError("cannot recompute '")
          << text << "': no node of the forward pass has such a name, and "
          << "policies are none, all, except-last, every:N and selective";
      signalPassFailure();
    }
  }
};

} // namespace
