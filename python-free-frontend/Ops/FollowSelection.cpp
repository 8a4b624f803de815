//===- FollowSelection.cpp - operators on masked values -------------------===//
//
// See FollowSelection.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/FollowSelection.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

using Result = std::optional<Selection>;

/// Refuses a node: "WHAT the elements that a mask selects WITH".
static Error refuse(const Twine &what, const Twine &with = "") {
  return problem(what + " the elements that a mask selects" + with +
                     "; their number depends on data",
                 "supported are elementwise operators, products with weights, "
                 "reductions, losses, and writing values back at the mask; use "
                 "torch.where for others");
}

static bool isLoss(StringRef op) {
  return op == "SoftmaxCrossEntropyLoss" || op == "NegativeLogLikelihoodLoss";
}

/// Whether the operator reduces dimensions, so that `reduction` has a rule for
/// it.
static bool isReduction(StringRef op) { return op.starts_with("Reduce"); }

/// The selection of a masked operand; null for other operands.
static const Selection *findSelected(const Call &call, unsigned operand) {
  return call.is(operand, ValueKind::Masked)
             ? &*call.operands[operand].selection
             : nullptr;
}

bool areAllInOrder(const HostTensor *coordinates, ArrayRef<int64_t> shape) {
  if (!coordinates || coordinates->rank() != 2)
    return false;
  int64_t count = coordinates->shape()[0], dims = coordinates->shape()[1];
  if (dims > int64_t(shape.size()) ||
      numElements(shape.take_front(dims)) != count)
    return false;
  Shape strides = rowMajorStrides(shape.take_front(dims));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t d = 0; d < dims; ++d)
      if (coordinates->getInt(i * dims + d) != i / strides[d] % shape[d])
        return false;
  return true;
}

bool selectsRows(const Call &call) {
  const Result &rows = call.operands[0].selection;
  const Selection &places = *call.operands[1].selection;
  return rows ? *rows == Selection{places.within, 0} &&
                    areAllInOrder(call.operands[1].constant, call.shape(0))
              : places.within < 0;
}

bool joinsSelected(const Call &call) {
  StringRef op = call.node.op_type();
  if (!call.readsSelection())
    return false;
  if (isLoss(op) || op == "ScatterND")
    return true;
  const Selection *selected = findSelected(call, 0);
  if (!isReduction(op) || !selected)
    return false;
  Expected<Reduction> plan = reduction(call);
  if (!plan) {
    consumeError(plan.takeError()); // the node's own rule reports the error
    return false;
  }
  return is_contained(plan->axes, selected->dim);
}

/// Whether the operator only moves the numbers of a shape.
static bool movesShapes(StringRef op) {
  return is_contained({"Cast", "Concat", "Gather", "Identity", "Reshape",
                       "Slice", "Squeeze", "Unsqueeze"},
                      op);
}

/// Whether the operator computes with the numbers of a shape.
static bool computes(const Operator &op) {
  return (op.isElementwise && !movesShapes(op.name)) || isReduction(op.name);
}

bool needsMask(const Call &call, const Operator &op) {
  return joinsSelected(call) ||
         any_of(call.operands, [&](const Operand &operand) {
           return operand.kind() == ValueKind::Count &&
                  (computes(op) ||
                   (operand.selection->inner == 0 && movesShapes(op.name)));
         });
}

bool readsNumber(const Call &call, const Operator &op, unsigned operand) {
  return call.is(operand, ValueKind::Count) && (operand == 0 || computes(op));
}

namespace {
/// Finds the selection of a node's results from those of its operands.
class Follower {
public:
  Follower(const Call &call, const Operator &row, ArrayRef<int64_t> result)
      : call(call), row(row), op(row.name), result(result) {}

  Expected<Result> follow();

  // One rule for each kind of operator.
  Expected<Result> followElements() { return followAligned(0); }
  Expected<Result> followProduct();
  Expected<Result> followReshape();
  Expected<Result> followUnits();
  Expected<Result> followExpanded();
  Expected<Result> followSlice();
  Expected<Result> followGather();
  Expected<Result> followJoined();
  Expected<Result> followReduced();
  Expected<Result> followReduction();
  Expected<Result> followLoss();
  Expected<Result> followScatter();
  Expected<Result> followGatherND();
  Expected<Result> followShape();
  Expected<Result> followSize() { return countOf(0, 0); }
  Expected<Result> followTranspose();
  Expected<Result> followRows();
  Expected<Result> followSamples();

private:
  bool hasShapesOnly() const;
  std::optional<unsigned> findCount() const;
  bool movesPlaces(unsigned operand) const;
  Expected<Result> followCount(unsigned operand);
  Expected<Result> followAligned(unsigned keptDims);
  Selection first() const { return *call.operands[0].selection; }
  Result at(int64_t dim) const {
    Selection selection = first();
    selection.dim = dim;
    return selection;
  }
  /// A shape whose element `element` is the number of places times `inner`. An
  /// `inner` of 0 means an unknown factor.
  Result countOf(int64_t element, int64_t inner) const {
    return Selection{first().mask, element, inner, first().within,
                     /*isCount=*/true};
  }
  /// Whether only the first operand has a selection.
  bool isOnlyFirst() const {
    return none_of(drop_begin(call.operands),
                   [](const Operand &operand) { return operand.selection; });
  }

  const Call &call;
  const Operator &row;
  StringRef op;
  ArrayRef<int64_t> result;
};
} // namespace

/// Aligns dimensions from the last one, as NumPy does, except the last
/// `keptDims`. Operands with a selection must select along the same dimension.
/// All other operands must broadcast along it.
Expected<Result> Follower::followAligned(unsigned keptDims) {
  Result found;
  int64_t rank = result.size();
  for (unsigned i = 0; i < call.operands.size(); ++i)
    if (const Selection *selected = findSelected(call, i)) {
      Selection own = *selected;
      own.dim += rank - call.rank(i);
      if (own.dim >= rank - int64_t(keptDims) || (found && !(*found == own)))
        return refuse("combines", " with other values");
      found = own;
    }
  if (!found)
    return Result();
  for (unsigned i = 0; i < call.operands.size(); ++i) {
    int64_t dim = found->dim - rank + call.rank(i);
    if (call.hasOperand(i) && !findSelected(call, i) && dim >= 0 &&
        call.shape(i)[dim] != 1)
      return refuse("combines",
                    " with " + Twine(call.shape(i)[dim]) + " values");
  }
  return found;
}

/// Rows of the first operand, or columns of the second, stay apart.
Expected<Result> Follower::followProduct() {
  int64_t rank = result.size(), ownRank = call.rank(0);
  bool isGemm = op == "Gemm";
  const Selection *left = findSelected(call, 0);
  int64_t row = isGemm && call.getInt("transA", 0) ? ownRank - 1 : ownRank - 2;
  bool addsToRows =
      !call.hasOperand(2) || call.rank(2) < 2 || call.shape(2)[0] == 1;
  if (left && isOnlyFirst() && ownRank >= 2 && left->dim == row && addsToRows)
    return at(call.rank(1) == 1 ? rank - 1 : rank - 2);
  if (isGemm || ownRank < 2 || call.rank(1) < 2)
    return refuse("multiplies and adds");
  return followAligned(2);
}

/// Finds a result dimension that has the places again, with as many elements
/// before and after it. A constant size in the file would be a wrong count.
Expected<Result> Follower::followReshape() {
  ArrayRef<int64_t> from = call.shape(0);
  Selection own = first();
  int64_t places = from[own.dim] / own.inner;
  int64_t before = numElements(from.take_front(own.dim));
  const HostTensor *shape =
      op == "Reshape" ? call.operands[1].constant : nullptr;
  const Result &count = call.operands.size() > 1 ? call.operands[1].selection
                                                 : call.operands[0].selection;
  auto mayBe = [&](int64_t d) {
    if (!shape)
      return true;
    if (!count)
      return shape->getInt(d) <= 0;
    return count->inner == 0 ? result.size() == 1 : d == count->dim;
  };
  for (int64_t d = 0, rank = result.size(); d < rank && places > 1; ++d)
    if (result[d] % places == 0 &&
        numElements(result.take_front(d)) == before && mayBe(d)) {
      own.dim = d;
      own.inner = result[d] / places;
      return own;
    }
  return refuse("reshapes");
}

/// Repeats the value along other dimensions. The shape may contain the number
/// of places, at the dimension that has the places.
Expected<Result> Follower::followExpanded() {
  const Result &count = call.operands[1].selection;
  int64_t more = int64_t(result.size()) - call.rank(0),
          dim = first().dim + more;
  if (result[dim] != call.shape(0)[first().dim] ||
      (count &&
       (call.rank(1) != 1 || count->inner != first().inner ||
        count->dim + int64_t(result.size()) - call.shape(1)[0] != dim)))
    return refuse("repeats");
  return at(dim);
}

/// Adds or removes dimensions of size 1.
Expected<Result> Follower::followUnits() {
  auto axes = call.getIntsOrOperand("axes", 1);
  if (!axes)
    return axes.takeError();
  bool isMore = op == "Unsqueeze";
  int64_t rank = isMore ? int64_t(result.size()) : call.rank(0), dim = 0;
  std::vector<int64_t> units = axes->value_or(std::vector<int64_t>());
  for (int64_t &axis : units)
    axis += axis < 0 ? rank : 0;
  for (int64_t d = 0; !*axes && d < rank; ++d)
    if (call.shape(0)[d] == 1)
      units.push_back(d);
  if (!isMore) {
    if (is_contained(units, first().dim))
      return refuse("reshapes");
    return at(first().dim - count_if(units, [&](int64_t axis) {
                return axis < first().dim;
              }));
  }
  for (int64_t own = 0; dim < rank; ++dim)
    if (!is_contained(units, dim) && own++ == first().dim)
      break;
  return at(dim);
}

Expected<Result> Follower::followSlice() {
  auto ranges = sliceRanges(call);
  if (!ranges)
    return ranges.takeError();
  // A count as a bound means all selected elements.
  for (const Operand &bound : drop_begin(call.operands))
    if (bound.selection &&
        (ranges->size() != 1 || ranges->front().axis != first().dim ||
         bound.selection->mask != first().mask ||
         bound.selection->inner != first().inner))
      return refuse("takes a part of");
  for (const DimRange &range : *ranges) {
    if (first().isCount) {
      int64_t place = first().dim - range.start;
      if (range.step != 1)
        return refuse("reads the number of");
      return place >= 0 && place < range.size ? at(place) : Result();
    }
    if (range.axis != first().dim)
      continue;
    if (range.start != 0 || range.step != 1 ||
        range.size != call.shape(0)[range.axis])
      return refuse("takes a part of");
  }
  return at(first().dim);
}

Expected<Result> Follower::followGather() {
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  const Result &indices = call.operands[1].selection;
  if (!call.operands[0].selection) {
    if (indices->isCount || indices->isPlace)
      return refuse("looks up the number of");
    Selection rows = *indices;
    rows.dim += *axis;
    return rows;
  }
  if (indices || *axis == first().dim)
    return refuse("looks up one of");
  return at(first().dim < *axis ? first().dim : first().dim + call.rank(1) - 1);
}

/// All operands must select along the same dimension, which is not the axis.
Expected<Result> Follower::followJoined() {
  auto axis = normalizeAxis(call.getInt("axis", 0), call.rank(0));
  if (!axis)
    return axis.takeError();
  for (const Operand &operand : call.operands)
    if (!findSelected(call, 0) || !operand.selection ||
        !(*operand.selection == first()) || first().dim == *axis)
      return refuse("combines", " with other values");
  return at(first().dim);
}

Expected<Result> Follower::followReduced() {
  Expected<Reduction> plan = reduction(call);
  if (!plan)
    return plan.takeError();
  int64_t dim = first().dim;
  if (is_contained(plan->axes, dim))
    return Result();
  if (!call.getInt("keepdims", 1))
    dim -= count_if(plan->axes, [&](int64_t axis) { return axis < dim; });
  return at(dim);
}

bool Follower::hasShapesOnly() const {
  return all_of(call.operands, [](const Operand &operand) {
    return !operand.present ||
           (operand.constant && operand.kind() != ValueKind::Masked);
  });
}

/// Finds a count that makes the result a count, or that the operator's rule
/// does not expect. A rule expects a count that is computed with other values,
/// and one in the shape or bound for a selection.
std::optional<unsigned> Follower::findCount() const {
  bool readsShape = op == "Reshape" || op == "Expand" || op == "Slice";
  for (auto [i, operand] : enumerate(call.operands)) {
    if (operand.kind() != ValueKind::Count)
      continue;
    bool isExpected = computes(row)
                          ? !hasShapesOnly()
                          : readsShape && i > 0 && call.operands[0].selection;
    if (!isExpected)
      return i;
  }
  return std::nullopt;
}

/// Whether the operator moves coordinates, or uses them for a lookup.
bool Follower::movesPlaces(unsigned operand) const {
  bool looksUp = op == "GatherND" || op == "ScatterND";
  return looksUp ? operand == 1
                 : operand == 0 && (movesShapes(op) || op == "Transpose" ||
                                    op == "Expand" || op == "Shape" ||
                                    (op == "Max" && call.operands.size() == 1));
}

/// An operator that only moves a shape, or its count, returns one. Arithmetic
/// on a count gives a number that other shapes may contain.
Expected<Result> Follower::followCount(unsigned operand) {
  Selection count = *call.operands[operand].selection;
  if (hasShapesOnly() &&
      (computes(row) || (count.inner == 0 && movesShapes(op))))
    return Selection{count.mask, 0, 0, -1, /*isCount=*/true};
  if (count.inner == 0)
    return refuse("reads the number of");
  if ((op == "ConstantOfShape" || (op == "Expand" && operand == 1)) &&
      call.rank(operand) == 1) {
    if (op == "Expand")
      count.dim += int64_t(result.size()) - call.shape(1).front();
    count.isCount = false;
    return count;
  }
  if (op == "Slice" && operand == 0)
    return followSlice();
  if (op == "Concat" && isOnlyFirst())
    return count;
  if (op == "Gather" && operand == 0 && call.operands[1].constant &&
      call.operands[1].constant->size() == 1) {
    int64_t index = call.operands[1].constant->getInt(0);
    bool isIt = index == count.dim || index + call.shape(0)[0] == count.dim;
    return isIt ? at(0) : Result();
  }
  if (operand == 0 && movesShapes(op) && op != "Slice" && op != "Concat" &&
      op != "Gather")
    return count;
  return refuse("reads the number of");
}

/// A reduced loss has no selection. A loss that is not reduced has an element
/// for each place.
Expected<Result> Follower::followLoss() {
  return call.getString("reduction", "mean") == "none" ? at(0) : Result();
}

Expected<Result> Follower::followReduction() {
  if (!call.operands[0].selection)
    return refuse("reads");
  return findSelected(call, 0) ? followReduced() : Result();
}

/// Values that are written back at the places that selected them.
Expected<Result> Follower::followScatter() {
  if (findSelected(call, 1) && selectsRows(call))
    return call.operands[0].selection;
  return Result();
}

/// Rows that the coordinates of a mask look up.
Expected<Result> Follower::followGatherND() {
  if (!findSelected(call, 1) || !selectsRows(call) ||
      findSelected(call, 1)->dim >= call.rank(1) - 1)
    return refuse("reads");
  Selection rows = *call.operands[1].selection;
  rows.isPlace = false;
  return rows;
}

Expected<Result> Follower::followShape() {
  int64_t start = call.getInt("start", 0);
  int64_t place = first().dim - (start < 0 ? start + call.rank(0) : start);
  return place >= 0 && place < result[0] ? countOf(place, first().inner)
                                         : Result();
}

Expected<Result> Follower::followTranspose() {
  auto permutation = transposePermutation(call);
  if (!permutation)
    return permutation.takeError();
  return at(find(*permutation, first().dim) - permutation->begin());
}

/// Operators along an axis keep rows apart if the selection is not along the
/// axis.
Expected<Result> Follower::followRows() {
  // Before opset 13 Softmax joins all dimensions from the axis on, by default
  // 1.
  bool isLast = op != "ArgMax" && op != "ArgMin" && op != "Split";
  bool isOld = op.ends_with("max") && call.opset < 13;
  auto axis = normalizeAxis(call.getInt("axis", !isLast ? 0
                                                : isOld ? 1
                                                        : -1),
                            call.rank(0));
  if (!axis)
    return axis.takeError();
  bool isDropped = !isLast && op != "Split" && !call.getInt("keepdims", 1);
  bool isApart = isLast ? first().dim < *axis : first().dim != *axis;
  if (!isOnlyFirst() || !isApart || (isOld && *axis != call.rank(0) - 1))
    return refuse("reads");
  return at(first().dim - (isDropped && *axis < first().dim));
}

/// The operator treats each sample separately.
Expected<Result> Follower::followSamples() {
  if (!isOnlyFirst() || first().dim != 0)
    return refuse("reads");
  return at(0);
}

namespace {
struct SelectionRule {
  Expected<Result> (Follower::*follow)() = nullptr;
  /// Whether operand 0 must have a selection.
  bool needsFirst = true;
};
} // namespace

/// Null for operators that refuse elements that a mask selects.
static const SelectionRule *findRule(const Operator &op) {
  static const SelectionRule aligned = {&Follower::followElements, false},
                             reduction = {&Follower::followReduction, false};
  static const StringMap<SelectionRule> rules = {
      {"ArgMax", {&Follower::followRows}},
      {"ArgMin", {&Follower::followRows}},
      {"AveragePool", {&Follower::followSamples}},
      {"Concat", {&Follower::followJoined, false}},
      {"Conv", {&Follower::followSamples}},
      {"ConvTranspose", {&Follower::followSamples}},
      {"Dropout", aligned},
      {"Expand", {&Follower::followExpanded}},
      {"Flatten", {&Follower::followReshape}},
      {"Gather", {&Follower::followGather, false}},
      {"GatherElements", {&Follower::followJoined, false}},
      {"GatherND", {&Follower::followGatherND, false}},
      {"Gemm", {&Follower::followProduct, false}},
      {"GlobalAveragePool", {&Follower::followSamples}},
      {"GlobalMaxPool", {&Follower::followSamples}},
      {"GroupNormalization", {&Follower::followSamples}},
      {"Hardmax", {&Follower::followRows}},
      {"InstanceNormalization", {&Follower::followSamples}},
      {"LayerNormalization", {&Follower::followRows}},
      {"LogSoftmax", {&Follower::followRows}},
      {"MatMul", {&Follower::followProduct, false}},
      {"MaxPool", {&Follower::followSamples}},
      {"NegativeLogLikelihoodLoss", {&Follower::followLoss, false}},
      {"RMSNormalization", {&Follower::followRows}},
      {"Reshape", {&Follower::followReshape}},
      {"ScatterND", {&Follower::followScatter, false}},
      {"Shape", {&Follower::followShape}},
      {"Size", {&Follower::followSize}},
      {"Slice", {&Follower::followSlice}},
      {"Softmax", {&Follower::followRows}},
      {"SoftmaxCrossEntropyLoss", {&Follower::followLoss, false}},
      {"Split", {&Follower::followRows}},
      {"Squeeze", {&Follower::followUnits}},
      {"Transpose", {&Follower::followTranspose}},
      {"Unsqueeze", {&Follower::followUnits}},
  };
  if (op.isElementwise)
    return &aligned;
  if (isReduction(op.name))
    return &reduction;
  auto found = rules.find(op.name);
  return found == rules.end() ? nullptr : &found->second;
}

Expected<Result> Follower::follow() {
  if (std::optional<unsigned> count = findCount())
    return followCount(*count);
  for (unsigned i = 0; i < call.operands.size(); ++i)
    if (const Selection *selected = findSelected(call, i);
        selected && selected->isPlace && !movesPlaces(i))
      return refuse("computes with the places of");
  const SelectionRule *rule = findRule(row);
  if (!rule || (rule->needsFirst && !call.operands[0].selection))
    return refuse("reads");
  return (this->*rule->follow)();
}

Expected<Result> followSelection(const Call &call, const Operator &op,
                                 ArrayRef<int64_t> result) {
  return Follower(call, op, result).follow();
}

} // namespace dtc::frontend
