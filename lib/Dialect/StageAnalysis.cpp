//===- StageAnalysis.cpp - the pipeline stage of every value --------------===//
//
// Union-find merges the values of each op into groups. Boundaries set the
// stages of groups.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StageAnalysis.h"
#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Groups of values on one stage, with the stage once it is known.
class Groups {
public:
  bool contains(Value value) const { return ids.contains(value); }

  void insert(Value value) {
    if (ids.try_emplace(value, parents.size()).second) {
      parents.push_back(parents.size());
      stages.push_back(std::nullopt);
    }
  }

  std::optional<int64_t> getStage(Value value) {
    return stages[find(ids.at(value))];
  }

  /// Returns false, and changes nothing, if the stages differ.
  bool merge(Value a, Value b) {
    unsigned i = find(ids.at(a)), j = find(ids.at(b));
    if (i == j)
      return true;
    if (stages[i] && stages[j] && stages[i] != stages[j])
      return false;
    parents[j] = i;
    if (stages[j])
      stages[i] = stages[j];
    return true;
  }

  bool setStage(Value value, int64_t stage) {
    std::optional<int64_t> &known = stages[find(ids.at(value))];
    if (known && known != stage)
      return false;
    known = stage;
    return true;
  }

private:
  unsigned find(unsigned id) {
    while (parents[id] != id)
      id = parents[id] = parents[parents[id]];
    return id;
  }

  DenseMap<Value, unsigned> ids;
  SmallVector<unsigned> parents;
  SmallVector<std::optional<int64_t>> stages;
};

} // namespace

static LogicalResult addBoundary(BoundaryOp op, Groups &groups) {
  if (!groups.contains(op.getX()))
    return op.emitOpError("carries a value that every stage knows, expected "
                          "its users to use it directly");
  groups.insert(op.getY());
  groups.setStage(op.getY(), op.getTo());
  if (groups.setStage(op.getX(), op.getFrom()))
    return success();
  return op.emitOpError("starts from stage ")
         << op.getFrom() << ", but its operand is on stage "
         << *groups.getStage(op.getX());
}

static LogicalResult addOp(Operation *op, Groups &groups) {
  if (isa<SumOverStagesOp, func::ReturnOp>(op))
    return success();
  if (auto boundary = dyn_cast<BoundaryOp>(op))
    return addBoundary(boundary, groups);
  SmallVector<Value> values = llvm::filter_to_vector(
      op->getOperands(), [&](Value value) { return groups.contains(value); });
  if (values.empty())
    return success();
  for (Value result : op->getResults()) {
    groups.insert(result);
    values.push_back(result);
  }
  for (Value value : llvm::drop_begin(values))
    if (!groups.merge(values.front(), value))
      return op->emitOpError("mixes values of stages ")
             << *groups.getStage(values.front()) << " and "
             << *groups.getStage(value)
             << ", expected a dtc.boundary between them";
  return success();
}

FailureOr<StageAnalysis> StageAnalysis::compute(func::FuncOp step,
                                                int64_t leastStages) {
  Groups groups;
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (step.getArgAttr(number, attr::parameter) ||
        step.getArgAttr(number, attr::state))
      groups.insert(argument);
    if (auto stage = step.getArgAttrOfType<IntegerAttr>(number, attr::stage))
      groups.setStage(argument, stage.getInt());
  }
  bool isConsistent = true;
  for (Operation &op : step.front())
    isConsistent &= succeeded(addOp(&op, groups));
  if (!isConsistent)
    return failure();

  StageAnalysis analysis;
  analysis.numStages = leastStages;
  auto record = [&](Value value) {
    if (!groups.contains(value))
      return;
    int64_t stage = groups.getStage(value).value_or(0);
    analysis.stages[value] = stage;
    analysis.numStages = std::max(analysis.numStages, stage + 1);
  };
  llvm::for_each(step.getArguments(), record);
  for (Operation &op : step.front())
    llvm::for_each(op.getResults(), record);
  return analysis;
}

std::optional<int64_t> StageAnalysis::getStage(Value value) const {
  auto found = stages.find(value);
  if (found == stages.end())
    return std::nullopt;
  return found->second;
}
