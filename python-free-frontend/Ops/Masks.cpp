//===- Masks.cpp - operators that combine selected elements ---------------===//
//
// See Masks.h.
//
//===----------------------------------------------------------------------===//

#include "Ops/Masks.h"
#include "Ops/FollowSelection.h"
#include "Ops/KnownValues.h"
#include "Ops/Take.h"
#include "Shapes/ShapeRules.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

using Pairs = DenseSet<std::pair<Value, Value>>;

/// Whether two values are the same, or the same computation of the same values.
/// Compares each pair only once, since a network has many paths from one value
/// to another.
static bool areEqual(Value a, Value b, Pairs &compared) {
  mlir::Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (a == b || !compared.insert({a, b}).second)
    return true;
  return x && y && x->getName() == y->getName() && mlir::isPure(x) &&
         x->getAttrDictionary() == y->getAttrDictionary() &&
         llvm::equal(x->getResultTypes(), y->getResultTypes()) &&
         cast<mlir::OpResult>(a).getResultNumber() ==
             cast<mlir::OpResult>(b).getResultNumber() &&
         x->getNumOperands() == y->getNumOperands() &&
         all_of(zip(x->getOperands(), y->getOperands()), [&](auto operands) {
           return areEqual(std::get<0>(operands), std::get<1>(operands),
                           compared);
         });
}

Expected<Masks::Places> Masks::select(NodeBuilder &node) {
  Value mask = node.operand(0);
  if (node.call.operands[0].dtype != DType::Bool)
    mask = node.compare(Comparison::ne, mask, node.scalar(0, mask));
  Shape shape(node.shapeOf(mask));
  int64_t rank = shape.size(), places = numElements(shape);
  if (rank == 0 || places == 0)
    return problem("operand has shape " + toString(shape) +
                   ", expected a mask with elements");
  if (Error error = requireFoldable({rank, places}))
    return std::move(error);
  // The mask of rows may be repeated along the elements of the rows.
  Value whole = mask;
  for (int64_t d = 1; d < rank && mask == whole; ++d)
    if (Value repeated = getRepeated(node, whole, d))
      mask = repeated;
  const std::optional<Selection> &selection = node.call.operands[0].selection;
  int within = selection ? selection->mask : -1;
  if (selection) {
    if (!(*selection == Selection{within, 0}))
      return problem("is a mask of elements that another mask selects, but not "
                     "of whole rows",
                     "use one mask, or torch.where");
    mask = fill(node, mask, *selection, 0);
  }
  auto found = find_if(masks, [&](Value other) {
    Pairs compared;
    return areEqual(other, mask, compared);
  });
  Selection selected = {int(found - masks.begin()), /*dim=*/1,
                        places / numElements(node.shapeOf(mask)), within};
  selected.isPlace = within >= 0;
  if (found == masks.end())
    masks.push_back(mask);
  HostTensor coordinates(DType::I64, {rank, places});
  Shape strides = rowMajorStrides(shape);
  for (int64_t d = 0; d < rank; ++d)
    for (int64_t i = 0; i < places; ++i)
      coordinates.setInt(d * places + i, i / strides[d] % shape[d]);
  return Places{std::move(coordinates), selected};
}

/// The number of selected elements, as a double.
Value Masks::countSelected(NodeBuilder &node, int number) const {
  Value mask = node.cast(masks[number], DType::F64);
  Shape axes;
  for (size_t d = 0; d < node.shapeOf(mask).size(); ++d)
    axes.push_back(d);
  return node.reshape(node.reduce<ReduceSumOp>(mask, axes), {});
}

Value Masks::count(NodeBuilder &node, const Selection &selection,
                   const HostTensor &known) const {
  HostTensor isCount(DType::Bool, Shape(known.shape()));
  isCount.setInt(selection.dim, 1);
  Value places = node.constant(known.cast(DType::F64));
  double all = double(numElements(node.shapeOf(masks[selection.mask])));
  Value share = node.elementwise<DivOp>({places, node.scalar(all, places)});
  Value own = node.mul(share, countSelected(node, selection.mask));
  return node.cast(node.select(node.constant(isCount), own, places),
                   known.dtype());
}

/// Replaces the elements of `x` where the mask is false.
Value Masks::fill(NodeBuilder &node, Value x, const Selection &selection,
                  double otherwise) const {
  Shape shape(node.shapeOf(x).size(), 1);
  int64_t size = shape[selection.dim] = node.shapeOf(x)[selection.dim];
  int64_t places = size / selection.inner;
  Value mask = node.reshape(masks[selection.mask], {places, 1});
  mask = node.reshape(node.broadcast(mask, {places, selection.inner}), shape);
  return node.select(mask, x, node.scalar(otherwise, x));
}

/// Replaces unselected elements by a number that does not change the reduction.
/// A mean divides by the number of selected elements.
Error Masks::buildReduction(ImportRule rule, NodeBuilder &node,
                            Value &operand) const {
  StringRef op = node.call.node.op_type();
  bool isLargest = op == "ReduceMax" || op == "ReduceLogSumExp";
  if ((isLargest || op == "ReduceMin" || op == "ReduceMean") &&
      !isFloat(node.call.operands[0].dtype))
    return problem("computes the maximum, the minimum or the mean of integers "
                   "that a mask selects",
                   "cast them to floats");
  Selection selection = *node.call.operands[0].selection;
  operand = fill(node, operand, selection,
                 isLargest            ? -INFINITY
                 : op == "ReduceMin"  ? INFINITY
                 : op == "ReduceProd" ? 1
                                      : 0);
  if (Error error = rule(node))
    return error;
  if (op != "ReduceMean")
    return Error::success();
  Value count = countSelected(node, selection.mask),
        mask = masks[selection.mask];
  Value places = node.scalar(double(numElements(node.shapeOf(mask))), count);
  Value mean = node.getResults()[0];
  Value factor = node.cast(node.elementwise<DivOp>({places, count}),
                           fromType(node.elementType(mean)));
  node.setResult(0, node.mul(mean, factor));
  return Error::success();
}

/// Writes values at the places of a mask, or adds values there.
Error Masks::buildScatter(NodeBuilder &node) const {
  const Call &call = node.call;
  StringRef reduction = call.getString("reduction", "none");
  const auto &to = call.operands[1].selection;
  const auto &from = call.operands[2].selection;
  const HostTensor *known = call.operands[2].constant;
  ArrayRef<int64_t> shape = call.shape(0);
  auto refuse = [] {
    return problem("writes values elsewhere than at the mask that selects them",
                   "use torch.where");
  };
  if (!to || to->isCount || to->dim != 0 || call.rank(1) != 2 ||
      !selectsRows(call) || (reduction != "none" && reduction != "add"))
    return refuse();
  Value mask = masks[to->mask];
  Shape places(node.shapeOf(mask));
  bool fits = shape.take_front(places.size()) == ArrayRef(places) &&
              areAllInOrder(call.operands[1].constant, shape);
  bool isUniform = known && known->compacted().size() == 1;
  if (!fits || (from ? !(*from == *to) : !isUniform))
    return refuse();
  places.append(shape.size() - places.size(), 1);
  Value base = node.operand(0);
  Value updates = from ? node.reshape(node.operand(2), shape)
                       : node.constant(known->view({}, {}));
  if (reduction == "add")
    updates = node.add(base, updates);
  node.setResult(0, node.select(node.reshape(mask, places), updates, base));
  return Error::success();
}

/// Expands to the number of selected elements, which the model counts, and to
/// known sizes of other dimensions.
Error Masks::buildExpand(ImportRule rule, NodeBuilder &node) const {
  const Call &call = node.call;
  if (call.operands[1].constant)
    return rule(node);
  auto join = node.operand(1).getDefiningOp<ConcatOp>();
  SmallVector<Value> parts = {node.operand(1)};
  if (join)
    parts.assign(join.getParts().begin(), join.getParts().end());
  bool isSame = call.rank(1) == 1 && call.rank(0) == call.shape(1).front();
  int64_t d = 0;
  for (Value part : parts) {
    std::optional<HostTensor> known = getKnownInts(part);
    for (int64_t i = 0; isSame && i < node.shapeOf(part).front(); ++i, ++d)
      isSame =
          known ? known->getInt(i) == 1 || known->getInt(i) == call.shape(0)[d]
                : d == call.operands[0].selection->dim;
  }
  if (!isSame)
    return problem("repeats elements that a mask selects, and the number of "
                   "repetitions depends on data",
                   "repeat the tensor before the mask selects elements");
  node.setResult(0, node.operand(0));
  return Error::success();
}

/// Replaces unselected elements by a number where the operator is finite and
/// has a derivative.
void Masks::guardOperands(NodeBuilder &node,
                          MutableArrayRef<Value> operands) const {
  struct Guard {
    StringRef op;
    double number;
    unsigned first; ///< first guarded operand
  };
  static const Guard guards[] = {{"Log", 1, 0},
                                 {"Sqrt", 1, 0},
                                 {"Reciprocal", 1, 0},
                                 {"Pow", 1, 0},
                                 {"Div", 1, 1},
                                 {"Mod", 1, 1},
                                 {"Exp", 0, 0},
                                 {"Sinh", 0, 0},
                                 {"Cosh", 0, 0},
                                 {"Tan", 0, 0},
                                 {"Asin", 0, 0},
                                 {"Acos", 0, 0},
                                 {"Atanh", 0, 0},
                                 {"Acosh", 2, 0},
                                 {"ReduceLogSum", 1, 0},
                                 {"Gather", 0, 1},
                                 {"GatherElements", 0, 1},
                                 {"GatherND", 0, 1}};
  for (const Guard &guard : guards)
    for (unsigned i = guard.first;
         guard.op == node.call.node.op_type() && i < operands.size(); ++i)
      if (const auto &selection = node.call.operands[i].selection;
          selection && !selection->isCount && !node.call.operands[i].constant)
        operands[i] = fill(node, operands[i], *selection, guard.number);
}

Error Masks::build(ImportRule rule, NodeBuilder &node,
                   MutableArrayRef<Value> operands) const {
  const Call &call = node.call;
  StringRef op = call.node.op_type();
  if (op == "ScatterND")
    return buildScatter(node);
  if (op == "Expand" && call.operands[0].selection)
    return buildExpand(rule, node);
  if (joinsSelected(call)) {
    if (op.starts_with("Reduce"))
      return buildReduction(rule, node, operands[0]);
    // The loss must ignore the labels of unselected elements.
    const auto &scores = call.operands[0].selection;
    const auto &labels = call.operands[1].selection;
    if (!scores || !labels || scores->dim != 0 || labels->dim != 0 ||
        !(*scores == *labels) || node.hasResult(1) ||
        !call.attribute("ignore_index") || isFloat(call.operands[1].dtype))
      return problem("is a loss whose scores and labels are not both selected "
                     "by one mask, or that has no ignore_index",
                     "set the labels to the index that the loss ignores where "
                     "the mask is false");
    operands[1] = fill(node, operands[1], *labels,
                       double(call.getInt("ignore_index", 0)));
    return rule(node);
  }
  guardOperands(node, operands);
  if (Error error = rule(node))
    return error;
  // Rows that unselected coordinates look up may be NaN, so replace them.
  if ((op == "Gather" || op == "GatherND") && call.operands[1].selection &&
      call.operands[1].constant) {
    Value rows = node.getResults()[0];
    Selection selection = *call.operands[1].selection;
    if (op == "Gather")
      selection.dim += *normalizeAxis(call.getInt("axis", 0), call.rank(0));
    bool hasSlope = isFloat(fromType(node.elementType(rows)));
    node.setResult(0, fill(node, rows, selection, hasSlope ? 0.5 : 0));
  }
  return Error::success();
}

} // namespace dtc::frontend
