//===- Aliases.cpp - which values share memory ----------------------------===//
//
// A result aliases an operand, which is defined before it: one walk in order
// finds every root.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/Aliases.h"

using namespace mlir;
using namespace dtc;

std::optional<Alias> dtc::getAlias(OpResult result) {
  Operation *op = result.getOwner();
  if (auto interface = dyn_cast<AliasInterface>(op))
    return interface.getAlias(result.getResultNumber());
  return std::nullopt;
}

bool dtc::isView(Operation *op) {
  return op->getNumResults() > 0 &&
         llvm::all_of(op->getResults(), [](OpResult result) {
           std::optional<Alias> alias = getAlias(result);
           return alias && alias->kind == AliasKind::View;
         });
}

int64_t dtc::getLocalBytes(Type type) {
  // What is split on the time axis is there for all of it.
  LayoutAttr layout = getLayout(type);
  RankedTensorType local = getLocalType(
      layout ? withLayout(type, layout.without(MeshAttr::timeAxis)) : type);
  return local.getNumElements() *
         llvm::divideCeil(local.getElementTypeBitWidth(), 8);
}

/// Where a view begins in its operand.
static int64_t getViewOffset(OpResult result) {
  if (auto slice = dyn_cast<SliceOp>(result.getOwner())) {
    RankedTensorType type = getLocalType(slice.getY().getType());
    int64_t size = type.getDimSize(slice.getAxis());
    return size == 0 ? 0
                     : slice.getStart() *
                           (getLocalBytes(slice.getY().getType()) / size);
  }
  if (auto rows = dyn_cast<MicrobatchOp>(result.getOwner()))
    return rows.getIndex() * getLocalBytes(result.getType());
  return 0;
}

AliasClasses::AliasClasses(Block &body) {
  auto add = [&](Value value, Value root, int64_t offset) {
    places[value] = {root, offset};
    members[root].push_back(value);
  };
  for (Value argument : body.getArguments())
    add(argument, argument, 0);
  for (Operation &op : body)
    for (OpResult result : op.getResults()) {
      if (std::optional<Alias> alias = getAlias(result)) {
        Place base = places.lookup(op.getOperand(alias->operand));
        add(result, base.root, base.offset + getViewOffset(result));
      } else {
        add(result, result, 0);
      }
    }
}

void dtc::annotateUpdates(func::FuncOp function) {
  AliasClasses classes(function.front());
  Builder builder(function.getContext());
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
    if (auto argument =
            dyn_cast<BlockArgument>(classes.getRoot(returned.get())))
      function.setArgAttr(
          argument.getArgNumber(), attr::update,
          builder.getI64IntegerAttr(returned.getOperandNumber()));
}
