//===- RowSums.cpp - accumulations over rows ------------------------------===//
//
// A sum belongs to the whole nest, or to a part of it. Sums of parts are added
// in order.
//
//===----------------------------------------------------------------------===//

#include "RowLoopsEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dtc;

/// A loop over elements of flat buffers from `begin` to `end`, `lanes` at a
/// time.
static void
emitVectorLoop(OpBuilder &b, Location loc, Value begin, Value end,
               int64_t lanes,
               function_ref<void(OpBuilder &, Value, int64_t)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, getIndex(b, loc, lanes));
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  body(inner, loop.getInductionVar(), lanes);
}

/// A loop over all elements of flat buffers. Threads share it unless it belongs
/// to a part.
void RowLoopsEmitter::emitFlatLoop(
    OpBuilder &b, int64_t size, bool isOfPart,
    function_ref<void(OpBuilder &, Value, int64_t)> body) {
  int64_t full = size / lanes * lanes;
  NestDivision flat = NestDivision::ofElements(size, lanes, leastWork);
  if (!isOfPart && flat.kind != NestDivision::None)
    createParts(b, loc, flat.parts, flat.work, size / lanes, lanes,
                [&](OpBuilder &inner, Value, Value begin, Value end) {
                  emitVectorLoop(inner, loc, begin, end, lanes, body);
                });
  else if (full > 0)
    emitVectorLoop(b, loc, getIndex(b, loc, 0), getIndex(b, loc, full), lanes,
                   body);
  if (size > full)
    body(b, getIndex(b, loc, full), size - full);
}

RowLoopsEmitter::PartBuffer RowLoopsEmitter::allocate(Type element,
                                                      int64_t size) {
  int64_t count = division.hasOwnMemory ? division.parts : 1;
  return {element, size, layout.add(element, size, count)};
}

/// The buffer of a part, or the only buffer if `part` is null.
Value RowLoopsEmitter::view(OpBuilder &b, const PartBuffer &buffer,
                            Value part) const {
  Value offset = getIndex(b, loc, buffer.offset);
  if (part) {
    int64_t stride = ScratchLayout::getStride(buffer.element, buffer.size);
    Value distance =
        arith::MulIOp::create(b, loc, part, getIndex(b, loc, stride));
    offset = arith::AddIOp::create(b, loc, offset, distance);
  }
  return arguments.viewScratch(b, loc, buffer.element, buffer.size, offset);
}

/// Whether a sum is kept in scratch. Sums over rows have as many terms as there
/// are rows, all in one lane, so sums of f32 are kept in f64. Parts that add to
/// the same elements have sums of their own.
bool RowLoopsEmitter::isSummedInScratch(Statement *root) const {
  if (root->kind == StatementKind::RowReduction) // of the only row
    return division.kind == NestDivision::Columns && division.hasOwnMemory;
  return root->kind == StatementKind::Accumulation &&
         (isSinglePrecisionSum(*root) || division.hasOwnMemory);
}

void RowLoopsEmitter::allocateAccumulators() {
  for (Statement *root : nest.roots) {
    if (!isSummedInScratch(root))
      continue;
    RankedTensorType type = getWrittenType(*root);
    Type element = isSinglePrecisionSum(*root)
                       ? Float64Type::get(type.getContext())
                       : type.getElementType();
    ownSums[root] = allocate(element, type.getNumElements());
  }
}

/// Initializes the accumulators of a part, or of the whole nest.
void RowLoopsEmitter::prepareAccumulators(OpBuilder &b, Value part) {
  for (Statement *root : nest.roots) {
    bool isScatter = root->kind == StatementKind::Scatter;
    auto own = ownSums.find(root);
    if (root->kind != StatementKind::Accumulation && !isScatter &&
        own == ownSums.end())
      continue;
    Value memref = own == ownSums.end() ? evaluator.getBuffer(*root)
                                        : view(b, own->second, part);
    Type element = cast<MemRefType>(memref.getType()).getElementType();
    accumulators[root] = memref;
    emitFlatLoop(b, getWrittenType(*root).getNumElements(),
                 /*isOfPart=*/part != nullptr,
                 [&](OpBuilder &inner, Value index, int64_t width) {
                   auto vector = VectorType::get(width, element);
                   Value start =
                       isScatter
                           ? arith::ConstantOp::create(
                                 inner, loc, inner.getZeroAttr(vector))
                                 .getResult()
                           : getNeutral(inner, loc, root->combiner, vector);
                   vector::StoreOp::create(inner, loc, start, memref, index);
                 });
  }
}

/// Combines the sums of the parts in order, and rounds them.
void RowLoopsEmitter::finishAccumulators(OpBuilder &b) {
  for (Statement *root : nest.roots) {
    auto own = ownSums.find(root);
    if (own == ownSums.end())
      continue;
    Value to = evaluator.getBuffer(*root);
    RankedTensorType type = getWrittenType(*root);
    auto load = [&](OpBuilder &at, Value part, Value index, int64_t width) {
      auto vector = VectorType::get(width, own->second.element);
      Value memref = view(at, own->second, part);
      return vector::LoadOp::create(at, loc, vector, memref, index);
    };
    emitFlatLoop(
        b, type.getNumElements(), /*isOfPart=*/false,
        [&](OpBuilder &inner, Value index, int64_t width) {
          Value sum = load(inner, Value(), index, width);
          if (division.hasOwnMemory) {
            auto loop = scf::ForOp::create(inner, loc, getIndex(inner, loc, 1),
                                           getIndex(inner, loc, division.parts),
                                           getIndex(inner, loc, 1), sum);
            OpBuilder body = OpBuilder::atBlockBegin(loop.getBody());
            Value next = load(body, loop.getInductionVar(), index, width);
            scf::YieldOp::create(body, loc,
                                 combine(body, loc, root->combiner,
                                         loop.getRegionIterArg(0), next));
            sum = loop.getResult(0);
          }
          vector::StoreOp::create(
              inner, loc, castFloat(inner, loc, sum, type.getElementType()), to,
              index);
        });
  }
}

/// Combines a value with its accumulator, at the current columns.
void RowLoopsEmitter::addToMemory(OpBuilder &b, Statement &statement,
                                  Value value) {
  Value memref = accumulators.lookup(&statement);
  FlatIndex index = getWrittenIndex(statement);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  value = evaluator.widen(castFloat(b, loc, value, element));
  Value before = evaluator.load(memref, index);
  evaluator.store(combine(b, loc, statement.combiner, before, value), memref,
                  index);
}

/// Adds the updates of a row to the row of the table that the indices select.
void RowLoopsEmitter::scatter(Statement &statement) {
  const TensorRead &updates = statement.inputs[0],
                   &indices = statement.inputs[1];
  Value value = evaluator.evaluate(updates.tensor,
                                   updates.map.compose(statement.position));
  Value row = evaluator.evaluate(indices.tensor,
                                 indices.map.compose(statement.position));
  int64_t batchDims = cast<ScatterAddOp>(statement.op).getBatchDims();
  ArrayRef<int64_t> shape = getWrittenType(statement).getShape();
  evaluator.addScattered(
      accumulators.lookup(&statement), value, row, getWrittenIndex(statement),
      ShapedType::getNumElements(shape.drop_front(batchDims + 1)));
}
