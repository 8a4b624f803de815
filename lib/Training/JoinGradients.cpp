//===- JoinGradients.cpp - joint gradients of many positions --------------===//
//
// A layer that runs once per position uses its weights, and slices of its
// input, at each position. Their gradients are sums with a term for each
// position. One op over all positions computes such a sum.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/StepFunction.h"
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

/// A concatenation along dimension 0 with the matrices as consecutive elements,
/// starting at element `first`.
struct Whole {
  ConcatOp concat;
  int64_t first;
};

/// An operand of each product, in the order of positions.
struct Operand {
  SmallVector<Value> matrices;
  std::optional<Whole> whole;
};

/// A sum, and the ops that replace its terms.
class Sum {
public:
  explicit Sum(AddOp root) : builder(root), root(root) { collect(root); }

  void joinPads();
  /// Joins the terms that are products. Ranks and micro-batches divide the rows
  /// of a product into `parts`.
  void joinProducts(int64_t parts);
  /// Replaces the sum if any terms were joined.
  void replace();

private:
  void collect(AddOp add);
  template <typename OpType>
  SmallVector<OpType> takeTerms(function_ref<bool(OpType)> isWanted);
  Value concat(ValueRange parts, int64_t axis);
  std::optional<Whole> findWhole(ArrayRef<Value> matrices);
  std::array<Operand, 2> getOperands(ArrayRef<MatMulOp> products);
  Value takeRows(const Operand &operand, int64_t first, int64_t count);

  OpBuilder builder;
  AddOp root;
  SmallVector<Value> terms, joined;
};

/// Whether the only use of an addition is as a term of another one.
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

/// Removes the terms that are results of `OpType` and have no other use.
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

/// Follows a value through reshapes.
static Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// Whether a weight gradient is a product with a value, in any shape. Then the
/// backward pass has the value in any case.
static bool isReadForWeights(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isReadForWeights(reshape.getResult());
    auto product = dyn_cast<MatMulOp>(user);
    return product && product.getTransposeLhs();
  });
}

/// Finds the concatenation with the matrices as elements, in this order, that
/// the backward pass reads: a layer's outputs, or the gradients of its inputs.
/// Returns none if it is computed after an op that reads the sum.
std::optional<Whole> Sum::findWhole(ArrayRef<Value> matrices) {
  auto matrix = cast<RankedTensorType>(matrices.front().getType());
  int64_t count = matrices.size();
  auto holds = [&](ConcatOp concat, int64_t first) {
    if (concat.getAxis() != 0 ||
        first + count > int64_t(concat->getNumOperands()))
      return false;
    return llvm::all_of(llvm::enumerate(matrices), [&](auto it) {
      Value part = concat->getOperand(first + it.index());
      auto type = cast<RankedTensorType>(part.getType());
      return withoutReshapes(part) == withoutReshapes(it.value()) &&
             type.getRank() > 2 && type.getDimSize(0) == 1 &&
             type.getShape().take_back(2) == matrix.getShape();
    });
  };
  SmallVector<Value> same = {withoutReshapes(matrices.front())};
  for (size_t i = 0; i < same.size(); ++i)
    for (OpOperand &use : same[i].getUses()) {
      if (auto reshape = dyn_cast<ReshapeOp>(use.getOwner()))
        same.push_back(reshape.getResult());
      auto concat = dyn_cast<ConcatOp>(use.getOwner());
      if (concat && holds(concat, use.getOperandNumber()) &&
          isReadForWeights(concat) &&
          llvm::all_of(root->getUsers(), [&](Operation *user) {
            return concat->isBeforeInBlock(user);
          }))
        return Whole{concat, use.getOperandNumber()};
    }
  return std::nullopt;
}

/// Concatenates `count` matrices along a new dimension, so that the batch,
/// their rows, stays a dimension.
Value Sum::takeRows(const Operand &operand, int64_t first, int64_t count) {
  auto type = cast<RankedTensorType>(operand.matrices.front().getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  auto reshape = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    return ReshapeOp::create(builder, root.getLoc(), type.clone(shape), value);
  };
  Value all;
  if (auto whole = operand.whole) {
    if (builder.getInsertionPoint()->isBeforeInBlock(whole->concat))
      builder.setInsertionPointAfter(whole->concat);
    RankedTensorType wholeType = whole->concat.getType();
    SmallVector<int64_t> shape(wholeType.getShape());
    shape[0] = count;
    all = SliceOp::create(builder, root.getLoc(), type.clone(shape),
                          whole->concat, 0, whole->first + first);
  } else {
    SmallVector<Value> some;
    for (Value matrix : ArrayRef<Value>(operand.matrices).slice(first, count))
      some.push_back(reshape(matrix, {1, rows, columns}));
    all = concat(some, 0);
  }
  return reshape(all, {count * rows, columns});
}

/// Joins pads of consecutive ranges along one axis. Pads the result if it is
/// smaller than the sum.
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

static bool hasWhole(const Operand &operand) {
  return operand.whole.has_value();
}

std::array<Operand, 2> Sum::getOperands(ArrayRef<MatMulOp> products) {
  std::array<Operand, 2> operands;
  for (MatMulOp product : products) {
    operands[0].matrices.push_back(product.getLhs());
    operands[1].matrices.push_back(product.getRhs());
  }
  for (Operand &operand : operands)
    operand.whole = findWhole(operand.matrices);
  return operands;
}

/// A^T B + C^T D is [A; C]^T [B; D]. Operands that are slices of one value are
/// read from that value. Of the others, terms are concatenated in groups that
/// have no more elements than the result, so that the copy takes no more memory
/// than the result.
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
    if (products.size() == 1) {
      terms.push_back(products.front());
      continue;
    }
    // The backward pass goes through positions in reverse. A layer may do so,
    // too.
    SmallVector<MatMulOp> ordered(llvm::reverse(products));
    std::array<Operand, 2> operands = getOperands(ordered);
    if (std::array<Operand, 2> others = getOperands(products);
        llvm::none_of(operands, hasWhole) && llvm::any_of(others, hasWhole)) {
      ordered = products;
      operands = others;
    }
    int64_t rows = cast<RankedTensorType>(types.first).getDimSize(0) / parts;
    int64_t copied = 0; // elements of a term
    for (auto [i, operand] : llvm::enumerate(operands))
      copied += operand.whole ? 0 : rows * result.getDimSize(i);
    int64_t count = products.size();
    int64_t atOnce = std::clamp<int64_t>(
        copied ? result.getNumElements() / copied : count, 1, count);
    for (int64_t first = 0; first < count; first += atOnce) {
      int64_t size = std::min(atOnce, count - first);
      if (size == 1) {
        terms.push_back(ordered[first]);
        continue;
      }
      Value left = takeRows(operands[0], first, size);
      Value right = takeRows(operands[1], first, size);
      joined.push_back(MatMulOp::create(builder, root.getLoc(), result, left,
                                        right, /*transpose_lhs=*/true,
                                        /*transpose_rhs=*/false));
    }
  }
}

/// From the first joined term on, which has the type of the sum.
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
    // Joins pads first: the result may be an operand of products.
    forEachSum([](Sum &sum) { sum.joinPads(); });
    forEachSum([&](Sum &sum) { sum.joinProducts(parts); });
  }

private:
  void forEachSum(function_ref<void(Sum &)> join) {
    SmallVector<AddOp> roots;
    getOperation()->walk([&](AddOp add) {
      if (!isTerm(add) && add->getDiscardableAttrDictionary().empty())
        roots.push_back(add);
    });
    for (AddOp root : roots) {
      Sum sum(root);
      join(sum);
      sum.replace();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      eraseDeadOps(function);
  }
};

} // namespace
