//===- CollectiveOps.cpp - constraints of layout changes ------------------===//
//
// Verifies the constraints that the ops' documentation numbers: which layout
// changes into which.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/Permutation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dtc;

static LogicalResult verifyLayoutsAndShape(Operation *op, Type from, Type to) {
  if (!haveSameShapes(from, to))
    return op->emitOpError("changes ")
           << from << " to " << to << ", expected a change of layout only";
  LayoutAttr x = getLayout(from), y = getLayout(to);
  if (!x || !y || x.getMesh() != y.getMesh())
    return op->emitOpError("needs layouts over one mesh on both sides, found ")
           << from << " and " << to;
  return success();
}

static LogicalResult expectLayout(Operation *op, Type type,
                                  LayoutAttr expected) {
  if (getLayout(type) == expected)
    return success();
  return op->emitOpError("result has layout ")
         << getLayout(type) << ", expected " << expected;
}

static SmallVector<StringRef> getNames(ArrayAttr axes) {
  return llvm::to_vector(axes.getAsValueRange<StringAttr>());
}

//===----------------------------------------------------------------------===//
// Shared by all collectives
//===----------------------------------------------------------------------===//

int64_t dtc::detail::countMembers(Operation *collective) {
  LayoutAttr layout;
  for (Type type : collective->getOperandTypes())
    if (!layout)
      layout = getLayout(type);
  int64_t members = 1;
  if (layout)
    for (StringRef axis :
         getNames(cast<CollectiveOpInterface>(collective).getAxes()))
      members *= layout.getMesh().getSize(axis);
  return members;
}

int64_t dtc::detail::countBlocks(Type whole, std::optional<int64_t> dim) {
  return llvm::product_of(
      getLocalType(whole).getShape().take_front(dim.value_or(0)));
}

LogicalResult dtc::detail::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  if (op->getNumOperands() == 0 || op->getNumOperands() != op->getNumResults())
    return op->emitOpError("has ")
           << op->getNumOperands() << " operands and " << op->getNumResults()
           << " results, expected as many, at least one";
  llvm::StringSet<> names;
  for (StringRef axis : getNames(collective.getAxes()))
    if (!names.insert(axis).second)
      return op->emitOpError("names axis ") << axis << " twice";
  Type first = getElementTypeOrSelf(op->getOperand(0));
  for (Value x : op->getOperands())
    if (getElementTypeOrSelf(x) != first)
      return op->emitOpError("mixes element types ")
             << first << " and " << getElementTypeOrSelf(x) << " in one bucket";
  return success();
}

//===----------------------------------------------------------------------===//

LogicalResult ReshardOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  for (const AxisLayout &entry : getLayout(getY().getType()).getEntries())
    if (entry.isPartial() && x.getEntry(entry.axis) != entry)
      return emitOpError("makes the value partial on ")
             << entry.axis.getValue() << ", which it was not";
  return success();
}

LogicalResult SumMicrobatchesOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  std::optional<AxisLayout> time = x.getEntry(MeshAttr::timeAxis);
  bool isOne = x.getMesh().getSize(MeshAttr::timeAxis) == 1;
  if (!time || !time->isPartial() ||
      (time->reduction != Reduction::sum && !isOne))
    return emitOpError("operand has layout ")
           << x << ", expected partial(sum) on " << MeshAttr::timeAxis;
  return expectLayout(*this, getY().getType(), x.without(MeshAttr::timeAxis));
}

LogicalResult AsPartialOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  SmallVector<AxisLayout> entries(x.without(getNames(getAxes())).getEntries());
  for (StringAttr axis : getAxes().getAsRange<StringAttr>()) {
    bool isFree = x.isSplit(axis) && x.getMesh().getSize(axis) == 1;
    if (x.getEntry(axis) && !isFree)
      return emitOpError("operand has layout ")
             << x << ", expected none on " << axis;
    entries.push_back(AxisLayout::partial(axis, Reduction::sum));
  }
  return expectLayout(*this, getY().getType(),
                      LayoutAttr::getCanonical(x.getMesh(), entries));
}

std::optional<Alias> AsPartialOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

/// Checks that every operand is partial with this reduction on all axes.
static LogicalResult verifyPartial(Operation *op, Type type, ArrayAttr axes,
                                   Reduction reduction) {
  LayoutAttr layout = getLayout(type);
  for (StringRef axis : getNames(axes)) {
    std::optional<AxisLayout> entry =
        layout ? layout.getEntry(axis) : std::nullopt;
    if (!entry || !entry->isPartial() || entry->reduction != reduction)
      return op->emitOpError("operand is ")
             << type << ", expected partial(" << stringifyReduction(reduction)
             << ") on " << axis;
  }
  return success();
}

/// The layout without the axes, which must be the minor splits of a dimension,
/// in this order; null if they are not, or if they split it in pieces.
static LayoutAttr withoutMinorAxes(LayoutAttr layout, ArrayAttr axes,
                                   int64_t dim) {
  if (llvm::any_of(layout.getSplitsOfDim(dim),
                   [](const AxisLayout &entry) { return entry.pieces > 1; }))
    return {};
  SmallVector<StringAttr> splits = layout.getAxesOfDim(dim);
  if (splits.size() < axes.size() ||
      !llvm::equal(ArrayRef(splits).take_back(axes.size()),
                   axes.getAsRange<StringAttr>()))
    return {};
  return layout.without(getNames(axes));
}

LogicalResult AllReduceOp::verify() {
  for (auto [x, y] : llvm::zip(getX(), getY()))
    if (failed(verifyLayoutsAndShape(*this, x.getType(), y.getType())) ||
        failed(verifyPartial(*this, x.getType(), getAxes(), getReduction())) ||
        failed(
            expectLayout(*this, y.getType(),
                         getLayout(x.getType()).without(getNames(getAxes())))))
      return failure();
  return success();
}

std::optional<Alias> AllReduceOp::getAlias(unsigned result) {
  return Alias{result, AliasKind::Update};
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(
          verifyLayoutsAndShape(*this, getX().getType(), getY().getType())) ||
      failed(verifyPartial(*this, getX().getType(), getAxes(), getReduction())))
    return failure();
  LayoutAttr x = getLayout(getX().getType()).without(getNames(getAxes()));
  SmallVector<AxisLayout> entries(x.getEntries());
  for (StringAttr axis : getAxes().getAsRange<StringAttr>())
    entries.push_back(AxisLayout::split(axis, getDim()));
  return expectLayout(*this, getY().getType(),
                      LayoutAttr::getCanonical(x.getMesh(), entries));
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType());
  LayoutAttr expected = withoutMinorAxes(x, getAxes(), getDim());
  if (!expected)
    return emitOpError("operand has layout ")
           << x << ", expected " << getAxes()
           << " as the minor splits of dimension " << getDim();
  return expectLayout(*this, getY().getType(), expected);
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  int64_t rank = getX().getType().getRank();
  if (getFrom() == getTo() || getTo() >= static_cast<uint64_t>(rank))
    return emitOpError("splits dimension ")
           << getTo() << " instead of " << getFrom() << ", expected another of "
           << rank;
  LayoutAttr x = getLayout(getX().getType());
  LayoutAttr rest = withoutMinorAxes(x, getAxes(), getFrom());
  if (!rest)
    return emitOpError("operand has layout ")
           << x << ", expected " << getAxes()
           << " as the minor splits of dimension " << getFrom();
  SmallVector<AxisLayout> entries(rest.getEntries());
  for (StringAttr axis : getAxes().getAsRange<StringAttr>())
    entries.push_back(AxisLayout::split(axis, getTo()));
  return expectLayout(*this, getY().getType(),
                      LayoutAttr::getCanonical(x.getMesh(), entries));
}

LogicalResult CollectivePermuteOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr x = getLayout(getX().getType()), y = getLayout(getY().getType());
  int64_t members = detail::countMembers(*this);
  if (!isPermutation(getSources(), members))
    return emitOpError("has sources ")
           << getSourcesAttr() << ", expected each of 0 to " << members - 1
           << " once";
  SmallVector<StringRef> axes = getNames(getAxes());
  for (StringRef axis : axes)
    if (x.isPartial(axis) || y.isPartial(axis))
      return emitOpError("moves parts of a sum on ")
             << axis << ", expected shards";
  if (x == y)
    return success();
  if (x.without(axes) != y.without(axes))
    return emitOpError("changes layout ")
           << x << " to " << y << ", expected a change on " << getAxes()
           << " only";
  if (!getsOwnShards(x, y, axes, getX().getType().getRank(), getSources()))
    return emitOpError("does not give each member its shard under ") << y;
  return success();
}

LogicalResult LocalSliceOp::verify() {
  if (failed(verifyLayoutsAndShape(*this, getX().getType(), getY().getType())))
    return failure();
  LayoutAttr y = getLayout(getY().getType());
  LayoutAttr expected = withoutMinorAxes(y, getAxes(), getDim());
  if (!expected || expected != getLayout(getX().getType()))
    return emitOpError("result has layout ")
           << y << ", expected that of the operand with " << getAxes()
           << " as the minor splits of dimension " << getDim();
  return success();
}
