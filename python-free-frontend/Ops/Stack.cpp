//===- Stack.cpp - one computation for all iterations ---------------------===//
//
// See Stack.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/Stack.h"

#include "dtc/Dialect/Elementwise.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// The computation of all parts as one value.
struct Stacked {
  /// [parts, ...], or without that dimension if `isSame`. Null if the parts
  /// cannot be computed together.
  Value value;
  bool isSame = false;
};

class Stacker {
public:
  Stacker(NodeBuilder &node, int64_t count) : node(node), count(count) {}
  Stacked stack(ArrayRef<Value> parts);

private:
  Value stackSlices(ArrayRef<Value> parts);
  Value stackScalings(ArrayRef<Value> parts);
  Stacked stackOps(ArrayRef<Value> parts);
  Value stackOp(mlir::Operation *op, ArrayRef<Stacked> operands);
  Value stackElementwise(mlir::Operation *op, ArrayRef<Stacked> operands);
  Shape withParts(ArrayRef<int64_t> shape) const {
    Shape result{count};
    append_range(result, shape);
    return result;
  }

  NodeBuilder &node;
  int64_t count;
  /// Number of ops that the search may still visit.
  int budget = 256;
};

/// The tensor that a part is a range of (along dimension 0), and the start of
/// the range.
std::pair<Value, int64_t> findRange(Value part) {
  if (auto slice = part.getDefiningOp<SliceOp>())
    return slice.getAxis() == 0
               ? std::pair(slice.getX(), int64_t(slice.getStart()))
               : std::pair(Value(), int64_t(0));
  auto split = part.getDefiningOp<SplitOp>();
  if (!split || split.getAxis() != 0)
    return {};
  int64_t start = 0;
  for (Value before : split.getParts())
    if (before != part)
      start += NodeBuilder::shapeOf(before)[0];
    else
      break;
  return {split.getX(), start};
}

/// The factor of a part that is a tensor times a number.
std::optional<double> findFactor(Value part) {
  mlir::Operation *op = part.getDefiningOp();
  if (!isa_and_present<MulOp, DivOp>(op))
    return std::nullopt;
  auto constant = op->getOperand(1).getDefiningOp<ConstantOp>();
  auto factor = constant
                    ? dyn_cast<mlir::DenseFPElementsAttr>(constant.getValue())
                    : mlir::DenseFPElementsAttr();
  if (!factor || !factor.isSplat())
    return std::nullopt;
  double value = factor.getSplatValue<APFloat>().convertToDouble();
  return isa<DivOp>(op) ? 1 / value : value;
}
} // namespace

Value Stacker::stackSlices(ArrayRef<Value> parts) {
  Value whole = findRange(parts[0]).first;
  if (!whole || node.shapeOf(whole)[0] % count)
    return {};
  int64_t size = node.shapeOf(whole)[0] / count;
  for (auto [i, part] : enumerate(parts))
    if (findRange(part) != std::pair(whole, int64_t(i) * size) ||
        node.shapeOf(part)[0] != size)
      return {};
  Shape shape = withParts(node.shapeOf(whole));
  shape[1] = size;
  return node.reshape(whole, shape);
}

/// Stacks means. PyTorch's exporter writes some of them as products and some as
/// quotients.
Value Stacker::stackScalings(ArrayRef<Value> parts) {
  std::optional<double> factor = findFactor(parts[0]);
  Value scaling = parts[0];
  SmallVector<Value> operands;
  for (Value part : parts) {
    std::optional<double> other = findFactor(part);
    double bound = node.elementType(part).isF64() ? 1e-15 : 1e-7;
    if (!factor || !other || !std::isfinite(*factor) ||
        !(std::fabs(*factor - *other) <= bound * std::fabs(*factor)))
      return {};
    if (part.getDefiningOp<DivOp>())
      scaling = part;
    operands.push_back(part.getDefiningOp()->getOperand(0));
  }
  Stacked operand = stack(operands);
  if (!operand.value || operand.isSame)
    return {};
  mlir::Operation *op = scaling.getDefiningOp();
  return stackElementwise(op, {operand, {op->getOperand(1), true}});
}

/// Operands must keep their rank, since NumPy's broadcasting aligns the last
/// dimensions.
Value Stacker::stackElementwise(mlir::Operation *op,
                                ArrayRef<Stacked> operands) {
  auto type = cast<mlir::RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> values;
  for (auto [stacked, operand] : zip(operands, op->getOperands())) {
    Value value = stacked.value;
    if (!stacked.isSame) {
      Shape shape(type.getRank() - node.shapeOf(operand).size(), 1);
      append_range(shape, node.shapeOf(operand));
      value = node.reshape(value, withParts(shape));
    }
    values.push_back(value);
  }
  mlir::OpBuilder builder(op->getBlock(), op->getBlock()->end());
  mlir::Operation *all = builder.clone(*op);
  // Marks of a part are about other dimensions.
  all->setDiscardableAttrs(builder.getDictionaryAttr({}));
  all->setOperands(values);
  all->getResult(0).setType(type.clone(withParts(type.getShape())));
  return all->getResult(0);
}

/// Stacks `op`. At least one operand is not the same for all parts.
Value Stacker::stackOp(mlir::Operation *op, ArrayRef<Stacked> operands) {
  auto type = cast<mlir::RankedTensorType>(op->getResult(0).getType());
  Shape shape = withParts(type.getShape());
  if (isa<ReshapeOp>(op))
    return node.reshape(operands[0].value, shape);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Shape permutation{0};
    for (int64_t d : transpose.getPermutation())
      permutation.push_back(d + 1);
    return node.transpose(operands[0].value, permutation);
  }
  if (isElementwise(op) && !isa<DropoutOp>(op))
    return stackElementwise(op, operands);
  if (auto gather = dyn_cast<GatherOp>(op))
    return operands.size() == 2 && operands[0].isSame && !gather.getBatchDims()
               ? node.create<GatherOp>(operands[0].value, operands[1].value)
               : Value();
  auto axesOf = [](auto reduce) {
    Shape axes;
    for (int64_t axis : reduce.getAxes())
      axes.push_back(axis + 1);
    return axes;
  };
  if (auto sum = dyn_cast<ReduceSumOp>(op))
    return node.reduce<ReduceSumOp>(operands[0].value, axesOf(sum));
  if (auto maximum = dyn_cast<ReduceMaxOp>(op))
    return node.reduce<ReduceMaxOp>(operands[0].value, axesOf(maximum));
  return {};
}

Stacked Stacker::stackOps(ArrayRef<Value> parts) {
  mlir::Operation *first = parts[0].getDefiningOp();
  if (!first || first->getNumResults() != 1)
    return {};
  for (Value part : parts) {
    mlir::Operation *op = part.getDefiningOp();
    if (!op || op->getName() != first->getName() ||
        op->getAttrDictionary() != first->getAttrDictionary() ||
        op->getNumOperands() != first->getNumOperands())
      return {};
  }
  if (isa<ConstantOp>(first))
    return {parts[0], true};
  SmallVector<Stacked> operands;
  for (unsigned i = 0; i < first->getNumOperands(); ++i) {
    SmallVector<Value> ofParts;
    for (Value part : parts)
      ofParts.push_back(part.getDefiningOp()->getOperand(i));
    operands.push_back(stack(ofParts));
    if (!operands.back().value)
      return {};
  }
  if (all_of(operands, [](const Stacked &x) { return x.isSame; }))
    return {parts[0], true};
  return {stackOp(first, operands), false};
}

Stacked Stacker::stack(ArrayRef<Value> parts) {
  if (--budget < 0)
    return {};
  if (all_equal(parts))
    return {parts[0], true};
  for (Value part : parts)
    if (part.getType() != parts[0].getType())
      return {};
  if (Value value = stackSlices(parts))
    return {value, false};
  if (Value value = stackScalings(parts))
    return {value, false};
  return stackOps(parts);
}

Value joinRounds(NodeBuilder &node, ArrayRef<Value> parts, int64_t axis) {
  // A concatenation of unchanged slices stays.
  if (parts.size() < 2 || findRange(parts[0]).first)
    return {};
  Stacked all = Stacker(node, parts.size()).stack(parts);
  if (!all.value || all.isSame)
    return {};
  Shape shape(node.shapeOf(parts[0])), permutation;
  for (int64_t d = 0; d < int64_t(shape.size()) + 1; ++d)
    permutation.push_back(d == axis ? 0 : d < axis ? d + 1 : d);
  shape[axis] *= parts.size();
  return node.reshape(node.transpose(all.value, permutation), shape);
}

} // namespace dtc::frontend
