//===- BatchLayouts.cpp - layouts of the samples of a batch ---------------===//
//
// Layouts by the ops' sharding rules, for the batch alone.
//
//===----------------------------------------------------------------------===//

#include "dtc/Propagation/BatchLayouts.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Propagation/Propagation.h"

using namespace mlir;
using namespace dtc;

static bool isData(BlockArgument argument) {
  return getArgString(argument, attr::input) &&
         cast<ShapedType>(argument.getType()).getRank() > 0;
}

int64_t dtc::getExportedBatch(func::FuncOp forward) {
  int64_t batch = 0;
  for (BlockArgument argument : forward.getArguments())
    if (isData(argument))
      batch = cast<ShapedType>(argument.getType()).getDimSize(0);
  return batch;
}

LogicalResult dtc::splitIntoSamples(func::FuncOp forward, int64_t batch) {
  MLIRContext *context = forward.getContext();
  StringAttr time = StringAttr::get(context, MeshAttr::timeAxis);
  auto mesh = MeshAttr::get(context, ArrayRef(MeshAxis{time, batch}));
  for (BlockArgument argument : forward.getArguments()) {
    SmallVector<AxisLayout> entries;
    if (isData(argument))
      entries.push_back(AxisLayout::split(time, 0));
    argument.setType(withLayout(argument.getType(),
                                LayoutAttr::getCanonical(mesh, entries)));
  }
  Propagation propagation(forward, mesh);
  for (Operation &op :
       llvm::make_early_inc_range(forward.front().without_terminator()))
    if (auto norm = dyn_cast<BatchNormOp>(op)) // of any set of samples
      norm.getY().setType(
          withLayout(norm.getY().getType(), getLayout(norm.getX().getType())));
    else if (failed(propagation.propagate(&op)))
      return failure();
  eraseDeadOps(forward);
  return success();
}

llvm::DenseMap<Value, LayoutAttr> dtc::findSamples(func::FuncOp forward) {
  llvm::DenseMap<Value, LayoutAttr> layouts;
  // A batch of one sample looks like any other dimension of size 1.
  int64_t batch = getExportedBatch(forward);
  if (batch < 2)
    return layouts;
  OwningOpRef<func::FuncOp> copy = forward.clone();
  // Numbers identify ops that stay in the copy. If an op is rebuilt, its first
  // copy counts.
  constexpr StringLiteral number = "dtc.number";
  SmallVector<Operation *> ops;
  Builder builder(forward.getContext());
  for (auto [op, same] : llvm::zip(forward.front().without_terminator(),
                                   copy->front().without_terminator())) {
    same.setAttr(number, builder.getI64IntegerAttr(ops.size()));
    ops.push_back(&op);
  }
  ScopedDiagnosticHandler silent(forward.getContext(),
                                 [](Diagnostic &) { return success(); });
  if (failed(splitIntoSamples(*copy, batch)))
    return layouts;
  for (Operation &same : copy->front().without_terminator())
    if (auto own = same.getAttrOfType<IntegerAttr>(number))
      for (auto [result, followed] :
           llvm::zip(ops[own.getInt()]->getResults(), same.getResults()))
        layouts.try_emplace(result, getLayout(followed.getType()));
  return layouts;
}
