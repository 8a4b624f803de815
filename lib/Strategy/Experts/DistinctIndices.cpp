//===- DistinctIndices.cpp - indices that are known to differ -------------===//
//
// The importer makes a TopK of comparisons: the j-th index is the place whose
// rank is j. A place has one rank, so indices of different ranks differ. This
// relies on ranks that all occur, as the importer makes them.
//
//===----------------------------------------------------------------------===//

#include "DistinctIndices.h"
#include "Numbers.h"
#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

/// Whether the elements of a constant differ.
static bool areDistinct(DenseElementsAttr constant) {
  llvm::DenseSet<Attribute> seen;
  return constant &&
         llvm::all_of(constant.getValues<Attribute>(), [&](Attribute value) {
           return seen.insert(value).second;
         });
}

/// Whether no element of a constant is below a number.
static bool isLeast(Value number, DenseElementsAttr constant) {
  std::optional<double> least = getNumber(number);
  return least &&
         llvm::all_of(constant.getValues<APFloat>(), [&](const APFloat &value) {
           return value.convertToDouble() >= *least;
         });
}

static DenseElementsAttr getConstantOperand(Operation *op, unsigned operand) {
  return getConstant(op->getOperand(operand));
}

int64_t dtc::findDistinct(Value indices) {
  Operation *op = indices.getDefiningOp();
  while (op && isa<ReshapeOp, CastOp, BoundaryOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto most = dyn_cast_if_present<ReduceMaxOp>(op);
  auto select = most ? most.getX().getDefiningOp<SelectOp>() : SelectOp();
  auto compare =
      select ? select.getCondition().getDefiningOp<CompareOp>() : CompareOp();
  if (!compare || compare.getPredicate() != Comparison::eq)
    return 1;
  // Ranks [.., 1, places] are compared with numbers [1, .., count, 1], and the
  // places [1, .., 1, places] are chosen.
  DenseElementsAttr numbers = getConstantOperand(compare, 1);
  DenseElementsAttr places = getConstantOperand(select, 1);
  ArrayRef<int64_t> shape = select.getResult().getType().getShape();
  int64_t rank = shape.size();
  if (rank < 2 || !areDistinct(numbers) || !areDistinct(places) ||
      most.getAxes() != ArrayRef<int64_t>{rank - 1} ||
      numbers.getNumElements() != shape[rank - 2] ||
      numbers.getType().getShape().back() != 1 ||
      places.getNumElements() != shape[rank - 1] ||
      !isa<FloatType>(places.getElementType()) ||
      !isLeast(select.getOnFalse(), places))
    return 1;
  return shape[rank - 2];
}
