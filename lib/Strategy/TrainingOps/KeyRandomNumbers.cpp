//===- KeyRandomNumbers.cpp - keys of random ops as data ------------------===//
//
// Equal layers share kernels as long as their code does not differ.
//
//===----------------------------------------------------------------------===//

#include "ExpandTrainingOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dtc;

/// The golden ratio times 2^64: keys of small seeds and ids never collide.
constexpr uint64_t distance = 0x9E3779B97F4A7C15;

/// Gives the ops of one seed their keys.
static void addKeys(Value seed, ArrayRef<RandomUniformOp> ops) {
  llvm::MapVector<int64_t, Value> keys;
  for (RandomUniformOp op : ops)
    keys[op.getId()];
  OpBuilder inner(seed.getContext());
  inner.setInsertionPointAfterValue(seed);
  ImplicitLocOpBuilder builder(seed.getLoc(), inner);
  SmallVector<int64_t> distances;
  for (auto &[id, key] : keys)
    distances.push_back(static_cast<uint64_t>(id) * distance);
  auto type = cast<RankedTensorType>(seed.getType());
  auto all = type.clone({static_cast<int64_t>(keys.size())});
  Value offsets = ConstantOp::create(
      builder, all, DenseElementsAttr::get(all, ArrayRef(distances)));
  Value table = AddOp::create(builder, seed, offsets);
  int64_t number = 0;
  for (auto &[id, key] : keys)
    key = ReshapeOp::create(builder, type,
                            SliceOp::create(builder, type.clone({1}), table,
                                            /*axis=*/0, number++,
                                            /*view=*/true));
  for (RandomUniformOp op : ops) {
    op.getSeedMutable().assign(keys[op.getId()]);
    op.setId(0);
  }
}

void dtc::keyRandomNumbers(func::FuncOp step) {
  llvm::MapVector<Value, SmallVector<RandomUniformOp>> bySeed;
  for (auto op : step.front().getOps<RandomUniformOp>())
    bySeed[op.getSeed()].push_back(op);
  for (auto &[seed, ops] : bySeed)
    addKeys(seed, ops);
}
