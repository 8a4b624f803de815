//===- PropagateLayouts.cpp - layouts of all values -----------------------===//
//
// Propagates the layouts of arguments through the step. Results leave it in the
// layouts that plans store.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Parallel/Passes.h"
#include "dtc/Propagation/Propagation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct PropagateLayouts
    : public dtc::impl::PropagateLayoutsBase<PropagateLayouts> {
  using PropagateLayoutsBase::PropagateLayoutsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PropagateLayoutsBase::getDependentDialects(registry);
    registerSplitExpansions(registry);
  }

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
    SignatureEditor signature(step);
    for (BlockArgument argument : block.getArguments()) {
      auto layout = step.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(),
                                                      attr::layout);
      if (!layout)
        return step.emitError("argument ")
               << argument.getArgNumber() << " has no " << attr::layout;
      argument.setType(withLayout(argument.getType(), layout));
      signature.removeArg(argument.getArgNumber(), attr::layout);
    }
    signature.write();
    if (step.getNumArguments() == 0)
      return step.emitError("expected at least one argument");

    MeshAttr mesh = getLayout(block.getArgument(0).getType()).getMesh();
    Propagation propagation(step, mesh, replicasAtLaunch);
    for (BlockArgument argument : block.getArguments())
      if (!step.getArgAttr(argument.getArgNumber(), attr::input))
        propagation.addStored(argument);
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (!isa<ReshardOp>(op) && failed(propagation.propagate(&op)))
        return failure();

    // Parameters, state and gradients keep their layouts when they leave the
    // step. All other partial results are reduced.
    llvm::StringMap<LayoutAttr> kept;
    for (BlockArgument argument : block.getArguments())
      for (StringRef key : {attr::parameter, attr::state})
        if (auto name =
                step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), key))
          kept[name] = getLayout(argument.getType());
    Operation *terminator = block.getTerminator();
    OpBuilder builder(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value value = operand.get();
      LayoutAttr layout = getLayout(value.getType()).withoutPartials();
      if (mesh.getSize(MeshAttr::timeAxis) == 1 &&
          !isRecorded(step, operand.getOperandNumber()))
        layout = layout.without(MeshAttr::timeAxis);
      for (StringRef key : {attr::parameter, attr::state, attr::gradient})
        if (auto name = step.getResultAttrOfType<StringAttr>(
                operand.getOperandNumber(), key))
          if (LayoutAttr own = kept.lookup(name))
            layout = own;
      operand.set(propagation.reshard(value, layout, builder, value.getLoc()));
    }
    // Erase originals of ops that were rebuilt in parts, and rebuilds that
    // failed.
    eraseDeadOps(step);
    step.setFunctionType(FunctionType::get(&getContext(),
                                           block.getArgumentTypes(),
                                           terminator->getOperandTypes()));
    return success();
  }
};

} // namespace
