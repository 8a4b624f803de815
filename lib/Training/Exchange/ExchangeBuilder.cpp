//===- ExchangeBuilder.cpp - ops of exchanged gradients -------------------===//
//
// See ExchangeBuilder.h.
//
//===----------------------------------------------------------------------===//

#include "ExchangeBuilder.h"
#include "dtc/Support/Axes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"

using namespace mlir;
using namespace dtc;

ExchangeBuilder::ExchangeBuilder(func::FuncOp step, const ExchangeUnit &unit,
                                 const Compressor &compressor,
                                 ErrorFeedback feedback)
    : OpBuilder(step.getContext()), unit(unit), compressor(compressor),
      feedback(feedback), loc(unit.gradient.getLoc()),
      element(getElementTypeOrSelf(unit.gradient)), step(step) {
  setInsertionPointAfterValue(unit.gradient);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ExchangeBuilder::constant(double value) { return constant({}, value); }

Value ExchangeBuilder::constant(ArrayRef<int64_t> shape,
                                ArrayRef<double> values) {
  auto type = RankedTensorType::get(shape, element);
  auto attributes = llvm::map_to_vector(values, [&](double value) {
    return Attribute(getFloatAttr(element, value));
  });
  return ConstantOp::create(*this, loc, type,
                            DenseElementsAttr::get(type, attributes));
}

Value ExchangeBuilder::cast(Value x, Type to) {
  return CastOp::create(*this, loc, getTensorType(x).clone(to), x);
}

Value ExchangeBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (getTensorType(x).getShape() == shape)
    return x;
  return ReshapeOp::create(*this, loc, getTensorType(x).clone(shape), x);
}

Value ExchangeBuilder::sum(Value x, int64_t dim) {
  return ReduceSumOp::create(*this, loc, x, ArrayRef<int64_t>{dim});
}

Value ExchangeBuilder::max(Value x, int64_t dim) {
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

Value ExchangeBuilder::slice(Value x, int64_t dim, int64_t start,
                             int64_t size) {
  SmallVector<int64_t> shape(getTensorType(x).getShape());
  if (shape[dim] == size)
    return x;
  shape[dim] = size;
  return SliceOp::create(*this, loc, getTensorType(x).clone(shape), x, dim,
                         start,
                         /*view=*/true);
}

Value ExchangeBuilder::concat(ArrayRef<Value> parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<int64_t> shape(getTensorType(parts.front()).getShape());
  shape[dim] = 0;
  for (Value part : parts)
    shape[dim] += getTensorType(part).getDimSize(dim);
  return ConcatOp::create(*this, loc, getTensorType(parts.front()).clone(shape),
                          parts, dim);
}

Value ExchangeBuilder::pad(Value x, int64_t size) {
  SmallVector<int64_t> shape(getTensorType(x).getShape());
  if (shape.back() == size)
    return x;
  shape.back() = size;
  return PadOp::create(*this, loc, getTensorType(x).clone(shape), x,
                       shape.size() - 1, 0);
}

Value ExchangeBuilder::broadcast(Value x, ArrayRef<int64_t> shape) {
  return BroadcastOp::create(*this, loc, getTensorType(x).clone(shape), x);
}

Value ExchangeBuilder::random(const Segment &segment, ArrayRef<int64_t> shape,
                              StringRef use) {
  // Random ops of models have small numbers.
  std::string name = segment.name + "/" + use.str();
  int64_t id = llvm::crc32(llvm::arrayRefFromStringRef(name)) | 0x80000000u;
  Value seed = getSeed(step);
  Value now = *getScalarInput(step, "step");
  return RandomUniformOp::create(
      *this, loc, RankedTensorType::get(shape, element), seed, now, id);
}

//===----------------------------------------------------------------------===//
// Exchange and state
//===----------------------------------------------------------------------===//

void dtc::setSplit(Operation *op, StringAttr axis, int64_t dim) {
  Builder builder(op->getContext());
  op->setAttr(attr::splitDims, builder.getDictionaryAttr(builder.getNamedAttr(
                                   axis, builder.getI64IntegerAttr(dim))));
}

Value ExchangeBuilder::exchange(Value x, int64_t dim) {
  auto moved = ReshapeOp::create(*this, loc, x.getType(), x);
  setSplit(moved, unit.axis, dim);
  return moved;
}

Value ExchangeBuilder::addState(
    StringRef name, ArrayRef<int64_t> shape, ArrayAttr members,
    ArrayRef<std::pair<StringRef, int64_t>> splits) {
  NamedAttrList splitDims, attributes;
  for (auto [axis, dim] : splits)
    splitDims.set(axis, getI64IntegerAttr(dim));
  attributes.set(attr::state, getStringAttr(unit.name + "." + name));
  attributes.set(attr::members, members);
  attributes.set(attr::optional, getUnitAttr());
  attributes.set(attr::splitDims, splitDims.getDictionary(getContext()));
  unsigned position = step.getNumArguments();
  (void)step.insertArgument(position, RankedTensorType::get(shape, element),
                            attributes.getDictionary(getContext()), loc);
  return step.getArgument(position);
}

Value ExchangeBuilder::addStateOfTerms(StringRef name) {
  SmallVector<std::pair<StringRef, int64_t>> splits = {{unit.axis, 0}};
  if (unit.parts > 1)
    splits.push_back({tensorAxis, 1});
  if (unit.shards > 1)
    splits.push_back({unit.shardAxis, 2});
  SmallVector<int64_t> shape = {unit.ranks};
  llvm::append_range(shape, getTensorType(unit.gradient).getShape());
  auto members = llvm::map_to_vector(
      unit.members.getAsRange<DictionaryAttr>(), [&](DictionaryAttr member) {
        NamedAttrList entry(member);
        entry.set("each", unit.axis);
        return Attribute(entry.getDictionary(getContext()));
      });
  return addState(name, shape, getArrayAttr(members), splits);
}

Value ExchangeBuilder::addStateOfSum(StringRef name, bool isSplit) {
  SmallVector<std::pair<StringRef, int64_t>> splits;
  if (unit.parts > 1)
    splits.push_back({tensorAxis, 0});
  if (unit.shards > 1)
    splits.push_back({unit.shardAxis, 1});
  if (isSplit)
    splits.push_back({unit.axis, 1});
  return addState(name, getTensorType(unit.gradient).getShape(), unit.members,
                  splits);
}

Value ExchangeBuilder::addOwnState(StringRef name, int64_t elements,
                                   ArrayAttr members) {
  SmallVector<std::pair<StringRef, int64_t>> splits;
  if (unit.parts > 1)
    splits.push_back({tensorAxis, 0});
  return addState(name, {unit.parts, elements}, members, splits);
}

void ExchangeBuilder::keep(Value state, Value value, bool always) {
  unsigned number = llvm::cast<BlockArgument>(state).getArgNumber();
  Value kept = KeepOp::create(*this, loc, state.getType(), state, value,
                              /*norm=*/Value(), always);
  states.push_back(
      {step.getArgAttrOfType<StringAttr>(number, attr::state).str(), kept,
       step.getArgAttr(number, attr::members)});
}
