//===- Statements.cpp - statements of a kernel's ops ----------------------===//
//
// Makes a statement for each op of a kernel, or for each part of a
// concatenation, and decides which of them are roots, with a place of their own
// in a nest.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/RowLoops/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> getShape(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

Block *Statement::getBody() const {
  auto structured = llvm::dyn_cast_or_null<linalg::LinalgOp>(op);
  return structured ? structured.getBlock() : nullptr;
}

Statement &RowLoopsPlan::add(Operation *op, Value result, StatementKind kind) {
  auto &statement = *statements.emplace_back(std::make_unique<Statement>());
  statement.op = op;
  statement.result = result;
  statement.kind = kind;
  if (result)
    byResult[result] = &statement;
  return statement;
}

static bool isReduced(utils::IteratorType type) {
  return type == utils::IteratorType::reduction;
}

/// The op that combines the accumulator of a reduction with one element.
static Operation *getCombiner(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value accumulator = body->getArguments().back();
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != combiner ||
      !isa<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    return nullptr;
  return combiner;
}

LogicalResult RowLoopsPlan::addStructured(Operation *op) {
  auto structured = cast<linalg::LinalgOp>(op);
  if (structured.getNumDpsInits() != 1 || op->getNumResults() != 1)
    return op->emitOpError("has ")
           << op->getNumResults() << " results, expected one tensor";
  SmallVector<utils::IteratorType> iterators =
      structured.getIteratorTypesArray();
  auto kind = StatementKind::Map;
  Operation *combiner = nullptr;
  if (!llvm::any_of(iterators, isReduced) &&
      !structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
           .isIdentity())
    return op->emitOpError("permutes its result, expected the loops in order");
  if (llvm::any_of(iterators, isReduced)) {
    bool onlyLast = !llvm::any_of(ArrayRef(iterators).drop_back(), isReduced);
    kind = onlyLast ? StatementKind::RowReduction : StatementKind::Accumulation;
    combiner = getCombiner(structured);
    if (!combiner)
      return op->emitOpError("is not a sum or a maximum");
  }
  Statement &statement = add(op, op->getResult(0), kind);
  statement.combiner = combiner;
  statement.ranges = structured.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands())
    statement.inputs.push_back(
        {operand.get(), structured.getMatchingIndexingMap(&operand)});
  statement.outMap = statement.inputs.back().map;
  return success();
}

/// Maps the loops of a slice to the source, shifted by its offsets.
static AffineMap getShiftedMap(OpBuilder &b, ArrayRef<int64_t> offsets) {
  SmallVector<AffineExpr> indices;
  for (auto [dim, offset] : llvm::enumerate(offsets))
    indices.push_back(b.getAffineDimExpr(dim) + offset);
  return AffineMap::get(offsets.size(), 0, indices, b.getContext());
}

/// Adds a statement for each operand. They write the buffer of the result,
/// because no other tensor starts as a part of this one.
void RowLoopsPlan::addParts(tensor::ConcatOp concat) {
  OpBuilder b(concat.getContext());
  Value result = concat.getResult();
  SmallVector<int64_t> offsets(concat.getResultType().getRank(), 0);
  for (Value part : concat.getInputs()) {
    Statement *previous = lookup(result);
    Statement &s = add(concat, result, StatementKind::Map);
    s.ranges = llvm::to_vector(getShape(part));
    s.inputs = {{part, b.getMultiDimIdentityMap(s.ranges.size())}};
    s.outMap = getShiftedMap(b, offsets);
    s.isPart = true;
    s.previous = previous;
    offsets[concat.getDim()] += s.ranges[concat.getDim()];
  }
}

LogicalResult RowLoopsPlan::addStatements(func::FuncOp function) {
  OpBuilder b(function.getContext());
  for (Operation &op : function.front().without_terminator()) {
    if (isa<arith::ConstantOp, tensor::EmptyOp>(op))
      continue;
    if (isa<linalg::LinalgOp>(op)) {
      if (failed(addStructured(&op)))
        return failure();
    } else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
      Statement &s = add(&op, extract.getResult(), StatementKind::Map);
      s.ranges = llvm::to_vector(getShape(s.result));
      s.inputs = {
          {extract.getSource(), getShiftedMap(b, extract.getStaticOffsets())}};
      s.outMap = b.getMultiDimIdentityMap(s.ranges.size());
    } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      addParts(concat);
    } else if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
      Statement &s = add(&op, scatter.getResult(), StatementKind::Scatter);
      s.ranges = llvm::to_vector(getShape(scatter.getUpdates()));
      AffineMap identity = b.getMultiDimIdentityMap(s.ranges.size());
      unsigned indexRank = scatter.getIndices().getType().getRank();
      unsigned batchDims = scatter.getBatchDims();
      auto getPart = [&](ArrayRef<AffineExpr> loops) {
        return AffineMap::get(s.ranges.size(), 0, loops, b.getContext());
      };
      s.inputs = {{scatter.getUpdates(), identity},
                  {scatter.getIndices(),
                   getPart(identity.getResults().take_front(indexRank))}};
      // The row at an index is added relative to row 0.
      SmallVector<AffineExpr> first(
          identity.getResults().take_front(batchDims));
      first.push_back(b.getAffineConstantExpr(0));
      llvm::append_range(first, identity.getResults().drop_front(indexRank));
      s.outMap = getPart(first);
    } else {
      return op.emitOpError("is not lowered, expected linalg ops on tensors");
    }
  }
  return success();
}

void dtc::forEachInput(const Statement &s,
                       function_ref<void(const TensorRead &)> callback) {
  Block *body = s.getBody();
  for (auto [index, input] : llvm::enumerate(s.inputs)) {
    bool isAccumulator = s.combiner && index + 1 == s.inputs.size();
    if (isAccumulator || (body && body->getArgument(index).use_empty()))
      continue;
    callback(input);
  }
}

SmallVector<Value> dtc::getLookedUp(const Statement &s) {
  SmallVector<Value> sources;
  if (Block *body = s.getBody())
    for (auto extract : body->getOps<tensor::ExtractOp>())
      sources.push_back(extract.getTensor());
  return sources;
}

void RowLoopsPlan::chooseRoots(func::FuncOp function) {
  DenseMap<Value, unsigned> returned;
  for (Value value : function.front().getTerminator()->getOperands()) {
    Statement *s = lookup(value);
    if (!s || returned.count(value)) {
      // The result is an argument, a constant, or a value returned before.
      s = &add(nullptr, Value(), StatementKind::Map);
      s->ranges = llvm::to_vector(getShape(value));
      s->outMap = AffineMap::getMultiDimIdentityMap(s->ranges.size(),
                                                    value.getContext());
      s->inputs = {{value, s->outMap}};
    }
    s->isRoot = s->isStored = true;
    returned[value] = results.size();
    results.push_back(s);
  }
  // Marks the inputs of roots as live, in reverse order, so users come before
  // their inputs.
  SmallPtrSet<Statement *, 16> live(results.begin(), results.end());
  for (auto &s : llvm::reverse(statements)) {
    if (!live.contains(s.get()))
      continue;
    if (!s->isFunction())
      s->isRoot = true;
    if (s->isRoot && s->kind != StatementKind::RowReduction)
      s->isStored = true;
    forEachInput(*s, [&](const TensorRead &input) {
      if (Statement *producer = lookup(input.tensor))
        live.insert(producer);
    });
    if (s->previous)
      live.insert(s->previous);
    for (Value source : getLookedUp(*s))
      if (Statement *producer = lookup(source)) {
        producer->isRoot = producer->isStored = true;
        live.insert(producer);
      }
  }
}
