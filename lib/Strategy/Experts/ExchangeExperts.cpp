//===- ExchangeExperts.cpp - rows to the ranks of their experts -----------===//
//
// Products by chosen matrices become products in slots, whose experts an axis
// of the mesh splits.
//
//===----------------------------------------------------------------------===//

#include "DistinctIndices.h"
#include "ExpertSlots.h"
#include "Numbers.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/Axes.h"
#include <cmath>

namespace dtc {
#define GEN_PASS_DEF_EXCHANGEEXPERTS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The parameter that a value is, or is a reshape of, if an even split of its
/// first dimension splits that of the value; else null.
static BlockArgument findParameter(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    RankedTensorType whole = reshape.getX().getType();
    if (whole.getRank() == 0 ||
        whole.getDimSize(0) % typeOf(value).getDimSize(0) != 0)
      return {};
    value = reshape.getX();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && getArgString(argument, attr::parameter))
    return argument;
  return {};
}

namespace {

struct ExchangeExperts : dtc::impl::ExchangeExpertsBase<ExchangeExperts> {
  using ExchangeExpertsBase::ExchangeExpertsBase;

  void runOnOperation() override {
    if (ep == 1)
      return;
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step) || failed(exchange(*step)))
      signalPassFailure();
  }

private:
  LogicalResult exchange(func::FuncOp step) {
    llvm::SetVector<std::pair<Value, int64_t>> choices;
    for (auto product : step.getOps<GroupedMatMulOp>())
      choices.insert(
          {product.getIndices(), product.getWeights().getType().getDimSize(0)});
    if (choices.empty())
      return step.emitError("has no experts that --ep could split: expected "
                            "products by matrices that a router chooses; leave "
                            "out --ep");
    llvm::SetVector<Value> parameters;
    for (auto [indices, experts] : choices) {
      int64_t rows = typeOf(indices).getDimSize(0), ranks = ep;
      if (experts % ranks)
        return emitError(indices.getLoc())
               << "has " << experts << " experts, which --ep " << ranks
               << " does not divide; use a divisor of " << experts;
      if (rows % groups)
        return emitError(indices.getLoc())
               << "has " << rows << " rows for experts, which the "
               << int64_t(groups)
               << " parts of the batch do not divide; use a batch that dp x "
                  "microbatches x accumulate divides";
      ExpertSlots(indices, experts, groups, getCapacity(indices, experts))
          .run(step, parameters);
    }
    eraseDeadOps(step);
    return splitParameters(step, parameters);
  }

  /// The number of slots of an expert for a group.
  int64_t getCapacity(Value indices, int64_t experts) const {
    int64_t rows = typeOf(indices).getDimSize(0) / groups;
    int64_t distinct = findDistinct(indices);
    int64_t most = rows % distinct ? rows : rows / distinct;
    if (capacity == 0)
      return most;
    double wanted = std::ceil(capacity * double(rows) / double(experts));
    return static_cast<int64_t>(std::clamp(wanted, 1.0, double(most)));
  }

  /// Parameters of experts have their first dimension split over ep. A gather
  /// needs the whole table, so a table that one still reads is not split.
  LogicalResult splitParameters(func::FuncOp step,
                                const llvm::SetVector<Value> &parameters) {
    SignatureEditor signature(step);
    Builder builder(&getContext());
    llvm::SetVector<Value> split;
    for (Value value : parameters) {
      BlockArgument argument = findParameter(value);
      bool isOwn =
          argument && llvm::none_of(argument.getUsers(), [](Operation *user) {
            return isa<GatherOp>(user);
          });
      if (!isOwn)
        continue;
      split.insert(value);
      signature.setArg(argument.getArgNumber(), attr::splitDims,
                       builder.getDictionaryAttr(builder.getNamedAttr(
                           expertAxis, builder.getI64IntegerAttr(0))));
    }
    signature.write();
    if (split.empty())
      return step.emitError("computes the weights of all experts, so --ep "
                            "cannot split them: expected parameters [experts, "
                            ".., ..]; leave out --ep");
    auto warn = [&](Operation &op, StringRef why) {
      op.emitWarning("reads weights of experts that --ep does not split, "
                     "because ")
          << why << ": each rank has those of all experts";
    };
    for (Operation &op : step.front())
      if (auto product = dyn_cast<ExpertMatMulOp>(op)) {
        if (!split.contains(product.getWeights()))
          warn(op, "they are computed, or something else reads them whole");
      } else if (auto gather = dyn_cast<GatherOp>(op)) {
        if (gather.getTable().getType().getRank() > 2 &&
            gather.getBatchDims() == 0 && isFloatTensor(gather.getType()) &&
            !getConstant(gather.getIndices()))
          warn(op, "their product has a form that dtc does not know");
      }
    return success();
  }
};

} // namespace
