//===- Factors.cpp - matrices as products of two factors ------------------===//
//
// PowerSGD (Vogels, Karimireddy and Jaggi, arXiv 1905.13727, algorithms 1 and
// 2): one step of a subspace iteration on the sum of all ranks' matrices, from
// the factor of the last step. The codes are products with a factor, which are
// linear, so they add up. As in PyTorch, tensors whose factors are not smaller
// by half are summed as they are.
//
//===----------------------------------------------------------------------===//

#include "ExchangeBuilder.h"
#include "dtc/Support/Axes.h"

using namespace mlir;
using namespace dtc;

namespace {

/// The terms of one tensor.
struct Tensor {
  const Segment &segment;
  Value terms;       ///< [ranks, parts, elements]
  Value matrix;      ///< [ranks, parts, rows, columns]; null: as it is
  Value left, right; ///< [parts, rows, rank] and [parts, columns, rank]
  Value sum;         ///< [parts, elements]
};

class FactorSum {
public:
  explicit FactorSum(ExchangeBuilder &b)
      : b(b), ranks(b.unit.ranks), parts(b.unit.parts),
        rank(int64_t(b.compressor.number)) {}

  ExchangedSum run(Value terms);

private:
  bool isCompressed(const Segment &segment) const;
  void addState();
  Value createStart(const Segment &segment, Value kept);
  SmallVector<Value> reduce(ArrayRef<Value> terms);
  Value repeat(Value x);
  Value product(Value a, Value b, bool transposeLeft, bool transposeRight);

  ExchangeBuilder &b;
  int64_t ranks, parts, rank;
  SmallVector<Tensor> tensors;
  Value state; ///< right factors of the last step, [parts, elements]
};

} // namespace

bool FactorSum::isCompressed(const Segment &segment) const {
  constexpr int64_t leastGain = 2;
  int64_t rows = segment.rows, columns = segment.getColumns();
  return (rows + columns) * rank * leastGain < rows * columns;
}

/// The right factors of all compressed tensors, as one state.
void FactorSum::addState() {
  SmallVector<Attribute> members;
  int64_t size = 0;
  for (const Tensor &tensor : tensors) {
    if (!tensor.matrix)
      continue;
    int64_t columns = tensor.segment.getColumns();
    NamedAttrList entry;
    entry.set("name", b.getStringAttr(tensor.segment.name));
    entry.set("type", TypeAttr::get(RankedTensorType::get(
                          {parts, columns, rank}, b.element)));
    entry.set("start", b.getI64IntegerAttr(size));
    entry.set("own", b.getUnitAttr());
    if (parts > 1)
      entry.set(attr::splitDims, b.getDictionaryAttr(b.getNamedAttr(
                                     tensorAxis, b.getI64IntegerAttr(0))));
    members.push_back(entry.getDictionary(b.getContext()));
    size += columns * rank;
  }
  if (size > 0)
    state = b.addOwnState("factor", size, b.getArrayAttr(members));
}

/// The factor of the last step, or random numbers if there is none.
Value FactorSum::createStart(const Segment &segment, Value kept) {
  SmallVector<int64_t> shape = {parts, segment.getColumns(), rank};
  kept = b.reshape(kept, shape);
  Value magnitude = b.unary<AbsOp>(kept);
  Value total = b.sum(b.sum(magnitude, 2), 1);
  Value isNone = b.compare(Comparison::eq, total, b.constant(0));
  Value numbers =
      b.binary<SubOp>(b.random(segment, shape, "factor"), b.constant(0.5));
  return b.select(isNone, numbers, kept);
}

/// Sums of terms over the ranks, by one exchange.
SmallVector<Value> FactorSum::reduce(ArrayRef<Value> terms) {
  SmallVector<Value> flat, sums;
  for (Value term : terms)
    flat.push_back(b.reshape(
        term,
        {ranks, parts, getTensorType(term).getNumElements() / ranks / parts}));
  Value joined = b.sum(b.concat(flat, 2), 0);
  joined = b.exchange(
      b.reshape(joined, getTensorType(joined).getShape().drop_front()), -1);
  int64_t start = 0;
  for (auto [term, own] : llvm::zip_equal(terms, flat)) {
    int64_t size = getTensorType(own).getDimSize(2);
    sums.push_back(b.reshape(b.slice(joined, 1, start, size),
                             getTensorType(term).getShape().drop_front()));
    start += size;
  }
  return sums;
}

/// A value that all ranks have, for each of them.
Value FactorSum::repeat(Value x) {
  SmallVector<int64_t> shape = {ranks};
  llvm::append_range(shape, getTensorType(x).getShape());
  return b.broadcast(x, shape);
}

Value FactorSum::product(Value a, Value c, bool transposeLeft,
                         bool transposeRight) {
  return MatMulOp::create(b, b.loc, a, c, transposeLeft, transposeRight);
}

ExchangedSum FactorSum::run(Value terms) {
  for (const Segment &segment : b.unit.segments) {
    Tensor tensor{segment, b.slice(terms, 2, segment.start, segment.size),
                  {},      {},
                  {},      {}};
    if (isCompressed(segment))
      tensor.matrix = b.reshape(
          tensor.terms, {ranks, parts, segment.rows, segment.getColumns()});
    tensors.push_back(tensor);
  }
  addState();

  SmallVector<Value> sent;
  int64_t start = 0;
  for (Tensor &tensor : tensors) {
    if (!tensor.matrix) {
      sent.push_back(tensor.terms);
      continue;
    }
    int64_t size = tensor.segment.getColumns() * rank;
    tensor.right = createStart(tensor.segment, b.slice(state, 1, start, size));
    start += size;
    sent.push_back(product(tensor.matrix, repeat(tensor.right), false, false));
  }
  SmallVector<Value> sums = reduce(sent);
  sent.clear();
  for (auto [tensor, sum] : llvm::zip_equal(tensors, sums)) {
    if (!tensor.matrix) {
      tensor.sum = sum;
      continue;
    }
    tensor.left = OrthonormalizeOp::create(b, b.loc, sum.getType(), sum);
    sent.push_back(product(tensor.matrix, repeat(tensor.left), true, false));
  }
  SmallVector<Value> kept, all, ofRanks;
  if (!sent.empty())
    sums = reduce(sent);
  size_t next = 0;
  Value share = b.constant(1.0 / double(ranks));
  for (Tensor &tensor : tensors) {
    SmallVector<int64_t> shape = {parts, tensor.segment.size};
    if (!tensor.matrix) {
      all.push_back(tensor.sum);
      ofRanks.push_back(tensor.terms);
      continue;
    }
    tensor.right = sums[next++];
    kept.push_back(
        b.reshape(tensor.right, {parts, tensor.segment.getColumns() * rank}));
    all.push_back(
        b.reshape(product(tensor.left, tensor.right, false, true), shape));
    ofRanks.push_back(repeat(b.binary<MulOp>(all.back(), share)));
  }
  if (state)
    b.keep(state, b.concat(kept, 1));
  int64_t length = getTensorType(terms).getDimSize(2);
  return {b.pad(b.concat(all, 1), length), b.pad(b.concat(ofRanks, 2), length)};
}

ExchangedSum dtc::sumFactors(ExchangeBuilder &b, Value terms) {
  return FactorSum(b).run(terms);
}
