//===- ViewParts.cpp - replace slices with views --------------------------===//
//
// A recurrent network reads adjacent positions of a tensor one after the other.
// A slice outside kernels would copy each of them, and each copy would need its
// own kernel, as its offset differs.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Bytes of the widest access of any device. A function's arguments may still
/// begin anywhere.
static constexpr int64_t partAlignment = 16;

static bool isOverwritten(Value value, const AliasClasses &classes) {
  return llvm::any_of(classes.getMembers(classes.getRoot(value)),
                      [&](Value member) { return classes.isUpdate(member); });
}

/// Whether a function returns a value or a view of it.
static bool isReturned(Value value, const AliasClasses &classes) {
  return llvm::any_of(classes.getMembers(value), [](Value member) {
    return llvm::any_of(member.getUsers(), [](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>();
    });
  });
}

namespace {

/// The axis of a cut, and the offsets of its results.
struct Cut {
  int64_t axis;
  SmallVector<int64_t> starts;
};

} // namespace

static std::optional<Cut> getCut(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  auto split = dyn_cast<SplitOp>(op);
  if (!slice && !split)
    return std::nullopt;
  Cut cut{int64_t(slice ? slice.getAxis() : split.getAxis()), {}};
  int64_t next = slice ? slice.getStart() : 0;
  for (Type part : op->getResultTypes()) {
    cut.starts.push_back(next);
    next += cast<RankedTensorType>(part).getDimSize(cut.axis);
  }
  return cut;
}

/// Whether each part is contiguous, and aligned so that kernels and libraries
/// can read it.
static bool areReadable(Value whole, const Cut &cut,
                        const AliasClasses &classes) {
  RankedTensorType type = getLocalType(whole.getType());
  if (llvm::product_of(type.getShape().take_front(cut.axis)) != 1 ||
      type.getDimSize(cut.axis) == 0)
    return false;
  int64_t row = getLocalBytes(whole.getType()) / type.getDimSize(cut.axis);
  return llvm::all_of(cut.starts, [&](int64_t start) {
    return (classes.getOffset(whole) + start * row) % partAlignment == 0;
  });
}

static bool mayView(const KernelUnit &unit, const AliasClasses &classes) {
  Operation *op = unit.ops.front();
  std::optional<Cut> cut = getCut(op);
  return unit.isKernel && unit.ops.size() == 1 && cut &&
         areReadable(op->getOperand(0), *cut, classes) &&
         !isOverwritten(op->getOperand(0), classes) &&
         llvm::none_of(op->getResults(), [&](Value part) {
           return isOverwritten(part, classes) || isReturned(part, classes);
         });
}

/// Replaces an op with views.
static SmallVector<Operation *> createViews(Operation *op) {
  Cut cut = *getCut(op);
  OpBuilder b(op);
  SmallVector<Operation *> views;
  for (auto [part, start] : llvm::zip(op->getResults(), cut.starts)) {
    auto view = SliceOp::create(b, op->getLoc(), part.getType(),
                                op->getOperand(0), cut.axis, start,
                                /*view=*/true);
    part.replaceAllUsesWith(view.getY());
    views.push_back(view);
  }
  op->erase();
  return views;
}

std::vector<KernelUnit> dtc::viewParts(std::vector<KernelUnit> units,
                                       const AliasClasses &classes) {
  // Decide before ops change: the classes describe the old ops.
  auto mayBeViews = llvm::map_to_vector(
      units, [&](const KernelUnit &unit) { return mayView(unit, classes); });
  std::vector<KernelUnit> result;
  for (auto [unit, mayBe] : llvm::zip(units, mayBeViews)) {
    if (mayBe)
      for (Operation *view : createViews(unit.ops.front()))
        result.push_back({{view}, /*isKernel=*/false});
    else
      result.push_back(std::move(unit));
  }
  return result;
}
