//===- DeviceBuilder.cpp - code of a thread -------------------------------===//

#include "DeviceBuilder.h"
#include "NestSchedule.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace dtc;

void DeviceBuilder::onlyIf(OpBuilder &b, Value condition,
                           function_ref<void(OpBuilder &)> body) const {
  if (!condition)
    return body(b);
  auto branch = scf::IfOp::create(b, loc, condition);
  OpBuilder inner = branch.getThenBodyBuilder();
  body(inner);
}

Value DeviceBuilder::loadIndex(OpBuilder &b, Value memref, Value at) const {
  Value number = memref::LoadOp::create(b, loc, memref, at);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

void DeviceBuilder::storeIndex(OpBuilder &b, Value x, Value memref,
                               Value at) const {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  memref::StoreOp::create(b, loc, arith::IndexCastOp::create(b, loc, type, x),
                          memref, at);
}

void DeviceBuilder::forItem(OpBuilder &b, int64_t threads, int64_t items,
                            function_ref<void(OpBuilder &, Value)> body) const {
  Value item = add(b, multiply(b, blockId(b), threads), threadId(b));
  onlyIf(b, isLess(b, item, items),
         [&](OpBuilder &inner) { body(inner, item); });
}

Value DeviceBuilder::addShared(Type element, int64_t size) const {
  auto space = gpu::AddressSpaceAttr::get(element.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(size, element, AffineMap(), space);
  return gpu::GPUFuncOp(function).addWorkgroupAttribution(type, loc);
}

/// Exchanges 32 bits between lanes, as the hardware does.
static Value shuffleWord(OpBuilder &b, Location loc, Value x, int64_t mask) {
  return gpu::ShuffleOp::create(b, loc, x, static_cast<int32_t>(mask),
                                static_cast<int32_t>(warpSize),
                                gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

Value DeviceBuilder::shuffle(OpBuilder &b, Value x, int64_t mask) const {
  Type type = x.getType();
  if (type.getIntOrFloatBitWidth() == 32)
    return shuffleWord(b, loc, x, mask);
  assert(type.getIntOrFloatBitWidth() == 64 && "of 32 or 64 bits");
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value bits = arith::BitcastOp::create(b, loc, i64, x);
  Value half = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  auto exchange = [&](Value word) -> Value {
    word = arith::TruncIOp::create(b, loc, i32, word);
    return arith::ExtUIOp::create(b, loc, i64, shuffleWord(b, loc, word, mask));
  };
  Value low = exchange(bits);
  Value high = exchange(arith::ShRUIOp::create(b, loc, bits, half));
  high = arith::ShLIOp::create(b, loc, high, half);
  return arith::BitcastOp::create(b, loc, type,
                                  arith::OrIOp::create(b, loc, low, high));
}

void DeviceBuilder::combineTeam(OpBuilder &b, int64_t team,
                                ArrayRef<Operation *> combiners,
                                MutableArrayRef<Value> values) const {
  for (auto [combiner, value] : llvm::zip(combiners, values))
    for (int64_t mask = std::min(team, warpSize) / 2; mask > 0; mask /= 2)
      value = combine(b, loc, combiner, value, shuffle(b, value, mask));
  if (team <= warpSize || values.empty())
    return;
  int64_t warps = team / warpSize;
  Value thread = threadId(b);
  Value warp = divide(b, thread, warpSize);
  Value isFirst = isZero(b, remainder(b, thread, warpSize));
  SmallVector<Value> slots;
  for (Value value : values)
    slots.push_back(addShared(value.getType(), warps));
  onlyIf(b, isFirst, [&](OpBuilder &inner) {
    for (auto [value, slot] : llvm::zip(values, slots))
      memref::StoreOp::create(inner, loc, value, slot, warp);
  });
  barrier(b);
  for (auto [combiner, value, slot] : llvm::zip(combiners, values, slots)) {
    value = memref::LoadOp::create(b, loc, slot, index(b, 0));
    for (int64_t other = 1; other < warps; ++other)
      value = combine(b, loc, combiner, value,
                      memref::LoadOp::create(b, loc, slot, index(b, other)));
  }
}
