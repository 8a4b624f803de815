//===- CompressionBuilder.cpp - ops of compressed sums --------------------===//
//
// See CompressionBuilder.h.
//
//===----------------------------------------------------------------------===//

#include "CompressionBuilder.h"
#include "dtc/Support/Axes.h"

using namespace mlir;
using namespace dtc;

CompressionBuilder::CompressionBuilder(func::FuncOp step,
                                       const CompressionUnit &unit,
                                       const Compressor &compressor,
                                       bool keepsErrors, int64_t number)
    : OpBuilder(step.getContext()), unit(unit), compressor(compressor),
      loc(unit.gradient.getLoc()),
      element(getElementTypeOrSelf(unit.gradient)), step(step),
      keepsErrors(keepsErrors), number(number) {
  setInsertionPointAfterValue(unit.gradient);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value CompressionBuilder::constant(double value) {
  return constant({}, value);
}

Value CompressionBuilder::constant(ArrayRef<int64_t> shape,
                                   ArrayRef<double> values) {
  auto type = RankedTensorType::get(shape, element);
  auto attributes = llvm::map_to_vector(values, [&](double value) {
    return Attribute(getFloatAttr(element, value));
  });
  return ConstantOp::create(*this, loc, type,
                            DenseElementsAttr::get(type, attributes));
}

Value CompressionBuilder::cast(Value x, Type to) {
  auto type = mlir::cast<RankedTensorType>(x.getType());
  return CastOp::create(*this, loc, type.clone(to), x);
}

Value CompressionBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  auto type = mlir::cast<RankedTensorType>(x.getType());
  if (type.getShape() == shape)
    return x;
  return ReshapeOp::create(*this, loc, type.clone(shape), x);
}

Value CompressionBuilder::sum(Value x, int64_t dim) {
  return ReduceSumOp::create(*this, loc, x, ArrayRef<int64_t>{dim});
}

Value CompressionBuilder::max(Value x, int64_t dim) {
  return ReduceMaxOp::create(*this, loc, x, ArrayRef<int64_t>{dim});
}

/// The input with the training's seed.
static Value getSeed(func::FuncOp step) {
  if (Value seed = findScalarInput(step, seedKind))
    return seed;
  Builder builder(step.getContext());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(attr::input, getFreeInputName(step, seedKind)),
       builder.getNamedAttr(attr::kind, builder.getStringAttr(seedKind))});
  (void)step.insertArgument(0, RankedTensorType::get({}, builder.getI64Type()),
                            attributes, step.getLoc());
  return step.getArgument(0);
}

Value CompressionBuilder::random(ArrayRef<int64_t> shape) {
  // Numbers of random ops that models do not have.
  constexpr int64_t first = int64_t(1) << 32, ofUnit = 16;
  Value seed = getSeed(step);
  Value now = *getScalarInput(step, "step");
  return RandomUniformOp::create(
      *this, loc, RankedTensorType::get(shape, element), seed, now,
      first + number * ofUnit + drawn++);
}

//===----------------------------------------------------------------------===//
// Exchange and state
//===----------------------------------------------------------------------===//

Value CompressionBuilder::exchange(Value x, int64_t dim) {
  auto moved = ReshapeOp::create(*this, loc, x.getType(), x);
  moved->setAttr(attr::splitDims, getDictionaryAttr(getNamedAttr(
                                      unit.axis, getI64IntegerAttr(dim))));
  return moved;
}

Value CompressionBuilder::addState(
    StringRef name, ArrayRef<int64_t> shape, ArrayAttr members,
    ArrayRef<std::pair<StringRef, int64_t>> splits) {
  NamedAttrList splitDims, attributes;
  for (auto [axis, dim] : splits)
    splitDims.set(axis, getI64IntegerAttr(dim));
  attributes.set(attr::state, getStringAttr(unit.name + "." + name));
  attributes.set(attr::members, members);
  attributes.set(attr::splitDims, splitDims.getDictionary(getContext()));
  unsigned position = step.getNumArguments();
  (void)step.insertArgument(position, RankedTensorType::get(shape, element),
                            attributes.getDictionary(getContext()), loc);
  return step.getArgument(position);
}

Value CompressionBuilder::getResidual() {
  if (!keepsErrors)
    return {};
  auto type = mlir::cast<RankedTensorType>(unit.gradient.getType());
  SmallVector<std::pair<StringRef, int64_t>> splits = {{unit.axis, 0}};
  if (unit.parts > 1)
    splits.push_back({tensorAxis, 1});
  if (unit.shards > 1)
    splits.push_back({unit.shardAxis, 2});
  SmallVector<int64_t> shape = {unit.ranks};
  llvm::append_range(shape, type.getShape());
  // Each rank has a residual of its own, beside all splits of the parameter.
  auto members = llvm::map_to_vector(
      unit.members.getAsRange<DictionaryAttr>(), [&](DictionaryAttr member) {
        NamedAttrList entry(member);
        entry.set("each", unit.axis);
        return Attribute(entry.getDictionary(getContext()));
      });
  return addState("residual", shape, getArrayAttr(members), splits);
}

Value CompressionBuilder::getSumResidual() {
  if (!keepsErrors)
    return {};
  auto type = mlir::cast<RankedTensorType>(unit.gradient.getType());
  SmallVector<std::pair<StringRef, int64_t>> splits;
  if (unit.parts > 1)
    splits.push_back({tensorAxis, 0});
  if (unit.shards > 1)
    splits.push_back({unit.shardAxis, 1});
  splits.push_back({unit.axis, 1});
  return addState("sum_residual", type.getShape(), unit.members, splits);
}

void CompressionBuilder::keepError(Value residual, Value value, Value sent,
                                   StringRef state) {
  Value kept = KeepResidualOp::create(*this, loc, residual.getType(), residual,
                                      value, sent, /*norm=*/Value());
  states.push_back({unit.name + "." + state.str(), kept});
}
