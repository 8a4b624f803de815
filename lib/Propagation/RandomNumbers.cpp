//===- RandomNumbers.cpp - random numbers made in parts -------------------===//
//
// Each user draws the random numbers of its own part of the tensor, in any
// layout.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Propagation/Propagation.h"
#include "dtc/Support/Axes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dtc;

/// Whether the op makes random numbers, or combines them only with constants
/// and scalars that all ranks have.
bool Propagation::isDrawn(Operation *op) const {
  if (isa<RandomUniformOp>(op))
    return true;
  auto has = [&](Value value) { return drawn.contains(value); };
  auto isEverywhere = [](Value value) {
    return value.getDefiningOp<ConstantOp>() ||
           (cast<ShapedType>(value.getType()).getNumElements() == 1 &&
            getLayout(value.getType()).getEntries().empty());
  };
  return op->getNumResults() == 1 && isPure(op) &&
         llvm::any_of(op->getOperands(), has) &&
         llvm::all_of(op->getOperands(), [&](Value value) {
           return has(value) || isEverywhere(value);
         });
}

/// Returns the index of each part that an axis makes of a dimension, so that
/// each rank or micro-batch sees its own index.
Value Propagation::getParts(StringAttr axis, OpBuilder &builder,
                            Location location) {
  if (axis == MeshAttr::timeAxis)
    return getNumbers(axis, "microbatch");
  if ((replicasAtLaunch && axis == dataAxis) || (hasServer && axis == workers))
    return getNumbers(axis, "replica");
  auto type = RankedTensorType::get(mesh.getSize(axis), builder.getI64Type(),
                                    LayoutAttr::getReplicated(mesh));
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, type.getDimSize(0)));
  Value parts = ConstantOp::create(
      builder, location, type,
      DenseElementsAttr::get(withLayout(type, {}), ArrayRef(numbers)));
  single.note(parts.getDefiningOp());
  return reshard(parts,
                 LayoutAttr::getCanonical(mesh, {AxisLayout::split(axis, 0)}),
                 builder, location);
}

/// Adds an input of this kind to the step.
Value Propagation::addInput(StringRef kind, Type type) {
  Builder builder(step.getContext());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(attr::input, getFreeInputName(step, kind)),
       builder.getNamedAttr(attr::kind, builder.getStringAttr(kind))});
  unsigned number = step.getNumArguments();
  if (failed(step.insertArgument(number, type, attributes, step.getLoc())))
    return {};
  Value value = step.getArgument(number);
  single.addInput(value);
  return value;
}

/// Returns the indices as an input of this kind: a constant cannot depend on
/// the micro-batch that uses it or on the number of replicas.
Value Propagation::getNumbers(StringAttr axis, StringRef kind) {
  Value &known = numbers[kind];
  if (!known)
    known = addInput(
        kind,
        RankedTensorType::get(
            mesh.getSize(axis), IntegerType::get(axis.getContext(), 64),
            LayoutAttr::getCanonical(mesh, {AxisLayout::split(axis, 0)})));
  return known;
}

/// Returns the number of replicas as an input of the step.
Value Propagation::getReplicas() {
  if (Value known = findScalarInput(step, replicasKind))
    return known;
  return addInput(replicasKind,
                  RankedTensorType::get({}, Float64Type::get(step.getContext()),
                                        LayoutAttr::getReplicated(mesh)));
}

/// Makes the operands that are drawn each worker's own.
void Propagation::drawApart(Operation *op,
                            MutableArrayRef<LayoutAttr> layouts) const {
  if (!workers)
    return;
  for (auto [operand, layout] : llvm::zip(op->getOperands(), layouts))
    if (drawn.contains(operand) && !layout.getEntry(workers))
      layout = addEach(layout, workers);
}

/// Draws random numbers in a layout. Axes that split each piece of a dimension
/// instead split a dimension of a reshaped tensor with the same elements in
/// order.
Value Propagation::drawNumbers(RandomUniformOp op, LayoutAttr layout,
                               OpBuilder &builder) {
  RankedTensorType type = op.getType();
  SmallVector<int64_t> shape;
  SmallVector<AxisLayout> entries;
  SmallVector<Value> parts;
  SmallVector<int64_t> dims, ways;
  Value openWays;
  bool isOfWorkers = workers && layout.getEntry(workers);
  if (isOfWorkers) {
    shape.push_back(mesh.getSize(workers.getValue()));
    entries.push_back(AxisLayout::split(workers, 0));
    parts.push_back(getParts(workers, builder, op.getLoc()));
    dims.push_back(0);
    ways.push_back(shape.back());
  }
  for (int64_t dim : llvm::seq<int64_t>(0, type.getRank())) {
    int64_t size = type.getDimSize(dim);
    auto splits = layout.getSplitsOfDim(dim);
    if (!splits.empty() && splits.front().pieces > 1) {
      shape.push_back(splits.front().pieces);
      size /= splits.front().pieces;
    }
    for (auto [i, entry] : llvm::enumerate(splits)) {
      if (i > 0 && entry.pieces > 1)
        return {};
      int64_t own = shape.size();
      entries.push_back(AxisLayout::split(entry.axis, own));
      int64_t axisSize = mesh.getSize(entry.axis.getValue());
      if (axisSize == 1 && entry.axis != MeshAttr::timeAxis)
        continue;
      parts.push_back(getParts(entry.axis, builder, op.getLoc()));
      dims.push_back(own);
      bool isOpen = replicasAtLaunch && entry.axis == dataAxis;
      ways.push_back(isOpen ? 0 : axisSize);
      if (isOpen)
        openWays = getReplicas();
    }
    shape.push_back(size);
  }
  if (entries.size() != layout.getEntries().size())
    return {};
  if (openWays)
    parts.push_back(openWays);
  Value numbers = RandomUniformOp::create(
      builder, op.getLoc(),
      RankedTensorType::get(shape, type.getElementType(),
                            LayoutAttr::getCanonical(mesh, entries)),
      op.getSeed(), op.getStep(), parts, op.getId(), dims, ways);
  single.note(numbers.getDefiningOp());
  SmallVector<int64_t> wanted(type.getShape());
  LayoutAttr wantedLayout = layout;
  if (isOfWorkers) {
    wanted.insert(wanted.begin(), shape.front());
    wantedLayout = getLayoutOfTerms(layout, workers);
  }
  auto add = [&](Value value) {
    single.note(value.getDefiningOp());
    numbers = value;
  };
  if (shape.size() != wanted.size())
    add(ReshapeOp::create(
        builder, op.getLoc(),
        RankedTensorType::get(wanted, type.getElementType(), wantedLayout),
        numbers));
  if (isOfWorkers)
    add(OwnRowOp::create(builder, op.getLoc(), withLayout(type, layout),
                         numbers, workers));
  return numbers;
}

/// Draws a value in the needed layout instead of making it whole and slicing
/// it. Returns null if the layout does not allow it.
Value Propagation::draw(Value value, LayoutAttr layout, OpBuilder &builder,
                        Location location) {
  if (layout.hasPartial())
    return {};
  Operation *op = value.getDefiningOp();
  Value made;
  if (auto numbers = dyn_cast<RandomUniformOp>(op)) {
    made = drawNumbers(numbers, layout, builder);
  } else {
    ShardingRule rule = cast<ShardingRuleInterface>(op).getShardingRule();
    FactorAxes axes;
    if (!readFactorAxes(rule, rule.results.front(), layout, axes))
      return {};
    SmallVector<LayoutAttr> operands;
    for (const TensorFactors &operand : rule.operands) {
      auto entries = writeFactorAxes(rule, operand, mesh, axes);
      if (!entries)
        return {};
      operands.push_back(LayoutAttr::getCanonical(mesh, *entries));
    }
    if (workers && layout.getEntry(workers))
      drawApart(op, operands);
    std::string error;
    auto inferred = inferResultLayouts(rule, mesh, operands, error, {layout});
    if (failed(inferred) || inferred->front() != layout)
      return {};
    IRMapping mapping;
    for (auto [operand, own] : llvm::zip(op->getOperands(), operands))
      mapping.map(operand, reshard(operand, own, builder, location));
    Operation *clone = builder.clone(*op, mapping);
    made = clone->getResult(0);
    made.setType(withLayout(value.getType(), layout));
    single.note(clone);
  }
  if (made)
    drawn.insert(made);
  return made;
}
