//===- Slices.cpp - assign ops to phases of stages ------------------------===//
//
// A walk forward classifies values. A walk backward, from the results of the
// step, collects the phases of the stages that read each value, and places the
// op that defines it in the first of them that may run it.
//
//===----------------------------------------------------------------------===//

#include "Slices.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dtc;

Time dtc::getTime(Value value) {
  LayoutAttr layout = getLayout(value.getType());
  std::optional<AxisLayout> entry =
      layout ? layout.getEntry(MeshAttr::timeAxis) : std::nullopt;
  if (!entry)
    return Time::Once;
  return entry->isSplit() ? Time::Microbatch : Time::Accumulated;
}

bool Slices::isPerMicrobatch(Operation &op) const {
  auto varies = [](Value value) { return getTime(value) == Time::Microbatch; };
  return repeated.contains(&op) || llvm::any_of(op.getOperands(), varies) ||
         llvm::any_of(op.getResults(), varies);
}

/// Whether each phase that needs the op's result clones the op: it costs
/// nothing, or its result must not be kept.
static bool isCloned(Operation &op) {
  return isa<ConstantOp>(op) || isView(&op) || isParameterGather(&op);
}

FailureOr<Slices> Slices::compute(func::FuncOp step, StageAnalysis stages,
                                  int64_t numStages, bool joins) {
  Slices slices(std::move(stages), numStages, joins);
  slices.findRepeated(step.front());
  if (failed(slices.classify(step.front())) ||
      failed(slices.slice(step.front())))
    return failure();
  return slices;
}

//===----------------------------------------------------------------------===//
// Forward: dependences of values
//===----------------------------------------------------------------------===//

/// Finds ops that repeat for each micro-batch, from the ops that are marked to
/// those that read a micro-batch themselves. Adds reshapes of values that
/// nothing else in a micro-batch reads: a reshape costs nothing next to its
/// producer, while in the update it would cause a copy.
void Slices::findRepeated(Block &body) {
  for (auto reshape : body.getOps<ReshapeOp>()) {
    Operation *maker = reshape.getX().getDefiningOp();
    if (maker && (repeated.contains(maker) || isPerMicrobatch(*maker)) &&
        reshape.getX().hasOneUse() &&
        getTime(reshape.getX()) == Time::Accumulated &&
        getTime(reshape.getResult()) == Time::Accumulated)
      repeated.insert(reshape);
  }
  for (Operation &op : llvm::reverse(body)) {
    bool isNeeded = op.hasAttr(attr::perMicrobatch) ||
                    llvm::any_of(op.getUsers(), [&](Operation *user) {
                      return repeated.contains(user);
                    });
    if (isNeeded && !isPerMicrobatch(op) && op.getNumResults() > 0 &&
        getTime(op.getResult(0)) == Time::Accumulated)
      repeated.insert(&op);
  }
}

LogicalResult Slices::classify(Block &body) {
  auto step = cast<func::FuncOp>(body.getParentOp());
  for (BlockArgument argument : body.getArguments())
    if (step.getArgAttr(argument.getArgNumber(), attr::input))
      fromInputs.insert(argument);

  bool ok = true;
  for (Operation &op : body.without_terminator()) {
    if (isa<BoundaryOp>(op) && repeated.contains(&op))
      return op.emitOpError("is a sum over micro-batches, which crosses stages "
                            "once a step, but is needed in each micro-batch");
    bool inputsOnly = !isa<SumOverStagesOp>(op) &&
                      llvm::all_of(op.getOperands(), [&](Value value) {
                        return fromInputs.contains(value);
                      });
    bool isLate = false;
    unsigned level = 0;
    bool perMicrobatch = isPerMicrobatch(op);
    bool isKnown =
        inputsOnly && !perMicrobatch && isPure(&op) && !isa<BoundaryOp>(op);
    for (Value operand : op.getOperands()) {
      if (auto made = levels.find(operand); made != levels.end()) {
        isKnown = false;
        // Micro-batches read a sum only after all of them have added their
        // part.
        bool isSum = perMicrobatch && !repeated.contains(&op) &&
                     getTime(operand) != Time::Microbatch;
        level = std::max(level, made->second + isSum);
      }
      if (!late.contains(operand))
        continue;
      isLate = true;
      if (!perMicrobatch || getTime(operand) == Time::Accumulated)
        continue;
      InFlightDiagnostic diagnostic =
          op.emitOpError("needs, in each micro-batch, the result of a sum over "
                         "all micro-batches that depends on more than inputs; "
                         "use one micro-batch");
      diagnostic.attachNote(operand.getLoc()) << "the sum is needed here";
      ok = false;
    }
    if (isa<BoundaryOp>(op) && !perMicrobatch)
      ++level;
    for (Value result : op.getResults()) {
      if (inputsOnly)
        fromInputs.insert(result);
      if (perMicrobatch && !inputsOnly) {
        // Created here: accumulated over the micro-batches.
        if (getTime(result) != Time::Microbatch)
          late.insert(result);
        continue;
      }
      if (!isKnown)
        levels[result] = level;
      if (isLate)
        late.insert(result);
    }
  }

  // Find the ops that the loss, an evaluation or a running statistic (a
  // parameter that is not trained) depends on. Definitions come before uses.
  llvm::StringSet<> statistics;
  for (BlockArgument argument : body.getArguments())
    if (step.getArgAttr(argument.getArgNumber(), attr::statistic))
      statistics.insert(step.getArgAttrOfType<StringAttr>(
          argument.getArgNumber(), attr::parameter));
  Operation *terminator = body.getTerminator();
  for (OpOperand &returned : terminator->getOpOperands()) {
    auto getName = [&](StringRef attribute) {
      auto name = step.getResultAttrOfType<StringAttr>(
          returned.getOperandNumber(), attribute);
      return name ? name.getValue() : StringRef();
    };
    StringRef output = getName(attr::output);
    Operation *op = returned.get().getDefiningOp();
    if (op && output == "loss")
      lossSlice.insert(op);
    if (op && (output == "loss" || output == evalName ||
               statistics.contains(getName(attr::parameter))))
      forwardSlice.insert(op);
  }
  for (llvm::DenseSet<Operation *> *slice : {&lossSlice, &forwardSlice})
    for (Operation &op : llvm::reverse(body))
      if (slice->contains(&op))
        for (Value operand : op.getOperands())
          if (Operation *producer = operand.getDefiningOp())
            slice->insert(producer);
  return success(ok);
}

//===----------------------------------------------------------------------===//
// Backward: users of values
//===----------------------------------------------------------------------===//

void Slices::demand(int64_t stage, Value value, Phase phase) {
  if (isa<BlockArgument>(value))
    used[stage].insert(value);
  else
    demands[stage][value].insert(phase);
}

LogicalResult Slices::slice(Block &body) {
  auto step = cast<func::FuncOp>(body.getParentOp());
  for (OpOperand &returned : body.getTerminator()->getOpOperands()) {
    Value value = returned.get();
    if (isRecorded(step, returned.getOperandNumber())) {
      int64_t stage = getStage(value).value_or(0);
      demand(stage, value, getRecordedPhase(value));
      exported[stage].insert(value);
      continue;
    }
    if (getTime(value) == Time::Microbatch && value.getDefiningOp())
      return value.getDefiningOp()->emitOpError(
          "is returned, but has a value for each micro-batch; reduce it first");
    std::optional<int64_t> home = getStage(value);
    for (int64_t stage : llvm::seq<int64_t>(0, getNumStages()))
      if (!home || stage == *home) {
        demand(stage, value, {Phase::Update});
        exported[stage].insert(value);
      }
  }
  // A parameter stays with its owner even if nothing there reads it.
  for (BlockArgument argument : body.getArguments())
    if (step.getArgAttr(argument.getArgNumber(), attr::parameter))
      used[getStage(argument).value_or(0)].insert(argument);

  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (failed(visit(op)))
      return failure();
  std::reverse(messages.begin(), messages.end());
  for (auto [channel, message] : llvm::enumerate(messages))
    message.channel = channel;
  for (auto &stagePhases : phases)
    for (auto &[phase, ops] : stagePhases) {
      auto sorted = llvm::to_vector(llvm::reverse(ops));
      ops = llvm::SetVector<Operation *>(sorted.begin(), sorted.end());
    }
  return success();
}

LogicalResult Slices::visit(Operation &op) {
  if (auto boundary = dyn_cast<BoundaryOp>(op))
    return visitBoundary(boundary);
  if (auto sum = dyn_cast<SumOverStagesOp>(op))
    return visitSum(sum);

  for (int64_t stage : llvm::seq<int64_t>(0, getNumStages())) {
    if (isa<SumMicrobatchesOp>(op)) { // names the accumulated operand
      for (Phase phase : PhaseSet(demands[stage][op.getResult(0)]))
        demand(stage, op.getOperand(0), phase);
      if (exported[stage].contains(op.getResult(0)))
        exported[stage].insert(op.getOperand(0));
      continue;
    }
    PhaseSet placed = place(op, stage);
    for (Phase phase : placed) {
      phases[stage][phase].insert(&op);
      for (Value operand : op.getOperands())
        if (readsPart(op, operand))
          partDemands[stage][operand].insert(phase);
        else
          demand(stage, operand, phase);
      if (lossSlice.contains(&op) &&
          (phase.kind == Phase::Backward || phase.kind == Phase::Weight))
        demandForward(op, stage, phase.level);
    }
    auto areElsewhere = [&](const PhaseSet &readers) {
      return !llvm::all_of(
          readers, [&](Phase phase) { return placed.count(phase) != 0; });
    };
    for (Value result : op.getResults()) {
      if (areElsewhere(demands[stage].lookup(result)))
        exported[stage].insert(result);
      if (areElsewhere(partDemands[stage].lookup(result)))
        exportedParts[stage].insert(result);
    }
  }
  return success();
}

/// Demands the operands of a loss in the forward pass, even if another phase
/// computes the loss.
void Slices::demandForward(Operation &op, int64_t stage, unsigned chunk) {
  for (Value operand : op.getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || isa<BoundaryOp>(producer) ||
        fromInputs.contains(operand) || getTime(operand) != Time::Microbatch)
      continue;
    if (isCloned(*producer))
      demandForward(*producer, stage, chunk);
    else
      demand(stage, operand, {Phase::Forward, chunk});
  }
}

/// The phase in which a stage computes a micro-batch's part of a sum. The loss
/// is summed in the phase of its gradient, which has the same operands: one
/// kernel reads them.
Phase Slices::placeSum(Operation &op, int64_t stage, unsigned chunk) const {
  if (!forwardSlice.contains(&op))
    return {joins ? Phase::Backward : Phase::Weight, chunk};
  if (!lossSlice.contains(&op))
    return {Phase::Forward, chunk};
  std::optional<Phase> gradient;
  for (Value operand : op.getOperands()) {
    if (fromInputs.contains(operand) || getTime(operand) != Time::Microbatch)
      continue;
    PhaseSet readers = demands[stage].lookup(operand);
    auto reader = llvm::find_if(readers, [&](Phase phase) {
      return phase.level == chunk && phase.kind > Phase::Forward;
    });
    if (reader == readers.end() || reader->kind > Phase::Weight)
      return {Phase::Forward, chunk};
    gradient = gradient ? std::max(*gradient, *reader) : *reader;
  }
  return gradient.value_or(Phase{Phase::Forward, chunk});
}

/// Replaces phases of another chunk with earlier ones of the op's own chunk:
/// later chunks read activations, earlier ones gradients.
Slices::PhaseSet Slices::toOwnChunk(Operation &op, PhaseSet wanted) const {
  if (isCloned(op) || op.getNumResults() == 0 || !getStage(op.getResult(0)))
    return wanted;
  unsigned own = getChunk(op.getResult(0));
  PhaseSet result;
  for (Phase phase : wanted)
    if (!phase.isChunked() || phase.level == own)
      result.insert(phase);
    else
      result.insert(
          {phase.level > own ? Phase::Forward : Phase::Backward, own});
  return result;
}

/// Whether an op exchanges a tensor that no micro-batch changes, such as
/// gradients of an earlier step: it may be in flight during the step. A program
/// between steps has nothing to compute meanwhile.
bool Slices::isEarly(Operation &op) const {
  auto function = cast<func::FuncOp>(op.getParentOp());
  return isa<CollectiveOpInterface>(op) && function.getName() == stepName &&
         llvm::none_of(op.getResults(), [&](Value result) {
           return late.contains(result) ||
                  getLocalType(result.getType()).getNumElements() == 1;
         });
}

/// The phases in which a stage runs an op; empty if it does not need it.
Slices::PhaseSet Slices::place(Operation &op, int64_t stage) {
  PhaseSet wanted;
  SmallVector<std::pair<Value, Phase>> summed;
  bool perMicrobatch = isPerMicrobatch(op);
  for (Value result : op.getResults()) {
    PhaseSet ofPart = partDemands[stage].lookup(result);
    wanted.insert(ofPart.begin(), ofPart.end());
    PhaseSet readers = demands[stage][result];
    if (readers.empty())
      continue;
    if (perMicrobatch && getTime(result) == Time::Accumulated) {
      // Computed in a micro-batch, read after all are done. `classify` has
      // checked that only sums of inputs are read earlier.
      summed.emplace_back(result,
                          readers.begin()->kind < Phase::Reduce
                              ? Phase{Phase::Inputs, levels.lookup(result)}
                              : placeSum(op, stage, getChunk(result)));
      wanted.insert(summed.back().second);
    } else {
      wanted.insert(readers.begin(), readers.end());
    }
  }
  if (wanted.empty() || (isCloned(op) && summed.empty()))
    return wanted;
  if (perMicrobatch) {
    // Each sum of inputs recomputes its operands. Each chunk does, too, for ops
    // that belong to no stage.
    std::map<unsigned, Phase> ofChunks;
    PhaseSet result;
    for (Phase phase : toOwnChunk(op, wanted))
      if (!phase.isChunked() || isCloned(op) ||
          ofChunks.insert({phase.level, phase}).second)
        result.insert(phase);
    for (auto [value, phase] : summed)
      sums[stage].insert(
          {value, result.count(phase) ? phase : ofChunks.at(phase.level)});
    return result;
  }

  // Sums of inputs clone ops that depend on constants alone.
  PhaseSet result;
  bool isKnown = llvm::none_of(
      op.getResults(), [&](Value value) { return levels.contains(value); });
  while (isKnown && !wanted.empty() && wanted.begin()->kind == Phase::Inputs)
    result.insert(wanted.extract(wanted.begin()));
  if (wanted.empty())
    return result;
  Phase first = *wanted.begin();
  result.insert(first.kind < Phase::Reduce || isEarly(op)
                    ? Phase{Phase::Prologue, levels.lookup(op.getResult(0))}
                    : first);
  return result;
}

LogicalResult Slices::visitBoundary(BoundaryOp op) {
  int64_t from = op.getFrom() % getNumStages();
  int64_t to = op.getTo() % getNumStages();
  PhaseSet readers = demands[to][op.getY()];
  if (readers.empty())
    return success();
  if (isLocal(op)) {
    for (Phase phase : readers)
      demand(from, op.getX(), phase);
    if (exported[to].contains(op.getY()))
      exported[from].insert(op.getX());
    return success();
  }
  Message message{op, 0, {}, {}};
  if (getTime(op.getY()) == Time::Microbatch) {
    Phase::Kind kind =
        op.getFrom() < op.getTo() ? Phase::Forward : Phase::Backward;
    message.sent = {kind, getChunk(op.getX())};
    message.received = {kind, getChunk(op.getY())};
  } else {
    Phase::Kind kind =
        late.contains(op.getY()) ? Phase::Reduce : Phase::Prologue;
    unsigned level = levels.lookup(op.getY());
    message.sent = {kind, level - 1};
    message.received = {kind, level};
  }
  if (*readers.begin() < message.received)
    return op.emitOpError("is needed in phase '")
           << readers.begin()->getName() << "' of stage " << to
           << ", but cannot arrive before phase '" << message.received.getName()
           << "'";
  messages.push_back(message);
  if (Operation *sent = op.getX().getDefiningOp(); sent && isCloned(*sent))
    onlyFrom[from][op.getX()] = message.sent;
  demand(from, op.getX(), message.sent);
  exported[from].insert(op.getX());
  return success();
}

LogicalResult Slices::visitSum(SumOverStagesOp op) {
  bool needed = false;
  for (auto &stageDemands : demands)
    for (Phase phase : stageDemands[op.getResult()]) {
      needed = true;
      if (phase.kind != Phase::Update)
        return op.emitOpError("is needed in phase '")
               << phase.getName() << "', expected only in the update";
    }
  if (!needed)
    return success();
  // Every stage takes part in a collective.
  for (auto &stagePhases : phases)
    stagePhases[{Phase::Update}].insert(op);
  for (Value part : op.getParts())
    demand(getStage(part).value_or(0), part, {Phase::Update});
  return success();
}
