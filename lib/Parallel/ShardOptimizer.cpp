//===- ShardOptimizer.cpp - ZeRO: each rank updates its part --------------===//
//
// Gradients and parameters of a bucket are laid side by side, padded, and
// updated as one tensor, whose optimizer state is split over the ranks that
// share the batch. That the gradient is reduce-scattered and the new
// parameters are gathered follows from the layouts (Rajbhandari et al., ZeRO,
// arXiv 1910.02054).
//
//===----------------------------------------------------------------------===//

#include "dtc/Parallel/Passes.h"
#include "dtc/Training/StageAnalysis.h"
#include "dtc/Training/StepFunction.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

namespace dtc {
#define GEN_PASS_DEF_SHARDOPTIMIZER
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// The update of one parameter.
struct Update {
  Operation *op;
  BlockArgument parameter;
  Value gradient;
  ClipByNormOp clip; ///< between the gradient and the update; may be null
  SmallVector<BlockArgument> state;
  int64_t stage;
  /// The dimension that tp splits, and into how many; 1 if none.
  int64_t splitDim = 0, parts = 1;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(parameter.getType());
  }
  /// Elements of one part.
  int64_t getSize() const { return getType().getNumElements() / parts; }
};

/// Updates that are done as one.
struct Bucket {
  SmallVector<Update> updates;
  int64_t size = 0; ///< elements of one part, without padding
};

class Sharding {
public:
  Sharding(func::FuncOp step, MeshAttr mesh, int64_t limit)
      : step(step), mesh(mesh), limit(limit),
        builder(step.front().getTerminator()) {}

  LogicalResult run();

private:
  LogicalResult collect();
  bool fits(const Bucket &bucket, const Update &update) const;
  void rewrite(Bucket &bucket, unsigned number);
  Value flatten(const Update &update, Value value);
  Value restore(const Update &update, Value flat);
  Value join(const Bucket &bucket, int64_t padded,
             llvm::function_ref<Value(const Update &)> get);
  void sumOnce(const Bucket &bucket, Value gradients);
  RankedTensorType getFlatType(const Bucket &bucket, int64_t padded) const {
    const Update &first = bucket.updates.front();
    return RankedTensorType::get({first.parts, padded},
                                 first.getType().getElementType());
  }

  func::FuncOp step;
  MeshAttr mesh;
  int64_t limit; ///< bytes
  OpBuilder builder;
  std::vector<Bucket> buckets;
};

} // namespace

/// An op that overwrites a parameter, from its gradient and its state.
static bool isUpdate(func::FuncOp step, Operation &op) {
  auto alias = dyn_cast<AliasInterface>(op);
  if (!alias || op.getNumOperands() < 2)
    return false;
  std::optional<Alias> first = alias.getAlias(0);
  if (!first || first->kind != AliasKind::Update || first->operand != 0)
    return false;
  auto argument = dyn_cast<BlockArgument>(op.getOperand(0));
  return argument && step.getArgAttr(argument.getArgNumber(), attr::parameter);
}

LogicalResult Sharding::collect() {
  FailureOr<StageAnalysis> stages = StageAnalysis::compute(step);
  if (failed(stages))
    return failure();
  for (Operation &op : step.front().without_terminator()) {
    if (!isUpdate(step, op))
      continue;
    Update update{&op,
                  cast<BlockArgument>(op.getOperand(0)),
                  op.getOperand(1),
                  op.getOperand(1).getDefiningOp<ClipByNormOp>(),
                  {},
                  0};
    if (update.clip)
      update.gradient = update.clip.getGradient();
    update.stage = stages->getStage(update.parameter).value_or(0);
    for (Value operand : op.getOperands().drop_front(2))
      if (auto state = dyn_cast<BlockArgument>(operand);
          state && step.getArgAttr(state.getArgNumber(), attr::state))
        update.state.push_back(state);
    auto layout = step.getArgAttrOfType<LayoutAttr>(
        update.parameter.getArgNumber(), attr::layout);
    for (const AxisLayout &entry : layout.getEntries()) {
      update.splitDim = entry.dim;
      update.parts = mesh.getSize(entry.axis.getValue());
    }
    auto open = llvm::find_if(
        buckets, [&](const Bucket &bucket) { return fits(bucket, update); });
    if (open == buckets.end())
      open = buckets.insert(buckets.end(), Bucket());
    open->size += update.getSize();
    open->updates.push_back(std::move(update));
  }
  return success();
}

/// One update in place of both would be the same op on the same scalars.
bool Sharding::fits(const Bucket &bucket, const Update &update) const {
  const Update &first = bucket.updates.front();
  Type element = update.getType().getElementType();
  int64_t bytes =
      (bucket.size + update.getSize()) * (element.getIntOrFloatBitWidth() / 8);
  auto scalars = [](const Update &u) {
    SmallVector<Value> values;
    for (Value operand : u.op->getOperands().drop_front(2))
      if (!llvm::is_contained(u.state, operand))
        values.push_back(operand);
    return values;
  };
  auto limitOf = [](const Update &u) {
    ClipByNormOp clip = u.clip;
    return clip ? clip.getMaxNormAttr() : FloatAttr();
  };
  return bytes <= limit && first.stage == update.stage &&
         limitOf(first) == limitOf(update) && first.parts == update.parts &&
         first.getType().getElementType() == element &&
         first.op->getName() == update.op->getName() &&
         first.op->getPropertiesAsAttribute() ==
             update.op->getPropertiesAsAttribute() &&
         scalars(first) == scalars(update);
}

/// [parts, elements of a part]: a part is what a rank of tp holds.
Value Sharding::flatten(const Update &update, Value value) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  auto flat = RankedTensorType::get({update.parts, update.getSize()}, element);
  if (update.parts == 1 || update.splitDim == 0)
    return ReshapeOp::create(builder, loc, flat, value);
  SmallVector<int64_t> shape(type.getShape()), permutation;
  shape[update.splitDim] /= update.parts;
  shape.insert(shape.begin() + update.splitDim, update.parts);
  value = ReshapeOp::create(builder, loc, RankedTensorType::get(shape, element),
                            value);
  permutation.push_back(update.splitDim);
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim != update.splitDim)
      permutation.push_back(dim);
  value = TransposeOp::create(builder, loc, value, permutation);
  return ReshapeOp::create(builder, loc, flat, value);
}

/// The inverse of `flatten`.
Value Sharding::restore(const Update &update, Value flat) {
  Location loc = flat.getLoc();
  RankedTensorType type = withLayout(update.getType(), {});
  if (update.parts == 1 || update.splitDim == 0)
    return ReshapeOp::create(builder, loc, type, flat);
  SmallVector<int64_t> shape = {update.parts}, permutation;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    bool isSplit = static_cast<int64_t>(dim) == update.splitDim;
    if (isSplit)
      permutation.push_back(0);
    permutation.push_back(shape.size());
    shape.push_back(isSplit ? size / update.parts : size);
  }
  flat = ReshapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), flat);
  flat = TransposeOp::create(builder, loc, flat, permutation);
  return ReshapeOp::create(builder, loc, type, flat);
}

/// The tensors of a bucket side by side, and zeros up to `padded` elements.
Value Sharding::join(const Bucket &bucket, int64_t padded,
                     llvm::function_ref<Value(const Update &)> get) {
  SmallVector<Value> flat;
  for (const Update &update : bucket.updates)
    flat.push_back(flatten(update, get(update)));
  Location loc = flat.front().getLoc();
  Value joined = flat.front();
  if (flat.size() > 1)
    joined = ConcatOp::create(builder, loc, getFlatType(bucket, bucket.size),
                              flat, 1);
  if (padded != bucket.size)
    joined =
        PadOp::create(builder, loc, getFlatType(bucket, padded), joined, 1, 0);
  return joined;
}

/// The norm adds the squares of the bucket instead of those of its members,
/// each of which adds zero. Two parameters may have one gradient: then each
/// takes one of its uses.
void Sharding::sumOnce(const Bucket &bucket, Value gradients) {
  Location loc = gradients.getLoc();
  auto scalar = RankedTensorType::get({}, builder.getF64Type());
  Value part = SumSquaresOp::create(builder, loc, scalar, gradients);
  for (const Update &update : bucket.updates)
    for (Operation *user : update.gradient.getUsers())
      if (isa<SumSquaresOp>(user) && !user->use_empty()) {
        user->use_begin()->set(part);
        part = ConstantOp::create(
            builder, loc, scalar,
            DenseElementsAttr::get(scalar, builder.getF64FloatAttr(0)));
        break;
      }
}

void Sharding::rewrite(Bucket &bucket, unsigned number) {
  const Update &first = bucket.updates.front();
  Location loc = first.op->getLoc();
  int64_t dp = mesh.getSize("dp");
  int64_t padded = llvm::divideCeil(bucket.size, dp) * dp;
  RankedTensorType type = getFlatType(bucket, padded);

  // State: split over tp where parameters are, and over dp.
  StringAttr dpName = builder.getStringAttr("dp");
  SmallVector<AxisLayout> splits = {AxisLayout::split(dpName, 1)};
  if (first.parts > 1)
    splits.push_back(AxisLayout::split(builder.getStringAttr("tp"), 0));
  Attribute layout = LayoutAttr::getCanonical(mesh, splits);
  SmallVector<Value> state;
  for (BlockArgument old : first.state) {
    StringRef name =
        step.getArgAttrOfType<StringAttr>(old.getArgNumber(), attr::state)
            .getValue()
            .rsplit('.')
            .second;
    unsigned position = step.getNumArguments();
    NamedAttrList attributes;
    attributes.set(attr::state, builder.getStringAttr(
                                    "/bucket" + Twine(number) + "." + name));
    attributes.set(attr::layout, layout);
    (void)step.insertArgument(
        position, type, attributes.getDictionary(builder.getContext()), loc);
    state.push_back(step.getArgument(position));
  }

  Value gradients = join(bucket, padded,
                         [](const Update &update) { return update.gradient; });
  // Each rank gets the sum of its part.
  gradients.getDefiningOp()->setAttr(
      attr::split, builder.getDictionaryAttr(builder.getNamedAttr(
                       dpName, builder.getI64IntegerAttr(1))));
  sumOnce(bucket, gradients);
  Value parameters = join(bucket, padded, [](const Update &update) -> Value {
    return update.parameter;
  });
  IRMapping mapping;
  mapping.map(first.parameter, parameters);
  if (ClipByNormOp clip = first.clip)
    gradients = ClipByNormOp::create(builder, clip.getLoc(), type, gradients,
                                     clip.getNorm(), clip.getMaxNormAttr());
  mapping.map(first.op->getOperand(1), gradients);
  for (auto [old, flat] : llvm::zip(first.state, state))
    mapping.map(old, flat);
  Operation *update = builder.clone(*first.op, mapping);
  for (OpResult result : update->getResults())
    result.setType(type);

  // Results: the parameters again, and the bucket's state.
  Operation *terminator = step.front().getTerminator();
  auto resultOf = [&](Value value) -> OpOperand & {
    return *llvm::find_if(terminator->getOpOperands(), [&](OpOperand &operand) {
      return operand.get() == value;
    });
  };
  int64_t start = 0;
  for (const Update &member : bucket.updates) {
    auto piece = RankedTensorType::get({member.parts, member.getSize()},
                                       type.getElementType());
    Value flat = SliceOp::create(builder, member.op->getLoc(), piece,
                                 update->getResult(0), 1, start);
    start += member.getSize();
    Value value = AssignOp::create(builder, member.op->getLoc(),
                                   withLayout(member.getType(), {}),
                                   member.parameter, restore(member, flat));
    member.op->getResult(0).replaceAllUsesWith(value);
  }
  for (unsigned i = 0; i < state.size(); ++i) {
    OpOperand &operand = resultOf(first.op->getResult(i + 1));
    operand.set(update->getResult(i + 1));
    step.setResultAttr(
        operand.getOperandNumber(), attr::state,
        step.getArgAttr(cast<BlockArgument>(state[i]).getArgNumber(),
                        attr::state));
  }
}

LogicalResult Sharding::run() {
  if (failed(collect()))
    return failure();
  for (auto [number, bucket] : llvm::enumerate(buckets))
    rewrite(bucket, number);

  // What is gone: updates, their state, and gradients as results, which would
  // have to be whole on every rank.
  Operation *terminator = step.front().getTerminator();
  llvm::BitVector results(terminator->getNumOperands());
  llvm::BitVector arguments(step.getNumArguments());
  for (const Bucket &bucket : buckets)
    for (const Update &update : bucket.updates) {
      for (BlockArgument state : update.state)
        arguments.set(state.getArgNumber());
      for (OpOperand &operand : terminator->getOpOperands())
        if (operand.get().getDefiningOp() == update.op)
          results.set(operand.getOperandNumber()); // its state
    }
  for (unsigned i = 0; i < results.size(); ++i)
    if (step.getResultAttr(i, attr::gradient))
      results.set(i);
  terminator->eraseOperands(results);
  (void)step.eraseResults(results);
  for (const Bucket &bucket : buckets)
    for (const Update &update : bucket.updates)
      update.op->erase();
  // Squares of members, gradients that were clipped one by one.
  eraseDeadOps(step);
  // The norm was taken before the buckets were made.
  if (!sortTopologically(&step.front()))
    return step.emitError("has a cycle");
  if (failed(step.eraseArguments(arguments)))
    return failure();
  step.setType(FunctionType::get(step.getContext(), step.getArgumentTypes(),
                                 terminator->getOperandTypes()));
  return success();
}

namespace {

struct ShardOptimizer : dtc::impl::ShardOptimizerBase<ShardOptimizer> {
  using ShardOptimizerBase::ShardOptimizerBase;

  void runOnOperation() override {
    if (zero == 0)
      return;
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    if (zero != 1) {
      step->emitError("--zero is ") << int64_t(zero) << ", expected 0 or 1";
      return signalPassFailure();
    }
    auto layout = step->getArgAttrOfType<LayoutAttr>(0, attr::layout);
    if (!layout) {
      step->emitError("has no layouts; assign a mesh first");
      return signalPassFailure();
    }
    if (layout.getMesh().getSize("dp") == 1) {
      step->emitError("--zero splits optimizer state over the ranks that share "
                      "the batch, of which there is 1; use --dp 2 or more");
      return signalPassFailure();
    }
    if (failed(Sharding(*step, layout.getMesh(), bucketMb << 20).run()))
      signalPassFailure();
  }
};

} // namespace
