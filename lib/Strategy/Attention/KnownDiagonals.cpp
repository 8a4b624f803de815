//===- KnownDiagonals.cpp - masks that depend on distance -----------------===//
//
// A causal mask of 131072 tokens has 2^34 elements, but only one number for
// each distance of a query from a key. Comparisons and differences of positions
// are such matrices, and so are elementwise functions of them.
//
//===----------------------------------------------------------------------===//

#include "KnownElements.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/Elementwise.h"

using namespace mlir;
using namespace dtc;

namespace {

/// A matrix, or a value that repeats to one.
struct Matrix {
  enum Kind {
    Scalar,   ///< one number
    Row,      ///< one of each row, in steps of `step`
    Column,   ///< one of each column, in steps of `step`
    Diagonal, ///< one of each row - column, from 1 - columns on
  } kind;
  std::vector<double> numbers;
  double step = 0;
};

/// Evaluates each value once for each shape that it is repeated to.
class DiagonalEvaluator {
public:
  explicit DiagonalEvaluator(KnownElements &known) : known(known) {}

  std::optional<Matrix> evaluate(Value value, int64_t rows, int64_t columns) {
    std::pair key(value, std::pair(rows, columns));
    if (auto it = memo.find(key); it != memo.end())
      return it->second;
    std::optional<Matrix> result = compute(value, rows, columns);
    return memo[key] = std::move(result);
  }

private:
  std::optional<Matrix> compute(Value value, int64_t rows, int64_t columns);
  std::optional<Matrix> map(Operation *op, int64_t rows, int64_t columns);

  KnownElements &known;
  llvm::DenseMap<std::pair<Value, std::pair<int64_t, int64_t>>,
                 std::optional<Matrix>>
      memo;
};

} // namespace

/// Returns numbers with equal steps; none if the steps differ.
static std::optional<Matrix> makeLine(Matrix::Kind kind,
                                      ArrayRef<double> numbers) {
  double step = numbers.size() > 1 ? numbers[1] - numbers[0] : 0;
  for (size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != step)
      return std::nullopt;
  if (step == 0)
    return Matrix{Matrix::Scalar, {numbers[0]}};
  return Matrix{kind, numbers.vec(), step};
}

/// Exchanges rows and columns if the transpose does only that.
static std::optional<Matrix> flip(std::optional<Matrix> matrix,
                                  TransposeOp transpose) {
  auto order = llvm::to_vector(transpose.getPermutation());
  if (!matrix || order.size() < 2)
    return std::nullopt;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (!llvm::is_sorted(order))
    return std::nullopt;
  if (matrix->kind == Matrix::Row)
    matrix->kind = Matrix::Column;
  else if (matrix->kind == Matrix::Column)
    matrix->kind = Matrix::Row;
  else
    std::reverse(matrix->numbers.begin(), matrix->numbers.end());
  return matrix;
}

/// Evaluates an elementwise op once for each diagonal.
std::optional<Matrix> DiagonalEvaluator::map(Operation *op, int64_t rows,
                                             int64_t columns) {
  SmallVector<Matrix> operands;
  std::optional<double> rowStep, columnStep;
  for (Value operand : op->getOperands()) {
    std::optional<Matrix> x = evaluate(operand, rows, columns);
    if (!x)
      return std::nullopt;
    if (x->kind == Matrix::Row)
      rowStep = x->step;
    if (x->kind == Matrix::Column)
      columnStep = x->step;
    operands.push_back(std::move(*x));
  }
  // A comparison or difference of positions depends on their distance only if
  // their steps are equal.
  if (rowStep || columnStep)
    if (rowStep != columnStep || !isa<CompareOp, SubOp>(op))
      return std::nullopt;
  Matrix result{Matrix::Diagonal, {}};
  SmallVector<double> arguments(operands.size());
  for (int64_t distance = 1 - columns; distance < rows; ++distance) {
    int64_t row = std::max<int64_t>(distance, 0), column = row - distance;
    for (auto [argument, x] : llvm::zip(arguments, operands))
      argument = x.numbers[x.kind == Matrix::Scalar   ? 0
                           : x.kind == Matrix::Row    ? row
                           : x.kind == Matrix::Column ? column
                                                      : distance + columns - 1];
    double number = *evaluateElement(op, arguments);
    if (!KnownElements::convert(number, getElementTypeOrSelf(op->getResult(0))))
      return std::nullopt;
    result.numbers.push_back(number);
  }
  return result;
}

std::optional<Matrix> DiagonalEvaluator::compute(Value value, int64_t rows,
                                                 int64_t columns) {
  if (auto elements = known.getFew(value)) {
    auto &[shape, numbers] = *elements;
    int64_t count = numbers->size();
    int64_t last = shape.empty() ? 1 : shape.back();
    if (count == 1)
      return Matrix{Matrix::Scalar, *numbers};
    if (count == rows && last == 1 && shape.size() > 1 &&
        shape[shape.size() - 2] == rows)
      return makeLine(Matrix::Row, *numbers);
    if (count == columns && last == columns)
      return makeLine(Matrix::Column, *numbers);
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<ReshapeOp, BroadcastOp>(op)) {
    // Dimensions before those of the matrix are repeated, or have size 1.
    Value x = op->getOperand(0);
    ArrayRef<int64_t> shape = cast<ShapedType>(x.getType()).getShape();
    ArrayRef<int64_t> own = cast<ShapedType>(value.getType()).getShape();
    if (shape.size() < 2 || own.size() < 2 ||
        shape.take_back(2) != own.take_back(2))
      return std::nullopt;
    return evaluate(x, rows, columns);
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return flip(evaluate(transpose.getX(), columns, rows), transpose);
  if (KnownElements::isMapped(op))
    return map(op, rows, columns);
  return std::nullopt;
}

std::optional<std::vector<double>> KnownElements::getDiagonals(Value value) {
  ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
  if (shape.size() < 2)
    return std::nullopt;
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  std::optional<Matrix> matrix =
      DiagonalEvaluator(*this).evaluate(value, rows, columns);
  if (!matrix || matrix->kind != Matrix::Diagonal)
    return std::nullopt;
  hasTooMany = false; // too many elements, but few diagonals
  return std::move(matrix->numbers);
}
