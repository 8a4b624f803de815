//===- Shape.cpp - rules of ops that move elements ------------------------===//

#include "Rules.h"

using namespace mlir;
using namespace dtc;

static Tensors evaluateConstant(ConstantOp op, Operands) {
  HostTensor y = makeResult(op);
  auto elements = cast<DenseElementsAttr>(op.getValue());
  if (isa<FloatType>(elements.getElementType()))
    for (auto [to, from] : llvm::zip(y.data, elements.getValues<APFloat>()))
      to = from.convertToDouble();
  else
    for (auto [to, from] : llvm::zip(y.data, elements.getValues<APInt>()))
      to = from.getBitWidth() == 1 ? double(from.getZExtValue())
                                   : double(from.getSExtValue());
  return {y};
}

static Tensors evaluateReshape(ReshapeOp op, Operands x) {
  HostTensor y = makeResult(op);
  y.data = x[0].data;
  return {y};
}

static Tensors evaluateTranspose(TransposeOp op, Operands x) {
  HostTensor y = makeResult(op);
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    Index from(index.size());
    for (auto [d, source] : llvm::enumerate(op.getPermutation()))
      from[source] = index[d];
    at(y, index) = at(x[0], from);
  });
  return {y};
}

/// Copies between a part and its place along one dimension of the whole. Writes
/// to the whole unless it is const.
template <typename WholeT, typename PartT>
static void copyRange(WholeT &whole, PartT &part, int64_t axis, int64_t start) {
  forEachIndex(part.shape, [&](ArrayRef<int64_t> index) {
    Index place(index);
    place[axis] += start;
    if constexpr (!std::is_const_v<WholeT>)
      at(whole, place) = at(part, index);
    else
      at(part, index) = at(whole, place);
  });
}

static Tensors evaluateSlice(SliceOp op, Operands x) {
  HostTensor y = makeResult(op);
  copyRange(x[0], y, op.getAxis(), op.getStart());
  return {y};
}

static Tensors evaluatePad(PadOp op, Operands x) {
  HostTensor y = makeResult(op);
  copyRange(y, x[0], op.getAxis(), op.getStart());
  return {y};
}

static Tensors evaluateSplit(SplitOp op, Operands x) {
  Tensors parts;
  int64_t start = 0;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    parts.push_back(makeResult(op, i));
    copyRange(x[0], parts.back(), op.getAxis(), start);
    start += parts.back().shape[op.getAxis()];
  }
  return parts;
}

static Tensors evaluateConcat(ConcatOp op, Operands parts) {
  HostTensor y = makeResult(op);
  int64_t start = 0;
  for (const HostTensor &part : parts) {
    copyRange(y, part, op.getAxis(), start);
    start += part.shape[op.getAxis()];
  }
  return {y};
}

void dtc::addShapeRules(Rules &rules) {
  rules.add(evaluateConstant);
  rules.add(evaluateReshape);
  rules.add(evaluateTranspose);
  rules.add(evaluateSlice);
  rules.add(evaluatePad);
  rules.add(evaluateSplit);
  rules.add(evaluateConcat);
}
