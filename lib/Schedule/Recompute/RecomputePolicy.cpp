//===- RecomputePolicy.cpp - choose values to keep ------------------------===//
//
// One walk over the forward pass finds the cuts. Each policy is a rule on the
// units between them, or on single ops.
//
//===----------------------------------------------------------------------===//

#include "RecomputePolicy.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// The memory that a view refers to.
static Value getViewed(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(getAlias(cast<OpResult>(value))->operand);
  }
  return value;
}

/// Whether a later op writes into the memory of a value.
static bool isOverwritten(Value value, const AliasClasses &classes) {
  return llvm::any_of(classes.getMembers(classes.getRoot(value)),
                      [&](Value member) {
                        Operation *op = member.getDefiningOp();
                        return op && overwritesOperand(op) && member != value &&
                               value.getDefiningOp()->isBeforeInBlock(op);
                      });
}

/// The ops that make activations, in order.
static SmallVector<Operation *> getSequence(const ForwardPass &forward) {
  llvm::DenseSet<Value> fromInputs = forward.fromInputs,
                        fromParameters = forward.fromParameters;
  SmallVector<Operation *> sequence;
  Block &body = forward.getBody();
  for (Operation &op : body.without_terminator()) {
    auto dependsOn = [&](const llvm::DenseSet<Value> &origin) {
      return llvm::any_of(op.getOperands(),
                          [&](Value v) { return origin.contains(v); });
    };
    bool inputs = dependsOn(fromInputs), parameters = dependsOn(fromParameters);
    for (Value result : op.getResults()) {
      if (inputs)
        fromInputs.insert(result);
      if (parameters)
        fromParameters.insert(result);
    }
    if (inputs && parameters)
      sequence.push_back(&op);
  }
  return sequence;
}

SmallVector<Value> dtc::findCuts(const ForwardPass &forward) {
  SmallVector<Operation *> sequence = getSequence(forward);
  DenseMap<Value, unsigned> lastUse;
  unsigned lastProduct = 0;
  for (auto [position, op] : llvm::enumerate(sequence)) {
    for (Value operand : op->getOperands())
      lastUse[getViewed(operand)] = position;
    if (op->hasTrait<Product>())
      lastProduct = position;
  }

  AliasClasses classes(forward.getBody());
  SmallVector<Value> cuts;
  // Values received from earlier stages are live like any activation.
  llvm::SetVector<Value> live;
  for (Value argument : forward.getBody().getArguments())
    if (forward.fromInputs.contains(argument) &&
        forward.fromParameters.contains(argument))
      live.insert(argument);
  bool hasProduct = false;
  for (auto [position, op] : llvm::enumerate(sequence)) {
    hasProduct |= op->hasTrait<Product>();
    if (!isView(op))
      live.insert_range(op->getResults());
    unsigned now = position;
    live.remove_if([&](Value value) { return lastUse.lookup(value) <= now; });
    if (live.size() != 1 || live.front().getDefiningOp() != op || !hasProduct ||
        now >= lastProduct || isOverwritten(live.front(), classes))
      continue;
    cuts.push_back(live.front());
    hasProduct = false;
  }
  return cuts;
}

//===----------------------------------------------------------------------===//
// Selection by cost
//===----------------------------------------------------------------------===//

namespace {

/// Kept values, and all values that follow from them and from arguments.
struct Kept {
  llvm::DenseSet<Value> kept, available;
};

} // namespace

/// Whether an op is cheap enough to run again when its operands are available.
static bool isCheap(Operation *op) {
  return isMemoryEffectFree(op) && !op->hasTrait<Product>() &&
         !overwritesOperand(op) && !getGatheredParameter(op);
}

/// Keeps the saved values that do not follow, without a product or
/// communication, from arguments, from other kept values such as `sources`, or
/// from sent values. The functions of the backward pass gather their parameters
/// anyway. Nothing follows from a cut that is not kept. Otherwise sums of
/// normalised values would follow from each other, from the first on, and all
/// of them would be recomputed before the last is used.
static Kept keepExpensive(const ForwardPass &forward,
                          const llvm::DenseSet<Value> &cuts,
                          const llvm::DenseSet<Value> &sources) {
  Kept result;
  Block &body = forward.getBody();
  result.available.insert_range(body.getArguments());
  for (Operation &op : body.without_terminator()) {
    BlockArgument gathered = getGatheredParameter(&op);
    bool follows =
        gathered
            ? forward.readAgain.contains(gathered)
            : isCheap(&op) && llvm::all_of(op.getOperands(), [&](Value value) {
                return result.available.contains(value);
              });
    for (Value value : op.getResults()) {
      bool isThere = follows && !cuts.contains(value);
      if ((!follows && forward.saved.contains(value)) ||
          (!isThere && sources.contains(value)))
        result.kept.insert(value);
      if (isThere || result.kept.contains(value) ||
          forward.sent.contains(value))
        result.available.insert(value);
    }
  }
  return result;
}

namespace {

/// A value from which a kept one follows, together with available values only.
struct Source {
  Value value;
  /// Activations of other stages that the ops between read, and that would have
  /// to be kept for the backward pass.
  llvm::SetVector<Value> waiting;
};

} // namespace

/// Adds the activations of other stages that a value depends on, if they are
/// neither kept nor read by the backward pass anyway.
static void addWaiting(Value value, const ForwardPass &forward, const Kept &all,
                       llvm::SetVector<Value> &waiting) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second || all.kept.contains(next))
      continue;
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(worklist, op->getOperands());
    else if (forward.fromInputs.contains(next) &&
             forward.fromParameters.contains(next) &&
             !forward.readLater.contains(next))
      waiting.insert(next);
  }
}

/// The sources of a kept value, the nearest first.
static SmallVector<Source> getSources(Value kept, const ForwardPass &forward,
                                      const Kept &all) {
  SmallVector<Source> sources;
  Source source{kept, {}};
  while (Operation *op = source.value.getDefiningOp()) {
    Value needed;
    for (Value operand : op->getOperands()) {
      if (all.available.contains(operand)) {
        addWaiting(operand, forward, all, source.waiting);
        continue;
      }
      if (needed && needed != operand)
        return sources;
      needed = operand;
    }
    if (!needed || !isCheap(op))
      return sources;
    source.value = needed;
    if (!isView(needed.getDefiningOp()))
      sources.push_back(source);
  }
  return sources;
}

/// Finds values to keep in place of larger ones that follow from them: for GELU
/// by erf its argument, instead of half of it and its quotient by the root of
/// 2. Also finds values as large as those that the forward pass makes only for
/// kernels of the backward pass, which can compute them on the way: logits
/// without their bias.
static llvm::DenseSet<Value> findSources(const ForwardPass &forward,
                                         const Kept &all) {
  struct Following {
    SmallVector<Value> values;
    llvm::SetVector<Value> waiting;
  };
  llvm::MapVector<Value, Following> following;
  for (Operation &op : forward.getBody())
    for (Value value : op.getResults())
      if (all.kept.contains(value))
        for (Source &source : getSources(value, forward, all)) {
          Following &entry = following[source.value];
          entry.values.push_back(value);
          entry.waiting.insert_range(source.waiting);
        }
  auto isForKernels = [&](Value value) {
    return forward.readByKernels.contains(value) &&
           !forward.sent.contains(value) &&
           llvm::all_of(value.getUsers(), [](Operation *user) {
             return user->hasTrait<OpTrait::IsTerminator>();
           });
  };
  AliasClasses classes(forward.getBody());
  std::vector<std::pair<int64_t, Value>> savings;
  for (auto &[source, entry] : following) {
    int64_t saved = -getLocalBytes(source.getType());
    for (Value value : entry.values)
      saved += getLocalBytes(value.getType());
    for (Value value : entry.waiting)
      saved -= getLocalBytes(value.getType());
    bool isLess = saved > 0 || (saved == 0 &&
                                !getGatheredParameter(source.getDefiningOp()) &&
                                llvm::all_of(entry.values, isForKernels));
    if (isLess && !isOverwritten(source, classes))
      savings.emplace_back(saved, source);
  }
  llvm::stable_sort(
      savings, [](const auto &a, const auto &b) { return a.first > b.first; });
  llvm::DenseSet<Value> sources, replaced;
  for (auto &[saved, source] : savings) {
    ArrayRef<Value> values = following[source].values;
    if (llvm::none_of(values,
                      [&](Value value) { return replaced.contains(value); })) {
      sources.insert(source);
      replaced.insert_range(values);
    }
  }
  return sources;
}

/// Keeps expensive values, or smaller ones from which they follow.
llvm::DenseSet<Value>
RecomputePolicy::keepSmallest(const ForwardPass &forward) const {
  SmallVector<Value> found = findCuts(forward);
  llvm::DenseSet<Value> cuts(found.begin(), found.end()), sources;
  while (true) {
    Kept all = keepExpensive(forward, cuts, sources);
    size_t known = sources.size();
    sources.insert_range(findSources(forward, all));
    if (sources.size() == known)
      return all.kept;
  }
}

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

FailureOr<RecomputePolicy> RecomputePolicy::parse(StringRef text,
                                                  Operation *op) {
  RecomputePolicy policy;
  if (text == "none")
    return policy;
  if (text == "all") {
    policy.kind = Kind::All;
  } else if (text == "except-last") {
    policy.kind = Kind::ExceptLast;
  } else if (text == "selective") {
    policy.kind = Kind::Selective;
  } else if (StringRef number = text; number.consume_front("every:")) {
    policy.kind = Kind::Every;
    if (number.getAsInteger(10, policy.distance) || policy.distance < 1)
      return op->emitError("cannot recompute '")
             << text << "', expected every:N with N at least 1";
  } else {
    policy.kind = Kind::Pattern;
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
    if (!glob)
      return op->emitError("cannot recompute '")
             << text << "': " << llvm::toString(glob.takeError());
    policy.pattern = std::move(*glob);
  }
  return policy;
}

bool RecomputePolicy::matches(Operation *op) const {
  if (!pattern)
    return false;
  // Ops without a node have the name of the file.
  ModuleOp root = op->getParentOfType<ModuleOp>();
  while (auto outer = root->getParentOfType<ModuleOp>())
    root = outer;
  auto file = root.getLoc()->findInstanceOf<NameLoc>();
  return op->getLoc()
      ->walk([&](Location part) {
        auto name = dyn_cast<NameLoc>(part);
        bool isNode = name && !(file && name.getName() == file.getName());
        return isNode && pattern->match(name.getName())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool RecomputePolicy::matchesNode(func::FuncOp forward) const {
  return llvm::any_of(forward.front(),
                      [&](Operation &op) { return matches(&op); });
}

llvm::DenseSet<Value>
RecomputePolicy::chooseKept(const ForwardPass &forward) const {
  if (kind == Kind::None)
    return forward.saved;
  llvm::DenseSet<Value> kept =
      kind == Kind::Selective ? keepSmallest(forward) : keepUnits(forward);
  kept.insert_range(forward.sent);
  return kept;
}

/// Keeps the cuts, and the saved values of units that are not recomputed.
llvm::DenseSet<Value>
RecomputePolicy::keepUnits(const ForwardPass &forward) const {
  SmallVector<Value> kept;
  for (auto [i, cut] : llvm::enumerate(findCuts(forward)))
    if ((i + 1) % distance == 0)
      kept.push_back(cut);

  llvm::DenseSet<Value> cuts(kept.begin(), kept.end());
  SmallVector<SmallVector<Operation *>> units(1);
  Block &body = forward.getBody();
  for (Operation &op : body.without_terminator()) {
    units.back().push_back(&op);
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return cuts.contains(result); }))
      units.emplace_back();
  }
  llvm::DenseSet<Value> result = cuts;
  for (ArrayRef<Operation *> unit : units) {
    bool isLast = unit.data() == units.back().data();
    bool isRecomputed =
        kind == Kind::Pattern
            ? llvm::any_of(unit, [&](Operation *op) { return matches(op); })
            : kind != Kind::ExceptLast || !isLast;
    if (isRecomputed)
      continue;
    for (Operation *op : unit)
      for (Value value : op->getResults())
        if (forward.saved.contains(value))
          result.insert(value);
  }
  return result;
}
