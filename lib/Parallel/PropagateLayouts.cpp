//===- PropagateLayouts.cpp - layouts of all values -----------------------===//
//
// One forward pass by the ops' sharding rules. Correct first: a reshard
// wherever a rule does not hold.
//
//===----------------------------------------------------------------------===//

#include "dtc/Parallel/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Makes the operands of one op fit its rule and gives its results layouts.
class Propagation {
public:
  explicit Propagation(MeshAttr mesh) : mesh(mesh) {}

  LogicalResult propagate(Operation *op);

  /// The value under a layout, by a reshard if need be.
  Value reshard(Value value, LayoutAttr layout, OpBuilder &builder,
                Location location);

private:
  SmallVector<LayoutAttr> fitPartials(const ShardingRule &rule,
                                      SmallVector<LayoutAttr> operands);
  FactorAxes chooseAxes(const ShardingRule &rule,
                        ArrayRef<LayoutAttr> operands);

  MeshAttr mesh;
  DenseMap<std::pair<Value, LayoutAttr>, Value> resharded;
};

} // namespace

Value Propagation::reshard(Value value, LayoutAttr layout, OpBuilder &builder,
                           Location location) {
  if (getLayout(value.getType()) == layout)
    return value;
  Value &result = resharded[{value, layout}];
  if (result)
    return result;
  // A repeated value is made as it is needed, rather than made whole and cut.
  if (auto repeat = value.getDefiningOp<BroadcastOp>()) {
    std::string error;
    auto inferred = inferResultLayouts(repeat.getShardingRule(), mesh,
                                       {getLayout(repeat.getX().getType())},
                                       error, {layout});
    if (succeeded(inferred) && inferred->front() == layout)
      return result = BroadcastOp::create(builder, location,
                                          withLayout(value.getType(), layout),
                                          repeat.getX());
  }
  result = ReshardOp::create(builder, location,
                             withLayout(value.getType(), layout), value);
  return result;
}

/// On each axis, keeps the largest set of partial operands that the op is
/// linear in, and reduces the others.
SmallVector<LayoutAttr>
Propagation::fitPartials(const ShardingRule &rule,
                         SmallVector<LayoutAttr> operands) {
  for (const MeshAxis &axis : mesh.getAxes()) {
    auto isPartialSum = [&](unsigned i) {
      auto entry = operands[i].getEntry(axis.name);
      return entry && entry->isPartial() && entry->reduction == Reduction::sum;
    };
    ArrayRef<unsigned> kept;
    for (const auto &set : rule.linear)
      if (llvm::all_of(set, isPartialSum) && set.size() > kept.size())
        kept = set;
    for (auto [i, layout] : llvm::enumerate(operands))
      if (layout.isPartial(axis.name) && !llvm::is_contained(kept, i))
        layout = layout.without(axis.name.getValue());
  }
  return operands;
}

/// For each factor the axes that the first operand split by any gives it, as
/// far as they can be used once and all results can be written.
FactorAxes Propagation::chooseAxes(const ShardingRule &rule,
                                   ArrayRef<LayoutAttr> operands) {
  FactorAxes axes(rule.factors.size());
  for (auto [i, layout] : llvm::enumerate(operands))
    readFactorAxes(rule, rule.operands[i], layout, axes);
  llvm::SmallPtrSet<const void *, 8> used;
  for (const LayoutAttr &layout : operands)
    for (const AxisLayout &entry : layout.getEntries())
      if (entry.isPartial())
        used.insert(entry.axis.getAsOpaquePointer());
  for (auto [factor, list] : llvm::zip(rule.factors, axes)) {
    if (factor.kind == FactorKind::Replicated)
      list.clear();
    llvm::erase_if(list, [&](StringAttr axis) {
      return !used.insert(axis.getAsOpaquePointer()).second;
    });
  }
  for (const TensorFactors &tensor :
       llvm::concat<const TensorFactors>(rule.operands, rule.results))
    for (const DimFactors &dim : tensor)
      for (auto [i, factor] : llvm::enumerate(dim)) {
        int64_t left = rule.factors[factor].size;
        for (StringAttr axis : axes[factor])
          left /= mesh.getSize(axis.getValue());
        if (left == 1)
          continue;
        for (unsigned minor : ArrayRef(dim).drop_front(i + 1))
          axes[minor].clear();
        break;
      }
  return axes;
}

LogicalResult Propagation::propagate(Operation *op) {
  auto interface = dyn_cast<ShardingRuleInterface>(op);
  if (!interface)
    return op->emitOpError("has no sharding rule");
  ShardingRule rule = interface.getShardingRule();
  SmallVector<LayoutAttr> operands;
  for (Type type : op->getOperandTypes())
    operands.push_back(getLayout(type));

  std::string error;
  FailureOr<SmallVector<LayoutAttr>> results =
      inferResultLayouts(rule, mesh, operands, error);
  if (failed(results)) {
    SmallVector<LayoutAttr> wanted = fitPartials(rule, operands);
    FactorAxes axes = chooseAxes(rule, wanted);
    OpBuilder builder(op);
    for (auto [i, layout] : llvm::enumerate(wanted)) {
      std::optional<SmallVector<AxisLayout>> entries =
          writeFactorAxes(rule, rule.operands[i], mesh, axes);
      if (!entries)
        return op->emitOpError("operand ") << i << " cannot be split alike";
      for (const AxisLayout &entry : layout.getEntries())
        if (entry.isPartial())
          entries->push_back(entry);
      operands[i] = LayoutAttr::getCanonical(mesh, *entries);
      op->setOperand(
          i, reshard(op->getOperand(i), operands[i], builder, op->getLoc()));
    }
    results = inferResultLayouts(rule, mesh, operands, error);
    if (failed(results))
      return op->emitOpError("fits no layout of its operands: ") << error;
  }
  for (auto [result, layout] : llvm::zip(op->getResults(), *results))
    result.setType(withLayout(result.getType(), layout));
  return success();
}

namespace {

struct PropagateLayouts
    : public dtc::impl::PropagateLayoutsBase<PropagateLayouts> {
  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step) {
      getOperation().emitError("expected a function @step");
      return signalPassFailure();
    }
    if (failed(run(step)))
      signalPassFailure();
  }

  LogicalResult run(func::FuncOp step) {
    Block &block = step.getBody().front();
    for (BlockArgument argument : block.getArguments()) {
      auto layout = step.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(),
                                                      attr::layout);
      if (!layout)
        return step.emitError("argument ")
               << argument.getArgNumber() << " has no " << attr::layout;
      argument.setType(withLayout(argument.getType(), layout));
      step.removeArgAttr(argument.getArgNumber(), attr::layout);
    }
    if (step.getNumArguments() == 0)
      return step.emitError("expected at least one argument");

    Propagation propagation(
        getLayout(block.getArgument(0).getType()).getMesh());
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(propagation.propagate(&op)))
        return failure();

    // What leaves the step is whole: a new parameter lies as the old one, and
    // nothing is partial.
    Operation *terminator = block.getTerminator();
    OpBuilder builder(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value value = operand.get();
      operand.set(propagation.reshard(
          value, getLayout(value.getType()).withoutPartials(), builder,
          value.getLoc()));
    }
    step.setFunctionType(FunctionType::get(&getContext(),
                                           block.getArgumentTypes(),
                                           terminator->getOperandTypes()));
    return success();
  }
};

} // namespace
