//===- JoinGradients.cpp - gradients of what each position uses -----------===//
//
// A layer that runs once per position uses its weights, and slices of its
// input, as often. Their gradients are sums with a term for each position,
// which are what one op gives for all positions.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Training/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace dtc {
#define GEN_PASS_DEF_JOINGRADIENTS
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// One sum, and what takes the place of its terms.
class Sum {
public:
  explicit Sum(AddOp root) : builder(root), root(root) { collect(root); }

  void joinPads();
  void joinProducts();
  /// Replaces the sum if terms were joined.
  void replace();

private:
  void collect(AddOp add);
  template <typename OpType> SmallVector<OpType> takeTerms();
  Value concat(ValueRange parts, int64_t axis);
  Value concatRows(ArrayRef<Value> matrices);

  OpBuilder builder;
  AddOp root;
  SmallVector<Value> terms;
  bool isChanged = false;
};

/// Whether an addition is a term of another one, and nothing else.
bool isTerm(AddOp add) {
  if (!add->hasOneUse())
    return false;
  auto user = dyn_cast<AddOp>(*add->getUsers().begin());
  return user && user.getResult().getType() == add.getResult().getType();
}

} // namespace

void Sum::collect(AddOp add) {
  for (Value operand : {add.getLhs(), add.getRhs()}) {
    auto inner = operand.getDefiningOp<AddOp>();
    if (inner && isTerm(inner))
      collect(inner);
    else
      terms.push_back(operand);
  }
}

/// Removes the terms that are results of such ops and are nothing else's
/// operand.
template <typename OpType> SmallVector<OpType> Sum::takeTerms() {
  SmallVector<OpType> taken;
  llvm::erase_if(terms, [&](Value term) {
    auto op = term.getDefiningOp<OpType>();
    bool isTaken = op && op->hasOneUse() &&
                   op.getResult().getType() == root.getResult().getType();
    if (isTaken)
      taken.push_back(op);
    return isTaken;
  });
  return taken;
}

Value Sum::concat(ValueRange parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  auto type = cast<RankedTensorType>(parts.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 0;
  for (Value part : parts)
    shape[axis] += cast<RankedTensorType>(part.getType()).getDimSize(axis);
  return ConcatOp::create(builder, root.getLoc(), type.clone(shape), parts,
                          axis);
}

/// Matrices below each other, along a dimension of their own until then: the
/// batch, which their rows are, stays one dimension.
Value Sum::concatRows(ArrayRef<Value> matrices) {
  auto type = cast<RankedTensorType>(matrices.front().getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  SmallVector<Value> parts;
  for (Value matrix : matrices)
    parts.push_back(ReshapeOp::create(builder, root.getLoc(),
                                      type.clone({1, rows, columns}), matrix));
  int64_t count = matrices.size();
  return ReshapeOp::create(builder, root.getLoc(),
                           type.clone({count * rows, columns}),
                           concat(parts, 0));
}

/// What follows each other along one axis is joined, and padded where the
/// whole is more.
void Sum::joinPads() {
  SmallVector<PadOp> pads = takeTerms<PadOp>();
  llvm::sort(pads, [](PadOp a, PadOp b) {
    return std::pair(a.getAxis(), a.getStart()) <
           std::pair(b.getAxis(), b.getStart());
  });
  for (size_t first = 0; first < pads.size();) {
    int64_t axis = pads[first].getAxis();
    int64_t start = pads[first].getStart(), end = start;
    SmallVector<Value> parts;
    while (first < pads.size() && int64_t(pads[first].getAxis()) == axis &&
           int64_t(pads[first].getStart()) == end) {
      parts.push_back(pads[first].getX());
      end += cast<RankedTensorType>(parts.back().getType()).getDimSize(axis);
      ++first;
    }
    Value joined = pads[first - 1];
    if (parts.size() > 1) {
      RankedTensorType whole = pads[first - 1].getType();
      joined = concat(parts, axis);
      if (joined.getType() != whole)
        joined =
            PadOp::create(builder, root.getLoc(), whole, joined, axis, start);
      isChanged = true;
    }
    terms.push_back(joined);
  }
}

/// A^T B + C^T D is [A; C]^T [B; D], which is worth it where the result is
/// larger than what must be kept and copied for it.
void Sum::joinProducts() {
  using Types = std::pair<Type, Type>;
  llvm::MapVector<Types, SmallVector<MatMulOp>> groups;
  for (MatMulOp product : takeTerms<MatMulOp>())
    groups[{product.getLhs().getType(), product.getRhs().getType()}].push_back(
        product);
  for (auto &[types, products] : groups) {
    int64_t rows = cast<RankedTensorType>(types.first).getDimSize(0);
    auto result = cast<RankedTensorType>(root.getResult().getType());
    bool isWorthIt = products.size() > 1 && result.getRank() == 2 &&
                     2 * rows * (result.getDimSize(0) + result.getDimSize(1)) <=
                         result.getNumElements();
    for (MatMulOp product : products)
      isWorthIt &= product.getTransposeLhs() && !product.getTransposeRhs();
    if (!isWorthIt) {
      for (MatMulOp product : products)
        terms.push_back(product);
      continue;
    }
    // In the order of positions: the backward pass has them from the last.
    SmallVector<Value> left, right;
    for (MatMulOp product : llvm::reverse(products)) {
      left.push_back(product.getLhs());
      right.push_back(product.getRhs());
    }
    terms.push_back(MatMulOp::create(builder, root.getLoc(), result,
                                     concatRows(left), concatRows(right),
                                     /*transpose_lhs=*/true,
                                     /*transpose_rhs=*/false));
    isChanged = true;
  }
}

void Sum::replace() {
  if (!isChanged)
    return;
  Value sum = terms.front();
  for (Value term : llvm::drop_begin(terms))
    sum = AddOp::create(builder, root.getLoc(), root.getResult().getType(),
                        ValueRange{sum, term});
  root.getResult().replaceAllUsesWith(sum);
}

namespace {

struct JoinGradients : dtc::impl::JoinGradientsBase<JoinGradients> {
  void runOnOperation() override {
    SmallVector<AddOp> roots;
    getOperation()->walk([&](AddOp add) {
      if (!isTerm(add))
        roots.push_back(add);
    });
    for (AddOp root : roots) {
      Sum sum(root);
      sum.joinPads();
      sum.joinProducts();
      sum.replace();
    }
  }
};

} // namespace
