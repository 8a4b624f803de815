//===- NestDivision.cpp - division of a nest among threads ----------------===//

#include "NestDivision.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

/// Cost of computing an element, in multiply-adds of a matmul.
static constexpr int64_t elementWork = 8;
static constexpr int64_t mostParts = 64;
/// If parts have memory of their own, this limits their number and their total
/// size.
static constexpr int64_t mostPartsWithMemory = 16;
static constexpr int64_t mostPartBytes = int64_t(4) << 20;
/// The outermost row loop with at least this many iterations is divided; if
/// there is none, the one with most iterations.
static constexpr int64_t manyRows = 16;
/// A sum over rows with at least this many elements is divided by rows: reading
/// whole rows is faster than reading some columns of each. If that gives too
/// few parts, it is divided by columns.
static constexpr int64_t manyColumns = 256;
static constexpr int64_t manyRowsOfSum = 32;
static constexpr int64_t fewestRowParts = 4;

/// Selects the row loop to divide; none if all have one iteration.
static std::optional<unsigned> chooseRowLoop(ArrayRef<int64_t> rows) {
  std::optional<unsigned> best;
  for (unsigned loop = 0; loop < rows.size(); ++loop) {
    if (rows[loop] >= manyRows)
      return loop;
    if (rows[loop] > (best ? rows[*best] : 1))
      best = loop;
  }
  return best;
}

NestDivision NestDivision::choose(const Nest &nest, int64_t lanes,
                                  int64_t leastWork) {
  NestDivision division;
  int64_t rows = 1, columns = nest.roots[0]->columns;
  for (int64_t range : nest.rows)
    rows *= range;
  bool sumsColumns = false, scatters = false, isEven = true;
  int64_t partBytes = 0;
  for (Statement *root : nest.roots) {
    division.work += rows * root->columns * elementWork;
    isEven &= root->columns == columns;
    scatters |= root->kind == StatementKind::Scatter;
    if (root->kind == StatementKind::Map)
      continue;
    // The statement sums columns, or the column's data choose its element.
    sumsColumns |= getWrittenIndex(*root).coefficients.back() == 0;
    if (root->kind == StatementKind::Accumulation)
      partBytes += getWrittenType(*root).getNumElements() * int64_t(8);
  }
  for (auto &[statement, temporary] : nest.temporaries)
    partBytes += temporary.columns * int64_t(8);
  if (division.work < leastWork)
    return division;

  std::optional<unsigned> rowLoop = chooseRowLoop(nest.rows);
  bool sumsRows = scatters || llvm::any_of(nest.roots, [](Statement *root) {
                    return root->kind == StatementKind::Accumulation;
                  });
  bool sumsWideRows = rowLoop && sumsRows && columns >= manyColumns;
  bool isWide = !rowLoop || scatters || sumsWideRows;
  int64_t vectors = columns / lanes;
  bool isOneRow = !rowLoop && !scatters;
  bool canDivideColumns = isEven && nest.numPhases == 1 && vectors > 1 &&
                          (sumsColumns ? isOneRow : isWide);
  int64_t rowParts = 0; // if rows are divided instead of columns
  if (canDivideColumns && sumsWideRows && !scatters)
    rowParts = std::min({nest.rows[*rowLoop], mostPartsWithMemory,
                         rows / manyRowsOfSum,
                         mostPartBytes / std::max<int64_t>(partBytes, 1)});
  if (canDivideColumns && rowParts < fewestRowParts) {
    int64_t parts = std::min(vectors, mostParts);
    if (sumsColumns)
      parts = std::min({parts, mostPartsWithMemory,
                        mostPartBytes / std::max<int64_t>(partBytes, 1)});
    if (parts < 2)
      return division;
    division.kind = Columns;
    division.hasOwnMemory = sumsColumns;
    division.parts = parts;
    return division;
  }
  if (!rowLoop || scatters)
    return division;
  int64_t parts = std::min(nest.rows[*rowLoop], mostParts);
  if (partBytes > 0)
    parts = std::min({parts, mostPartsWithMemory, mostPartBytes / partBytes});
  if (rowParts >= fewestRowParts)
    parts = rowParts;
  if (parts < 2)
    return division;
  division.kind = Rows;
  division.hasOwnMemory = true;
  division.rowLoop = *rowLoop;
  division.parts = parts;
  return division;
}

NestDivision NestDivision::ofElements(int64_t count, int64_t lanes,
                                      int64_t leastWork) {
  NestDivision division;
  division.work = count * elementWork;
  if (division.work < leastWork || count < 2 * lanes)
    return division;
  division.kind = Columns;
  division.parts = std::min(count / lanes, mostParts);
  return division;
}

Value dtc::getIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// number * count / parts, times `unit`.
static Value getBound(OpBuilder &b, Location loc, Value number, int64_t count,
                      int64_t parts, int64_t unit) {
  Value bound = arith::MulIOp::create(b, loc, number, getIndex(b, loc, count));
  bound = arith::DivUIOp::create(b, loc, bound, getIndex(b, loc, parts));
  return arith::MulIOp::create(b, loc, bound, getIndex(b, loc, unit));
}

void dtc::createParts(
    OpBuilder &b, Location loc, int64_t parts, int64_t work, int64_t count,
    int64_t unit,
    function_ref<void(OpBuilder &, Value part, Value begin, Value end)> body) {
  auto loop =
      scf::ParallelOp::create(b, loc, getIndex(b, loc, 0),
                              getIndex(b, loc, parts), getIndex(b, loc, 1));
  loop->setAttr(workAttrName, b.getI64IntegerAttr(work));
  Value part = loop.getInductionVars()[0];
  OpBuilder inner(loop.getBody()->getTerminator());
  Value next = arith::AddIOp::create(inner, loc, part, getIndex(inner, loc, 1));
  Value begin = getBound(inner, loc, part, count, parts, unit);
  body(inner, part, begin, getBound(inner, loc, next, count, parts, unit));
}
