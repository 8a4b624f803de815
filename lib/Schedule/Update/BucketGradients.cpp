//===- BucketGradients.cpp - reduce gradients in buckets ------------------===//
//
// Collects all-reduces of one kind in order. A bucket is closed when it is
// full, or when later communication needs one of its results.
//
//===----------------------------------------------------------------------===//

#include "PrepareUpdate.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Support/Buckets.h"

using namespace mlir;
using namespace dtc;

namespace {

/// All-reduces that may share a bucket: the same ranks and reduction, with
/// operands that can be made adjacent.
struct BucketKind {
  ArrayAttr axes;
  Reduction reduction;
  Type elementType;
  bool isLocal;

  bool operator==(const BucketKind &other) const {
    return axes == other.axes && reduction == other.reduction &&
           elementType == other.elementType && isLocal == other.isLocal;
  }
};

struct Bucket {
  BucketKind kind;
  int64_t bytes = 0;
  SmallVector<AllReduceOp> ops;
  bool isOpen = true;
  llvm::DenseSet<Operation *> dependents = {}; ///< ops that depend on it

  /// Whether an op depends on the bucket. Call it on ops in order.
  bool isNeededBy(Operation *op) {
    bool isNeeded = llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return producer && (dependents.contains(producer) ||
                          llvm::is_contained(ops, producer));
    });
    if (isNeeded)
      dependents.insert(op);
    return isNeeded;
  }
};

/// Replaces the all-reduces with one op at the last of them, and moves their
/// users behind it.
void mergeBucket(const Bucket &bucket) {
  if (bucket.ops.size() < 2)
    return;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (AllReduceOp op : bucket.ops) {
    llvm::append_range(operands, op.getX());
    llvm::append_range(types, op.getY().getTypes());
    locations.push_back(op.getLoc());
  }
  AllReduceOp last = bucket.ops.back();
  OpBuilder builder(last);
  auto merged = AllReduceOp::create(
      builder, FusedLoc::get(builder.getContext(), locations), types,
      bucket.kind.reduction, operands, bucket.kind.axes);
  Operation *first = bucket.ops.front();
  SmallVector<Operation *> between;
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    between.push_back(op);
  unsigned next = 0;
  for (AllReduceOp op : bucket.ops) {
    op->replaceAllUsesWith(
        merged->getResults().slice(next, op->getNumResults()));
    next += op->getNumResults();
    llvm::erase(between, op);
    op.erase();
  }
  llvm::DenseSet<Operation *> late = {merged};
  Operation *position = merged;
  for (Operation *op : between)
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return late.contains(operand.getDefiningOp());
        })) {
      late.insert(op);
      op->moveAfter(position);
      position = op;
    }
}

} // namespace

void dtc::bucketGradients(func::FuncOp function, int64_t limit,
                          bool startsEarly) {
  int64_t firstLimit = startsEarly ? std::min(limit, firstBucketBytes) : limit;
  AliasClasses classes(function.front());
  MemoryHomes homes(function, classes);
  SmallVector<Bucket> buckets;
  for (Operation &op : function.front()) {
    // Communication keeps its order: communication that needs a bucket closes
    // it.
    for (Bucket &bucket : buckets)
      if (bucket.isOpen && bucket.isNeededBy(&op) && !isPure(&op))
        bucket.isOpen = false;
    auto reduce = dyn_cast<AllReduceOp>(op);
    if (!reduce || crossesStages(reduce)) // each stage would form others
      continue;
    Value first = reduce.getX().front();
    BucketKind kind{reduce.getAxes(), reduce.getReduction(),
                    getElementTypeOrSelf(first),
                    homes.get(first).kind == MemoryHome::Local};
    int64_t bytes = 0;
    for (Value operand : reduce.getX())
      bytes += getLocalBytes(operand.getType());
    auto open = llvm::find_if(buckets, [&](const Bucket &bucket) {
      return bucket.isOpen && bucket.kind == kind;
    });
    if (open != buckets.end() &&
        open->bytes + bytes > (open == buckets.begin() ? firstLimit : limit)) {
      open->isOpen = false;
      open = buckets.end();
    }
    if (open == buckets.end())
      open = buckets.insert(buckets.end(), Bucket{kind, 0, {}, true});
    open->bytes += bytes;
    open->ops.push_back(reduce);
  }
  for (const Bucket &bucket : buckets)
    mergeBucket(bucket);
}
