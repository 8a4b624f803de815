//===- InsertBoundaries.cpp - make stage crossings explicit ---------------===//
//
// Every value with uses on other stages reaches them through dtc.boundary.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include <map>

namespace dtc {
#define GEN_PASS_DEF_INSERTBOUNDARIES
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Uses of a value by stage.
using UsesByStage = std::map<int64_t, SmallVector<OpOperand *>>;

struct InsertBoundariesPass
    : dtc::impl::InsertBoundariesBase<InsertBoundariesPass> {
  using InsertBoundariesBase::InsertBoundariesBase;
  void runOnOperation() override;
};

} // namespace

static std::optional<int64_t> getStage(Operation *op) {
  if (auto stage = op->getAttrOfType<IntegerAttr>(attr::stage))
    return stage.getInt();
  return std::nullopt;
}

static UsesByStage getUses(Value value) {
  UsesByStage uses;
  for (OpOperand &use : value.getUses())
    if (std::optional<int64_t> stage = getStage(use.getOwner()))
      uses[*stage].push_back(&use);
  return uses;
}

static Operation *getFirstUser(ArrayRef<OpOperand *> uses) {
  Operation *first = uses.front()->getOwner();
  for (OpOperand *use : uses)
    if (use->getOwner()->isBeforeInBlock(first))
      first = use->getOwner();
  return first;
}

/// Relays `value` through all stages up to its last user's, and replaces the
/// uses on the way.
static void relay(Value value, int64_t stage, UsesByStage uses) {
  OpBuilder builder(value.getContext());
  uses.erase(stage);
  while (!uses.empty()) {
    // A hop must come before all users that it leads to.
    SmallVector<OpOperand *> ahead;
    for (auto &entry : uses)
      llvm::append_range(ahead, entry.second);
    builder.setInsertionPoint(getFirstUser(ahead));
    value =
        BoundaryOp::create(builder, value.getLoc(), value, stage, stage + 1);
    ++stage;
    for (OpOperand *use : uses[stage])
      use->set(value);
    uses.erase(stage);
  }
}

/// Sends a parameter from its owner, the first stage that uses it, directly to
/// each of the others. It crosses once a step, so a relay would only add
/// latency.
static void shareParameter(BlockArgument parameter, const UsesByStage &uses) {
  OpBuilder builder(parameter.getContext());
  for (auto &[stage, operands] : uses) {
    int64_t owner = uses.begin()->first;
    if (stage == owner)
      continue;
    builder.setInsertionPoint(getFirstUser(operands));
    Value copy = BoundaryOp::create(builder, parameter.getLoc(), parameter,
                                    owner, stage);
    for (OpOperand *use : operands)
      use->set(copy);
  }
}

/// Checks that stages never decrease along the graph, and that no value loses
/// its stage.
static LogicalResult verifyStages(func::FuncOp forward) {
  bool isValid = true;
  for (Operation &op : forward.front().without_terminator()) {
    std::optional<int64_t> stage = getStage(&op);
    if (!stage)
      continue;
    for (Operation *user : op.getUsers()) {
      if (isa<func::ReturnOp>(user))
        continue;
      std::optional<int64_t> next = getStage(user);
      if (next && *next >= *stage)
        continue;
      isValid = false;
      InFlightDiagnostic diagnostic = user->emitOpError();
      if (next)
        diagnostic << "is on stage " << *next;
      else
        diagnostic << "has no stage";
      diagnostic << ", expected stage " << *stage
                 << " or a later one, as it uses a value of that stage";
      diagnostic.attachNote(op.getLoc()) << "the value is computed here";
    }
  }
  return success(isValid);
}

void InsertBoundariesPass::runOnOperation() {
  FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
  if (failed(forward) || failed(verifyStages(*forward)))
    return signalPassFailure();
  for (BlockArgument argument : forward->getArguments())
    if (getArgString(argument, attr::parameter))
      shareParameter(argument, getUses(argument));
  for (Operation &op :
       llvm::make_early_inc_range(forward->front().without_terminator()))
    if (std::optional<int64_t> stage = getStage(&op))
      for (Value result : op.getResults())
        relay(result, *stage, getUses(result));
  for (Operation &op : forward->front())
    op.removeAttr(attr::stage);
}
