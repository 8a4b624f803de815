//===- MemoryPlan.cpp - memory of values ----------------------------------===//
//
// Lookups that PlanMemory and later passes share.
//
//===----------------------------------------------------------------------===//

#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Memory/MemoryPlanner.h"
#include "dtc/Plan/Skeleton.h"

using namespace mlir;
using namespace dtc;

MemoryHomes::MemoryHomes(func::FuncOp function, const AliasClasses &classes)
    : isPlan(function.getName() == planName), classes(classes) {
  // A returned slice is copied: the caller has no room for the whole buffer.
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
    if (Value root = classes.getRoot(returned.get());
        getLocalBytes(returned.get().getType()) ==
        getLocalBytes(root.getType()))
      results.try_emplace(root, returned.getOperandNumber());
}

MemoryHome MemoryHomes::get(Value value) const {
  if (isPlan)
    return {MemoryHome::Local};
  Value root = classes.getRoot(value);
  if (auto argument = dyn_cast<BlockArgument>(root))
    return {MemoryHome::Argument, argument.getArgNumber()};
  if (root.getDefiningOp<ConstantOp>())
    return {MemoryHome::Constant};
  auto result = results.find(root);
  if (result != results.end())
    return {MemoryHome::Result, result->second};
  return {MemoryHome::Local};
}

PlanArguments::Meaning PlanArguments::getMeaning(BlockArgument argument) {
  auto owner = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  for (StringRef key : {attr::input, attr::parameter, attr::state})
    if (Attribute name = owner.getArgAttr(argument.getArgNumber(), key))
      return {key, name};
  return {};
}

PlanArguments::PlanArguments(func::FuncOp plan) {
  for (BlockArgument argument : plan.getArguments())
    if (Meaning meaning = getMeaning(argument); meaning.second)
      arguments.try_emplace(meaning, argument);
}

BlockArgument PlanArguments::find(BlockArgument other) const {
  return arguments.lookup(getMeaning(other));
}

std::optional<int64_t> dtc::getPlannedOffset(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto owner = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto offset = owner.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                      attr::offset);
    return offset ? std::optional(offset.getInt()) : std::nullopt;
  }
  auto result = cast<OpResult>(value);
  auto offsets =
      result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(attr::offsets);
  if (!offsets || offsets.size() <= result.getResultNumber() ||
      offsets[result.getResultNumber()] == callersMemory)
    return std::nullopt;
  return offsets[result.getResultNumber()];
}

llvm::DenseMap<Value, BlockArgument>
dtc::getReplacedArguments(func::FuncOp plan, const AliasClasses &classes) {
  llvm::DenseMap<Attribute, BlockArgument> arguments[2];
  StringRef keys[2] = {attr::parameter, attr::state};
  for (auto [key, named] : llvm::zip_equal(keys, arguments))
    for (BlockArgument argument : plan.getArguments())
      if (Attribute name = plan.getArgAttr(argument.getArgNumber(), key))
        named[name] = argument;
  llvm::DenseMap<Value, BlockArgument> replaced;
  for (OpOperand &returned : plan.front().getTerminator()->getOpOperands())
    for (auto [key, named] : llvm::zip_equal(keys, arguments))
      if (Attribute name =
              plan.getResultAttr(returned.getOperandNumber(), key)) {
        Value root = classes.getRoot(returned.get());
        BlockArgument argument = named.lookup(name);
        if (argument && !isa<BlockArgument>(root) && root == returned.get() &&
            root.getType() == argument.getType())
          replaced[root] = argument;
      }
  return replaced;
}

int64_t dtc::getHostBytes(func::FuncOp plan) {
  auto bytes = plan->getAttrOfType<IntegerAttr>(attr::hostBytes);
  return bytes ? bytes.getInt() : 0;
}

llvm::DenseSet<Value> dtc::getHostArguments(func::FuncOp plan) {
  llvm::DenseSet<Value> arguments;
  for (BlockArgument argument : plan.getArguments())
    if (isInHostMemory(getPlannedOffset(argument).value_or(callersMemory)))
      arguments.insert(argument);
  if (arguments.empty())
    return arguments;
  AliasClasses classes(plan.front());
  for (auto run : plan.getOps<RunOp>())
    for (auto [input, argument] :
         llvm::zip_equal(run.getInputs(), getCallee(run).getArguments()))
      if (arguments.contains(classes.getRoot(input)))
        arguments.insert(argument);
  return arguments;
}

int64_t dtc::getBucketBytes(ValueRange operands) {
  int64_t bytes = 0;
  for (Value operand : operands)
    bytes = alignMemory(bytes) + getLocalBytes(operand.getType());
  return bytes;
}

int64_t dtc::getWholeBytes(CollectiveOpInterface op) {
  const CollectiveTraits &traits = op.getTraits();
  bool isOutputWhole = traits.input == Shares::One;
  return isOutputWhole ? getBucketBytes(op->getResults())
                       : getBucketBytes(op->getOperands());
}

int64_t dtc::getFrameBytes(RunOp run) {
  auto bytes = getCallee(run)->getAttrOfType<IntegerAttr>(attr::frameBytes);
  return bytes ? bytes.getInt() : 0;
}

namespace {

/// The adjacency constraints of a function's collectives.
struct Callee {
  AliasClasses classes;
  MemoryHomes homes;
  FailureOr<std::vector<SmallVector<Value>>> groups;
  FailureOr<InFlight> inFlight;

  explicit Callee(func::FuncOp function)
      : classes(function.front()), homes(function, classes),
        groups(getAdjacentRoots(function, classes, homes)),
        inFlight(getInFlight(function, classes)) {}
};

/// Analyses of functions: each is run many times and analysed once.
using Callees = llvm::DenseMap<Attribute, std::unique_ptr<Callee>>;

} // namespace

/// Maps roots of the callee to the caller's buffers.
static SmallVector<Value> getCallersRoots(RunOp run, const MemoryHomes &inside,
                                          ArrayRef<Value> roots,
                                          const AliasClasses &classes) {
  SmallVector<Value> outside;
  for (Value root : roots) {
    MemoryHome home = inside.get(root);
    if (home.kind == MemoryHome::Argument)
      outside.push_back(classes.getRoot(run.getInputs()[home.index]));
    else if (home.kind == MemoryHome::Result)
      outside.push_back(classes.getRoot(run.getResult(home.index)));
  }
  return outside;
}

FailureOr<std::vector<SmallVector<Value>>>
dtc::getAdjacentRoots(func::FuncOp function, const AliasClasses &classes,
                      const MemoryHomes &homes) {
  std::vector<SmallVector<Value>> groups;
  auto add = [&](SmallVector<Value> roots) {
    if (roots.size() > 1 && !llvm::is_contained(groups, roots))
      groups.push_back(std::move(roots));
  };
  Callees callees;
  for (Operation &op : function.front()) {
    if (auto run = dyn_cast<RunOp>(op)) {
      std::unique_ptr<Callee> &callee = callees[run.getCalleeAttr()];
      if (!callee)
        callee = std::make_unique<Callee>(getCallee(run));
      if (failed(callee->groups))
        return failure();
      for (ArrayRef<Value> roots : *callee->groups)
        add(getCallersRoots(run, callee->homes, roots, classes));
      continue;
    }
    if (!isa<CollectiveOpInterface>(op) || op.getNumOperands() < 2)
      continue;
    SmallVector<Value> roots;
    unsigned local = 0;
    for (Value operand : op.getOperands()) {
      roots.push_back(classes.getRoot(operand));
      local += homes.get(operand).kind == MemoryHome::Local;
    }
    if (local != 0 && local != roots.size())
      return op.emitOpError("has operands in and outside the frame of its "
                            "function, which cannot be adjacent");
    add(std::move(roots));
  }
  return groups;
}

FailureOr<InFlight> dtc::getInFlight(func::FuncOp function,
                                     const AliasClasses &classes) {
  InFlight result;
  Callees callees;
  // The wait of a send names its buffer.
  auto end = [&](Operation *op, Value awaited) {
    Value root = classes.getRoot(awaited);
    auto it = llvm::find_if(result.left, [&](const InFlight::Left &left) {
      return llvm::is_contained(left.made, root);
    });
    if (it != result.left.end()) {
      llvm::append_range(result.endedBy[op], it->touched);
      result.left.erase(it);
    } else if (auto argument = dyn_cast<BlockArgument>(root);
               argument && !awaited.getDefiningOp<SendOp>()) {
      result.awaited.push_back(argument.getArgNumber());
    }
  };
  for (Operation &op : function.front()) {
    if (auto wait = dyn_cast<WaitOp>(op)) {
      end(wait, wait.getX());
    } else if (isStart(&op) && !isa<SendOp>(op)) { // a send makes no value
      InFlight::Left &left = result.left.emplace_back();
      for (Value value : op.getResults())
        left.made.push_back(classes.getRoot(value));
      left.touched = left.made;
      for (Value value : op.getOperands())
        if (!classes.getRoot(value).getDefiningOp<ConstantOp>())
          left.touched.push_back(classes.getRoot(value));
    } else if (auto run = dyn_cast<RunOp>(op)) {
      std::unique_ptr<Callee> &callee = callees[run.getCalleeAttr()];
      if (!callee)
        callee = std::make_unique<Callee>(getCallee(run));
      if (failed(callee->inFlight))
        return failure();
      for (unsigned argument : callee->inFlight->awaited)
        end(run, run.getInputs()[argument]);
      for (const InFlight::Left &left : callee->inFlight->left) {
        auto translate = [&](ArrayRef<Value> roots) {
          return getCallersRoots(run, callee->homes, roots, classes);
        };
        result.left.push_back({translate(left.made), translate(left.touched)});
        if (result.left.back().touched.size() != left.touched.size())
          return getCallee(run).emitError("ends while a transfer touches its "
                                          "frame, expected it to be waited "
                                          "for, or its buffers to be the "
                                          "caller's");
      }
    }
  }
  return result;
}
