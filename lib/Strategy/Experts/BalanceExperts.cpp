//===- BalanceExperts.cpp - biases that balance the load of experts -------===//
//
// A router adds biases to scores before it chooses experts. They have no
// gradient: after each step, they move against the numbers of rows that chose
// each expert (Wang et al., arXiv 2408.15664, algorithm 1).
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"

namespace dtc {
#define GEN_PASS_DEF_BALANCEEXPERTS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The parameter of this name with an element for each expert that a choice of
/// experts depends on, not through a product; null if there is none.
static BlockArgument findBiases(Value indices, int64_t experts,
                                const llvm::GlobPattern &names) {
  llvm::SetVector<Value> before;
  before.insert(indices);
  for (unsigned i = 0; i < before.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(before[i])) {
      auto type = cast<RankedTensorType>(argument.getType());
      StringAttr name = getArgString(argument, attr::parameter);
      if (name && names.match(name) && isFloatTensor(type) &&
          type.getNumElements() == experts)
        return argument;
      continue;
    }
    Operation *op = before[i].getDefiningOp();
    if (!op->hasTrait<Product>())
      before.insert(op->operand_begin(), op->operand_end());
  }
  return {};
}

/// Indices before they have crossed to the stage of the product: the biases are
/// where the router is.
static Value findOrigin(Value indices) {
  Value origin = indices;
  for (Operation *op = indices.getDefiningOp();
       op && isa<ReshapeOp, CastOp, BoundaryOp>(op);
       op = op->getOperand(0).getDefiningOp())
    if (isa<BoundaryOp>(op))
      origin = op->getOperand(0);
  return origin;
}

namespace {

struct BalanceExperts : dtc::impl::BalanceExpertsBase<BalanceExperts> {
  using BalanceExpertsBase::BalanceExpertsBase;

  void runOnOperation() override {
    if (update == 0)
      return;
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step) || failed(balance(*step)))
      signalPassFailure();
  }

private:
  LogicalResult balance(func::FuncOp step) {
    llvm::Expected<llvm::GlobPattern> names =
        llvm::GlobPattern::create(StringRef(biases));
    if (!names)
      return step.emitError("cannot read --expert-biases '")
             << biases << "': " << llvm::toString(names.takeError());
    llvm::MapVector<BlockArgument, Value> choices;
    for (auto product : step.getOps<GroupedMatMulOp>()) {
      int64_t experts = product.getWeights().getType().getDimSize(0);
      if (BlockArgument own = findBiases(product.getIndices(), experts, *names))
        choices.insert({own, product.getIndices()});
    }
    if (choices.empty())
      return step.emitError("has no biases for --expert-bias-update: expected "
                            "names that match '")
             << biases
             << "', of tensors with an element for each expert that a router "
                "adds to scores; --expert-biases says other names";
    Results results;
    results.keep(step, attr::output);
    results.keep(step, attr::parameter);
    for (auto [own, indices] : choices) {
      for (StringRef name : {attr::frozen, attr::statistic})
        step.setArgAttr(own.getArgNumber(), name, UnitAttr::get(&getContext()));
      results.add(buildUpdate(own, findOrigin(indices)), attr::parameter,
                  getArgString(own, attr::parameter));
    }
    results.assignTo(step);
    return success();
  }

  /// old + update * sign(mean - rows of each expert).
  Value buildUpdate(BlockArgument old, Value indices) {
    auto type = cast<RankedTensorType>(old.getType());
    Type element = type.getElementType();
    int64_t experts = type.getNumElements();
    int64_t rows = cast<ShapedType>(indices.getType()).getNumElements();
    OpBuilder b(getReturn(cast<func::FuncOp>(old.getOwner()->getParentOp())));
    Location loc = indices.getLoc();
    auto number = [&](double x) { return createNumber(b, loc, element, x); };
    Value flat = ReshapeOp::create(
        b, loc, RankedTensorType::get({rows}, getElementTypeOrSelf(indices)),
        indices);
    Value chosen = OneHotOp::create(
        b, loc, RankedTensorType::get({rows, experts}, b.getI1Type()), flat);
    Value counts = ReduceSumOp::create(
        b, loc,
        CastOp::create(b, loc, RankedTensorType::get({rows, experts}, element),
                       chosen),
        ArrayRef<int64_t>{0});
    Value mean = MulOp::create(
        b, loc, ReduceSumOp::create(b, loc, counts, ArrayRef<int64_t>{1}),
        number(1.0 / double(experts)));
    auto stepIf = [&](Comparison predicate, double size) -> Value {
      Value is = CompareOp::create(b, loc, predicate, counts, mean);
      return SelectOp::create(b, loc, is, number(size), number(0));
    };
    Value change = AddOp::create(b, loc, stepIf(Comparison::lt, update),
                                 stepIf(Comparison::gt, -update));
    change = ReshapeOp::create(b, loc, type, change);
    return AddOp::create(b, loc, old, change);
  }
};

} // namespace
