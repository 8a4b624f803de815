//===- Evaluate.cpp - elements of tensors as vectors ----------------------===//
//
// Widens the ops of a statement's scalar body to vector code. Operands are
// vectors if they vary with the column, and scalars otherwise.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/RowLoops/Evaluate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

void Evaluator::enterNest(OpBuilder builder) {
  nestScope = Scope();
  nestScope.builder = builder;
}

void Evaluator::enterRow(ValueRange loops) {
  rowLoops.assign(loops.begin(), loops.end());
  rowScope = Scope();
  rowValues.clear();
}

void Evaluator::forgetRowValue(Statement *reduction) {
  rowValues.erase(reduction);
  SmallVector<std::pair<Value, AffineMap>> read;
  for (const auto &[key, value] : rowScope.values)
    if (key.first == reduction->result)
      read.push_back(key);
  for (const auto &key : read)
    rowScope.values.erase(key);
}

void Evaluator::enterPhase(unsigned number, OpBuilder builder) {
  phase = number;
  rowScope.builder = builder;
}

void Evaluator::enterChunk(OpBuilder builder, Value start, int64_t newWidth,
                           Scope *kept) {
  ownChunk = Scope();
  chunkScope = kept ? kept : &ownChunk;
  chunkScope->builder = builder;
  column = start;
  width = newWidth;
}

Evaluator::Level Evaluator::getLevel(AffineMap position) const {
  if (position.isFunctionOfDim(nest.getColumnLoop()))
    return Level::Column;
  bool hasRows = llvm::any_of(nest.rows, [](int64_t n) { return n > 1; });
  for (unsigned loop = 0; loop < nest.rows.size(); ++loop)
    if (position.isFunctionOfDim(loop))
      return Level::Row;
  return hasRows ? Level::Nest : Level::Row;
}

Scope &Evaluator::getScope(Level which) {
  switch (which) {
  case Level::Nest:
    return nestScope;
  case Level::Row:
    return rowScope;
  case Level::Column:
    return *chunkScope;
  }
  llvm_unreachable("all levels are handled");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Evaluator::getBuffer(const Statement &statement) const {
  if (!statement.result)
    return buffers.copies.lookup(const_cast<Statement *>(&statement));
  return buffers.tensors.lookup(statement.result);
}

FlatIndex Evaluator::getColumnIndex() const {
  FlatIndex index;
  index.coefficients.assign(nest.getNumLoops(), 0);
  index.coefficients.back() = 1;
  return index;
}

Value Evaluator::getLoop(unsigned loop) {
  return loop == nest.getColumnLoop() ? column : rowLoops[loop];
}

/// The sum of a flat index's terms. Terms of the row are computed once for each
/// row.
Value Evaluator::getFlatIndex(const FlatIndex &index, bool withColumn) {
  MLIRContext *context = loc.getContext();
  AffineExpr rowExpr = getAffineConstantExpr(index.constant, context);
  Level rowLevel = Level::Nest;
  for (unsigned loop = 0; loop < nest.rows.size(); ++loop)
    if (index.coefficients[loop]) {
      rowExpr =
          rowExpr + getAffineDimExpr(loop, context) * index.coefficients[loop];
      rowLevel = Level::Row;
    }
  Scope &scope = getScope(rowLevel);
  Value &base = scope.indices[rowExpr];
  if (!base) {
    OpBuilder &b = *scope.builder;
    base = arith::ConstantIndexOp::create(b, loc, index.constant);
    for (unsigned loop = 0; loop < nest.rows.size(); ++loop)
      if (int64_t coefficient = index.coefficients[loop]) {
        Value factor = arith::ConstantIndexOp::create(b, loc, coefficient);
        Value term = b.createOrFold<arith::MulIOp>(loc, rowLoops[loop], factor);
        base = b.createOrFold<arith::AddIOp>(loc, base, term);
      }
  }
  int64_t step = index.coefficients[nest.getColumnLoop()];
  if (!withColumn || step == 0)
    return base;
  OpBuilder &b = getBuilder();
  Value factor = arith::ConstantIndexOp::create(b, loc, step);
  Value term = b.createOrFold<arith::MulIOp>(loc, column, factor);
  return b.createOrFold<arith::AddIOp>(loc, base, term);
}

static Value addIndex(OpBuilder &b, Location loc, Value a, int64_t constant) {
  return b.createOrFold<arith::AddIOp>(
      loc, a, arith::ConstantIndexOp::create(b, loc, constant));
}

static bool isBool(Type type) {
  return getElementTypeOrSelf(type).isInteger(1);
}

static Value loadElement(OpBuilder &b, Location loc, Value memref,
                         Value index) {
  return memref::LoadOp::create(b, loc, memref, index);
}

/// The known alignment of a chunk's address, at most the size of the vector;
/// none if unknown. Chunks begin at multiples of their width.
llvm::MaybeAlign Evaluator::getAlignment(Value memref, const FlatIndex &index,
                                         bool hasStart,
                                         int64_t startStep) const {
  auto known = buffers.alignments.find(memref);
  if (known == buffers.alignments.end())
    return {};
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  int64_t size = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  int64_t elements = std::gcd(index.constant, width);
  for (unsigned loop = 0; loop < nest.rows.size(); ++loop)
    if (nest.rows[loop] > 1)
      elements = std::gcd(elements, index.coefficients[loop]);
  if (hasStart)
    elements = std::gcd(elements, startStep);
  return llvm::Align(
      llvm::bit_floor<uint64_t>(std::gcd(known->second, elements * size)));
}

Value Evaluator::load(Value memref, const FlatIndex &index, Value start,
                      int64_t startStep) {
  OpBuilder &b = getBuilder();
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  int64_t step = index.coefficients[nest.getColumnLoop()];
  Value at = getFlatIndex(index, /*withColumn=*/true);
  if (start)
    at = arith::AddIOp::create(b, loc, at, start);
  int64_t lanes = getWidth();
  if (step == 0 || lanes == 1)
    return loadElement(b, loc, memref, at);
  auto type = VectorType::get(lanes, element);
  if (step == 1)
    return vector::LoadOp::create(
        b, loc, type, memref, at, /*nontemporal=*/false,
        getAlignment(memref, index, start != nullptr, startStep));
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(
        loadElement(b, loc, memref, addIndex(b, loc, at, lane * step)));
  return vector::FromElementsOp::create(b, loc, type, elements);
}

void Evaluator::store(Value value, Value memref, const FlatIndex &index,
                      Value start, int64_t startStep) {
  OpBuilder &b = getBuilder();
  int64_t step = index.coefficients[nest.getColumnLoop()];
  if (isBool(value.getType())) {
    Type byte = b.getI8Type();
    if (auto type = dyn_cast<VectorType>(value.getType()))
      byte = type.clone(byte);
    value = arith::ExtUIOp::create(b, loc, byte, value);
  }
  Value at = getFlatIndex(index, /*withColumn=*/true);
  if (start)
    at = arith::AddIOp::create(b, loc, at, start);
  if (getWidth() == 1) {
    memref::StoreOp::create(b, loc, value, memref, at);
    return;
  }
  value = widen(value);
  if (step == 1) {
    vector::StoreOp::create(
        b, loc, value, memref, at, /*nontemporal=*/false,
        getAlignment(memref, index, start != nullptr, startStep));
    return;
  }
  for (int64_t lane = 0; lane < getWidth(); ++lane) {
    Value element = vector::ExtractOp::create(b, loc, value, lane);
    memref::StoreOp::create(b, loc, element, memref,
                            addIndex(b, loc, at, lane * step));
  }
}

Value Evaluator::widen(Value value) {
  if (getWidth() == 1 || isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get(getWidth(), value.getType());
  return vector::BroadcastOp::create(getBuilder(), loc, type, value);
}

/// Converts a loaded element: booleans are bytes in memory.
Value Evaluator::fromMemory(Value tensor, Value value) {
  if (!isBool(tensor.getType()))
    return value;
  OpBuilder &b = getBuilder();
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

Value Evaluator::loadTensor(Value tensor, Value memref, AffineMap position) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return fromMemory(tensor,
                    load(memref, FlatIndex::get(position, type.getShape())));
}

/// Adds to row `row` of a table, counted from `index`, for all columns of the
/// chunk.
void Evaluator::addScattered(Value memref, Value value, Value row,
                             const FlatIndex &index, int64_t rowElements) {
  OpBuilder &b = getBuilder();
  Type indexType = b.getIndexType();
  if (auto vector = dyn_cast<VectorType>(row.getType()))
    indexType = vector.clone(indexType);
  Value start = arith::IndexCastOp::create(b, loc, indexType, row);
  Value rowSize = arith::ConstantIndexOp::create(b, loc, rowElements);
  int64_t step = index.coefficients[nest.getColumnLoop()];
  bool isOneRow = !isa<VectorType>(indexType);
  if (isOneRow && (step != 0 || getWidth() == 1)) {
    start = arith::MulIOp::create(b, loc, start, rowSize);
    Value sum = arith::AddFOp::create(b, loc, widen(load(memref, index, start)),
                                      widen(value));
    store(sum, memref, index, start);
    return;
  }
  // Columns may have the same row or be one element, so they are added one
  // after another.
  if (isOneRow)
    start = vector::BroadcastOp::create(
        b, loc, VectorType::get(getWidth(), b.getIndexType()), start);
  Value at = getFlatIndex(index, /*withColumn=*/true);
  value = widen(value);
  for (int64_t lane = 0; lane < getWidth(); ++lane) {
    Value own = vector::ExtractOp::create(b, loc, start, lane);
    own = arith::MulIOp::create(b, loc, own, rowSize);
    own = arith::AddIOp::create(b, loc, own, addIndex(b, loc, at, lane * step));
    Value sum =
        arith::AddFOp::create(b, loc, loadElement(b, loc, memref, own),
                              vector::ExtractOp::create(b, loc, value, lane));
    memref::StoreOp::create(b, loc, sum, memref, own);
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value Evaluator::evaluate(Value tensor, AffineMap position) {
  llvm::SaveAndRestore<Level> inner(level, getLevel(position));
  auto key = std::make_pair(tensor, position);
  if (Value known = getScope(level).values.lookup(key))
    return known;
  Value value = compute(tensor, position);
  getScope(level).values[key] = value;
  return value;
}

Value Evaluator::compute(Value tensor, AffineMap position) {
  OpBuilder &b = getBuilder();
  if (!isa<RankedTensorType>(tensor.getType())) // a scalar operand
    return b.clone(*tensor.getDefiningOp())->getResult(0);
  Statement *s = plan.lookup(tensor);
  if (!s) {
    DenseElementsAttr elements;
    if (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat())
      return arith::ConstantOp::create(
          b, loc, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
    return loadTensor(tensor, buffers.tensors.lookup(tensor), position);
  }
  if (s->isRoot) {
    bool isHere = s->nest == nestIndex;
    if (isHere && s->kind == StatementKind::RowReduction)
      return rowValues.lookup(s);
    if (!isHere || s->phase < phase || !s->isFunction())
      return loadTensor(tensor, getBuffer(*s), position);
  }
  auto temporary = nest.temporaries.find(s);
  if (Value row = temporaries.lookup(s); row &&
                                         temporary->second.phase < phase &&
                                         temporary->second.position == position)
    return fromMemory(tensor, load(row, getColumnIndex()));
  return evaluateStatement(*s, position);
}

Value Evaluator::evaluateStatement(const Statement &s, AffineMap position) {
  Block *body = s.getBody();
  if (!body)
    return evaluate(s.inputs[0].tensor, s.inputs[0].map.compose(position));
  DenseMap<Value, Value> known;
  Value yielded = body->getTerminator()->getOperand(0);
  if (s.combiner) {
    bool isFirst = s.combiner->getOperand(0) == body->getArguments().back();
    yielded = s.combiner->getOperand(isFirst ? 1 : 0);
  }
  return evaluateScalar(yielded, s, position, known);
}

Value Evaluator::evaluateScalar(Value value, const Statement &s,
                                AffineMap position,
                                DenseMap<Value, Value> &known) {
  if (Value before = known.lookup(value))
    return before;
  auto remember = [&](Value result) { return known[value] = result; };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const TensorRead &input = s.inputs[argument.getArgNumber()];
    return remember(evaluate(input.tensor, input.map.compose(position)));
  }
  OpBuilder &b = getBuilder();
  Operation *op = value.getDefiningOp();
  if (auto number = dyn_cast<linalg::IndexOp>(op))
    return remember(
        getLoopNumber(position.getResult(number.getDim()), value.getType()));
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    if (auto number = cast.getIn().getDefiningOp<linalg::IndexOp>())
      return remember(
          getLoopNumber(position.getResult(number.getDim()), value.getType()));
  if (isa<tensor::ExtractOp>(op))
    return remember(lookUp(op, s, position, known));

  IRMapping mapping;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluateScalar(operand, s, position, known));
  bool isVector = llvm::any_of(
      operands, [](Value v) { return isa<VectorType>(v.getType()); });
  for (auto [from, to] : llvm::zip(op->getOperands(), operands))
    mapping.map(from, isVector ? widen(to) : to);
  Operation *clone = b.clone(*op, mapping);
  Value result = clone->getResult(0);
  if (isVector)
    result.setType(VectorType::get(getWidth(), result.getType()));
  return remember(result);
}

/// The value of an affine expression of the loops, converted to an integer
/// type.
Value Evaluator::getLoopNumber(AffineExpr expr, Type type) {
  FlatIndex index =
      FlatIndex::get(AffineMap::get(nest.getNumLoops(), 0, expr), {1});
  OpBuilder &b = getBuilder();
  Value number = getFlatIndex(index, /*withColumn=*/true);
  if (!type.isIndex())
    number = arith::IndexCastOp::create(b, loc, type, number);
  int64_t step = index.coefficients[nest.getColumnLoop()];
  if (step == 0 || getWidth() == 1)
    return number;
  SmallVector<Attribute> offsets;
  for (int64_t lane = 0; lane < getWidth(); ++lane)
    offsets.push_back(b.getIntegerAttr(type, lane * step));
  auto vector = VectorType::get(getWidth(), type);
  Value lanes = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(vector, offsets));
  return arith::AddIOp::create(b, loc, widen(number), lanes);
}

/// Reads a tensor at indices that are data or loop variables. Usually only loop
/// variables vary within a row; if data do, each lane loads its own element.
Value Evaluator::lookUp(Operation *op, const Statement &s, AffineMap position,
                        DenseMap<Value, Value> &known) {
  auto extract = cast<tensor::ExtractOp>(op);
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  Statement *source = plan.lookup(extract.getTensor());
  Value memref =
      source ? getBuffer(*source) : buffers.tensors.lookup(extract.getTensor());
  OpBuilder &b = getBuilder();
  FlatIndex affine;
  affine.coefficients.assign(nest.getNumLoops(), 0);
  Value start;
  int64_t stride = 1, startStep = 0;
  for (int64_t dim = type.getRank(); dim-- > 0;
       stride *= type.getDimSize(dim)) {
    Value index = extract.getIndices()[dim];
    if (auto number = index.getDefiningOp<linalg::IndexOp>()) {
      AffineExpr expr = position.getResult(number.getDim()) * stride;
      FlatIndex term =
          FlatIndex::get(AffineMap::get(nest.getNumLoops(), 0, expr), {1});
      for (auto [sum, c] : llvm::zip(affine.coefficients, term.coefficients))
        sum += c;
      affine.constant += term.constant;
      continue;
    }
    startStep = std::gcd(startStep, stride);
    Value data = evaluateScalar(index, s, position, known);
    Value factor = arith::ConstantIndexOp::create(b, loc, stride);
    if (isa<VectorType>(data.getType()))
      factor = widen(factor);
    Value term = arith::MulIOp::create(b, loc, data, factor);
    if (start && start.getType() != term.getType()) {
      start = widen(start);
      term = widen(term);
    }
    start = start ? arith::AddIOp::create(b, loc, start, term) : term;
  }
  Value value;
  if (start && isa<VectorType>(start.getType())) {
    Value at = getFlatIndex(affine, /*withColumn=*/true);
    int64_t step = affine.coefficients[nest.getColumnLoop()];
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < getWidth(); ++lane) {
      Value own = vector::ExtractOp::create(b, loc, start, lane);
      own =
          arith::AddIOp::create(b, loc, own, addIndex(b, loc, at, lane * step));
      elements.push_back(loadElement(b, loc, memref, own));
    }
    auto vector = VectorType::get(getWidth(), elements[0].getType());
    value = vector::FromElementsOp::create(b, loc, vector, elements);
  } else {
    value = load(memref, affine, start, startStep);
  }
  return fromMemory(extract.getTensor(), value);
}
