//===- SumOfParts.cpp - sums of parts -------------------------------------===//
//
// The second stage of sums over rows. A block has up to 32 elements, and
// several threads for each element, which add the parts in a fixed order.
//
//===----------------------------------------------------------------------===//

#include "DeviceBuilder.h"
#include "NestEmit.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace dtc;

namespace {
constexpr int64_t threads = 256;
} // namespace

/// The number of elements of a block.
static int64_t getWidth(int64_t elements) {
  return std::min<int64_t>(warpSize, llvm::PowerOf2Ceil(elements));
}

SumLaunch dtc::getSumLaunch(int64_t elements) {
  return {threads,
          static_cast<int64_t>(llvm::divideCeil(elements, getWidth(elements)))};
}

void dtc::emitSumOfParts(OpBuilder &b, gpu::GPUFuncOp function,
                         Operation *combiner, Value parts, int64_t slices,
                         Value result) {
  Location loc = function.getLoc();
  DeviceBuilder code{loc, function};
  int64_t elements = cast<MemRefType>(result.getType()).getNumElements();
  Type type = cast<MemRefType>(result.getType()).getElementType();
  Type wide = isa<arith::AddFOp>(combiner) ? b.getF64Type() : type;
  int64_t width = getWidth(elements), ways = threads / width;

  Value thread = code.threadId(b);
  Value column = code.remainder(b, thread, width);
  Value way = code.divide(b, thread, width);
  Value element = code.add(b, code.multiply(b, code.blockId(b), width), column);
  Value isValid;
  if (elements % width != 0) {
    isValid = code.isLess(b, element, elements);
    element = code.orZero(b, isValid, element);
  }
  auto loop = scf::ForOp::create(b, loc, way, code.index(b, slices),
                                 code.index(b, ways),
                                 getNeutral(b, loc, combiner, wide));
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  Value at = code.add(
      inner, code.multiply(inner, loop.getInductionVar(), elements), element);
  Value part = memref::LoadOp::create(inner, loc, parts, at);
  Value sum = combine(inner, loc, combiner, loop.getRegionIterArg(0),
                      castFloat(inner, loc, part, wide));
  scf::YieldOp::create(inner, loc, sum);

  // Adds the sums of the threads pairwise.
  sum = loop.getResult(0);
  Value shared = code.addShared(wide, threads);
  memref::StoreOp::create(b, loc, sum, shared, thread);
  for (int64_t half = ways / 2; half > 0; half /= 2) {
    code.barrier(b);
    code.onlyIf(b, code.isLess(b, way, half), [&](OpBuilder &step) {
      Value other = memref::LoadOp::create(
          step, loc, shared, code.add(step, thread, half * width));
      Value own = memref::LoadOp::create(step, loc, shared, thread);
      memref::StoreOp::create(
          step, loc, combine(step, loc, combiner, own, other), shared, thread);
    });
  }
  code.onlyIf(
      b, code.both(b, isValid, code.isZero(b, way)), [&](OpBuilder &last) {
        Value total = memref::LoadOp::create(last, loc, shared, thread);
        memref::StoreOp::create(last, loc, castFloat(last, loc, total, type),
                                result, element);
      });
}
