//===- JoinGradients.cpp - gradients of what each position uses -----------===//
//
// A layer that runs once per position uses its weights, and slices of its
// input, as often. Their gradients are sums with a term for each position,
// which are what one op gives for all positions.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/StepFunction.h"
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
  /// The rows of a product are divided among so many parts of the batch.
  void joinProducts(int64_t parts);
  /// Replaces the sum if terms were joined.
  void replace();

private:
  void collect(AddOp add);
  template <typename OpType>
  SmallVector<OpType> takeTerms(function_ref<bool(OpType)> isWanted);
  Value concat(ValueRange parts, int64_t axis);
  Value concatRows(ArrayRef<Value> matrices);

  OpBuilder builder;
  AddOp root;
  SmallVector<Value> terms, joined;
};

/// Whether an addition is a term of another one, and nothing else.
bool isTerm(AddOp add) {
  if (!add->hasOneUse() || !add->getDiscardableAttrDictionary().empty())
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
template <typename OpType>
SmallVector<OpType> Sum::takeTerms(function_ref<bool(OpType)> isWanted) {
  SmallVector<OpType> taken;
  llvm::erase_if(terms, [&](Value term) {
    auto op = term.getDefiningOp<OpType>();
    bool isTaken =
        op && op->hasOneUse() && op->getDiscardableAttrDictionary().empty() &&
        op.getResult().getType() == root.getResult().getType() && isWanted(op);
    if (isTaken)
      taken.push_back(op);
    return isTaken;
  });
  return taken;
}

Value Sum::concat(ValueRange parts, int64_t axis) {
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
  SmallVector<PadOp> pads = takeTerms<PadOp>([](PadOp) { return true; });
  llvm::sort(pads, [](PadOp a, PadOp b) {
    auto aRange = std::pair(a.getAxis(), a.getStart());
    auto bRange = std::pair(b.getAxis(), b.getStart());
    return aRange == bRange ? a->isBeforeInBlock(b) : aRange < bRange;
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
    if (parts.size() == 1) {
      terms.push_back(pads[first - 1]);
      continue;
    }
    RankedTensorType whole = pads[first - 1].getType();
    Value range = concat(parts, axis);
    if (range.getType() != whole)
      range = PadOp::create(builder, root.getLoc(), whole, range, axis, start);
    joined.push_back(range);
  }
}

/// A^T B + C^T D is [A; C]^T [B; D]. Of as many terms at a time as have no more
/// elements than the result, which is what is kept and copied for it.
void Sum::joinProducts(int64_t parts) {
  auto result = cast<RankedTensorType>(root.getResult().getType());
  if (result.getRank() != 2)
    return;
  using Types = std::pair<Type, Type>;
  llvm::MapVector<Types, SmallVector<MatMulOp>> groups;
  for (MatMulOp product : takeTerms<MatMulOp>([](MatMulOp op) {
         return op.getTransposeLhs() && !op.getTransposeRhs();
       }))
    groups[{product.getLhs().getType(), product.getRhs().getType()}].push_back(
        product);
  for (auto &[types, products] : groups) {
    int64_t rows = cast<RankedTensorType>(types.first).getDimSize(0) / parts;
    int64_t each = rows * (result.getDimSize(0) + result.getDimSize(1));
    size_t atOnce = result.getNumElements() / std::max<int64_t>(each, 1);
    // In the order of positions: the backward pass has them from the last.
    std::reverse(products.begin(), products.end());
    for (ArrayRef<MatMulOp> rest = products; !rest.empty();) {
      ArrayRef<MatMulOp> some = rest.take_front(std::max<size_t>(atOnce, 1));
      rest = rest.drop_front(some.size());
      if (some.size() == 1) {
        MatMulOp only = some.front();
        terms.push_back(only);
        continue;
      }
      SmallVector<Value> left, right;
      for (MatMulOp product : some) {
        left.push_back(product.getLhs());
        right.push_back(product.getRhs());
      }
      joined.push_back(MatMulOp::create(
          builder, root.getLoc(), result, concatRows(left), concatRows(right),
          /*transpose_lhs=*/true, /*transpose_rhs=*/false));
    }
  }
}

/// From what is joined on, which has the type of the sum.
void Sum::replace() {
  if (joined.empty())
    return;
  llvm::append_range(joined, terms);
  Value sum = joined.front();
  for (Value term : llvm::drop_begin(joined))
    sum = AddOp::create(builder, root.getLoc(), root.getResult().getType(),
                        ValueRange{sum, term});
  root.getResult().replaceAllUsesWith(sum);
}

namespace {

struct JoinGradients : dtc::impl::JoinGradientsBase<JoinGradients> {
  using JoinGradientsBase::JoinGradientsBase;

  void runOnOperation() override {
    SmallVector<AddOp> roots;
    getOperation()->walk([&](AddOp add) {
      if (!isTerm(add) && add->getDiscardableAttrDictionary().empty())
        roots.push_back(add);
    });
    for (AddOp root : roots) {
      Sum sum(root);
      sum.joinPads();
      sum.joinProducts(parts);
      sum.replace();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      eraseDeadOps(function);
  }
};

} // namespace
