//===- ScaleBatch.cpp - change a fixed batch size -------------------------===//
//
// Only types contain the batch size. Layouts on a mesh whose time axis has the
// size of the exported batch show its dimensions.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Propagation/BatchLayouts.h"
#include "dtc/Strategy/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_SCALEBATCH
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct ScaleBatch : public dtc::impl::ScaleBatchBase<ScaleBatch> {
  using ScaleBatchBase::ScaleBatchBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
    if (failed(forward))
      return signalPassFailure();
    int64_t exported = getExportedBatch(*forward);
    if (batch == 0 || exported == 0 || exported == batch)
      return;
    if (failed(follow(*forward, exported)))
      return signalPassFailure();
    scale(*forward, exported);
  }

  /// Gives values layouts that split the batch into its samples. Fails if
  /// samples are mixed.
  LogicalResult follow(func::FuncOp forward, int64_t exported) {
    if (failed(splitIntoSamples(forward, exported)))
      return failure();
    Block &body = forward.front();
    for (auto reshard : body.getOps<ReshardOp>())
      return emitMixed(reshard.getLoc(), exported);
    for (Value result : body.getTerminator()->getOperands())
      if (getLayout(result.getType()).hasPartial())
        return emitMixed(result.getLoc(), exported);
    return success();
  }

  LogicalResult emitMixed(Location location, int64_t exported) {
    return emitError(location)
           << "mixes the " << exported
           << " samples of a batch, so the batch size cannot be "
           << int64_t(batch)
           << "; export a model with that size or a dynamic one, and use --dp "
              "with a number, or --batch-dim if the batch is another dimension";
  }

  void scale(func::FuncOp forward, int64_t exported) {
    auto scaleType = [&](Value value) {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<int64_t> shape(type.getShape());
      for (const AxisLayout &split : getLayout(type).getEntries())
        shape[split.dim] = shape[split.dim] / exported * batch;
      value.setType(RankedTensorType::get(shape, type.getElementType()));
    };
    Block &body = forward.front();
    llvm::for_each(body.getArguments(), scaleType);
    for (Operation &op : body)
      llvm::for_each(op.getResults(), scaleType);
    forward.setFunctionType(
        FunctionType::get(&getContext(), body.getArgumentTypes(),
                          body.getTerminator()->getOperandTypes()));
  }
};

} // namespace
