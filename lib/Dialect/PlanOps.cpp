//===- PlanOps.cpp - constraints and aliases of plan ops ------------------===//
//
// Calls of a stage's functions and of kernels, and micro-batch views.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Looks in enclosing symbol tables, too: kernels are not in the nearest one.
static FunctionOpInterface lookupCallee(Operation *op, SymbolRefAttr callee) {
  for (Operation *scope = op; (scope = scope->getParentOp());)
    if (scope->hasTrait<OpTrait::SymbolTable>())
      if (Operation *found = SymbolTable::lookupSymbolIn(scope, callee))
        return dyn_cast<FunctionOpInterface>(found);
  return {};
}

/// The operand whose argument in the called function is overwritten by this
/// result.
static std::optional<Alias> getAliasOfCall(FunctionOpInterface function,
                                           unsigned result) {
  if (!function)
    return std::nullopt;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto update = function.getArgAttrOfType<IntegerAttr>(i, attr::update))
      if (update.getInt() == result)
        return Alias{i, AliasKind::Update};
  return std::nullopt;
}

static LogicalResult verifyCall(Operation *op, SymbolRefAttr callee,
                                llvm::function_ref<Type(Type)> expected) {
  FunctionOpInterface function = lookupCallee(op, callee);
  if (!function)
    return op->emitOpError("calls ") << callee << ", which is not a function";
  // A lowered function takes buffers.
  if (!llvm::all_of(function.getArgumentTypes(),
                    llvm::IsaPred<RankedTensorType>))
    return success();
  auto agree = [&](TypeRange types, ArrayRef<Type> declared) {
    return llvm::equal(types, declared,
                       [&](Type a, Type b) { return expected(a) == b; });
  };
  if (!agree(op->getOperandTypes(), function.getArgumentTypes()) ||
      !agree(op->getResultTypes(), function.getResultTypes()))
    return op->emitOpError("calls ")
           << callee << " of type " << function.getFunctionType()
           << " with other types";
  return success();
}

FunctionOpInterface RunOp::getFunction() {
  return lookupCallee(*this, getCalleeAttr());
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyCall(*this, getCalleeAttr(), [](Type type) { return type; });
}

std::optional<Alias> RunOp::getAlias(unsigned result) {
  return getAliasOfCall(getFunction(), result);
}

FunctionOpInterface LaunchOp::getFunction() {
  return lookupCallee(*this, getKernelAttr());
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyCall(*this, getKernelAttr(),
                    [](Type type) { return getLocalType(type); });
}

std::optional<Alias> LaunchOp::getAlias(unsigned result) {
  return getAliasOfCall(getFunction(), result);
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

std::optional<Alias> SendOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

std::optional<Alias> AccumulateOp::getAlias(unsigned) {
  return Alias{1, AliasKind::Update};
}
