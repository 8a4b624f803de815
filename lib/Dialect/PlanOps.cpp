//===- PlanOps.cpp - constraints and aliases of plan ops ------------------===//
//
// Calls of a stage's functions and of kernels, and micro-batch views.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace dtc;

/// The operand whose argument of the called function says that it becomes this
/// result.
static std::optional<Alias> getAliasOfCall(Operation *op, SymbolRefAttr callee,
                                           unsigned result) {
  auto function =
      SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(op, callee);
  if (!function)
    return std::nullopt;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto update = function.getArgAttrOfType<IntegerAttr>(i, attr::update))
      if (update.getInt() == result)
        return Alias{i, AliasKind::Update};
  return std::nullopt;
}

static LogicalResult verifyCall(Operation *op, SymbolRefAttr callee,
                                SymbolTableCollection &symbols,
                                bool withLayouts) {
  auto function =
      symbols.lookupNearestSymbolFrom<FunctionOpInterface>(op, callee);
  if (!function)
    return op->emitOpError("calls ") << callee << ", which is not a function";
  auto agree = [&](TypeRange a, TypeRange b) {
    return withLayouts ? a == b : llvm::equal(a, b, [](Type x, Type y) {
      return getLocalType(x) == y;
    });
  };
  if (!agree(op->getOperandTypes(), function.getArgumentTypes()) ||
      !agree(op->getResultTypes(), function.getResultTypes()))
    return op->emitOpError("calls ")
           << callee << " of type " << function.getFunctionType()
           << " with other types";
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCall(*this, getCalleeAttr(), symbols, /*withLayouts=*/true);
}

std::optional<Alias> RunOp::getAlias(unsigned result) {
  return getAliasOfCall(*this, getCalleeAttr(), result);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCall(*this, getKernelAttr(), symbols, /*withLayouts=*/false);
}

std::optional<Alias> LaunchOp::getAlias(unsigned result) {
  return getAliasOfCall(*this, getKernelAttr(), result);
}

LogicalResult MicrobatchOp::verify() {
  LayoutAttr x = getLayout(getX().getType()), y = getLayout(getY().getType());
  if (!x || !y)
    return emitOpError("needs layouts");
  SmallVector<StringAttr> axes = x.getAxesOfDim(0);
  if (axes.empty() || axes.front() != MeshAttr::timeAxis)
    return emitOpError("operand has layout ")
           << x << ", expected dimension 0 split on " << MeshAttr::timeAxis
           << " first";
  int64_t count = x.getMesh().getSize(MeshAttr::timeAxis);
  if (static_cast<int64_t>(getIndex()) < 0 ||
      static_cast<int64_t>(getIndex()) >= count)
    return emitOpError("index ")
           << getIndex() << " is not below the " << count << " micro-batches";
  SmallVector<int64_t> shape(getX().getType().getShape());
  shape[0] /= count;
  auto expected = RankedTensorType::get(
      shape, getX().getType().getElementType(), x.without(MeshAttr::timeAxis));
  if (getY().getType() != expected)
    return emitOpError("result is ")
           << getY().getType() << ", expected " << expected;
  return success();
}

std::optional<Alias> MicrobatchOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

std::optional<Alias> AccumulateOp::getAlias(unsigned) {
  return Alias{1, AliasKind::Update};
}
