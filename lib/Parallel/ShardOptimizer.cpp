//===- ShardOptimizer.cpp - ZeRO: each rank stores and updates its part ---===//
//
// Members of a bucket are laid side by side, padded, and stored and updated as
// one tensor that is split over the ranks that share the batch. That gradients
// are reduce-scattered and parameters gathered follows from the layouts
// (Rajbhandari et al., ZeRO, arXiv 1910.02054).
//
//===----------------------------------------------------------------------===//

#include "MeshAxes.h"
#include "ParameterBuckets.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Parallel/Passes.h"
#include "dtc/Training/StepFunction.h"
#include "mlir/IR/IRMapping.h"

namespace dtc {
#define GEN_PASS_DEF_SHARDOPTIMIZER
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// One tensor of many
//===----------------------------------------------------------------------===//

/// [parts, elements of a part]: a part is what a rank of tp holds.
static Value flatten(OpBuilder &builder, const BucketMember &member,
                     Value value) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  auto flat = RankedTensorType::get({member.parts, member.getSize()}, element);
  if (member.parts == 1 || member.splitDim == 0)
    return ReshapeOp::create(builder, loc, flat, value);
  SmallVector<int64_t> shape(type.getShape()), permutation;
  shape[member.splitDim] /= member.parts;
  shape.insert(shape.begin() + member.splitDim, member.parts);
  value = ReshapeOp::create(builder, loc, RankedTensorType::get(shape, element),
                            value);
  permutation.push_back(member.splitDim);
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (dim != member.splitDim)
      permutation.push_back(dim);
  value = TransposeOp::create(builder, loc, value, permutation);
  return ReshapeOp::create(builder, loc, flat, value);
}

/// The inverse of `flatten`, in the element type of `flat`.
static Value restore(OpBuilder &builder, const BucketMember &member,
                     Value flat) {
  Location loc = flat.getLoc();
  RankedTensorType type =
      withLayout(member.getType(), {}).clone(getElementTypeOrSelf(flat));
  if (member.parts == 1 || member.splitDim == 0)
    return ReshapeOp::create(builder, loc, type, flat);
  SmallVector<int64_t> shape = {member.parts}, permutation;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    bool isSplit = static_cast<int64_t>(dim) == member.splitDim;
    if (isSplit)
      permutation.push_back(0);
    permutation.push_back(shape.size());
    shape.push_back(isSplit ? size / member.parts : size);
  }
  flat = ReshapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), flat);
  flat = TransposeOp::create(builder, loc, flat, permutation);
  return ReshapeOp::create(builder, loc, type, flat);
}

namespace {

/// The step's arguments and results, as buckets change them.
class StepSignature {
public:
  explicit StepSignature(func::FuncOp step);
  BlockArgument addArgument(Type type, DictionaryAttr attributes,
                            Location location);
  /// The result that is the parameter, state or gradient of this name becomes
  /// that of a bucket.
  void replaceResult(StringRef kind, StringRef old, const Twine &name,
                     Attribute members, Value value);
  /// Until then the function has its old type and attributes.
  void write();

private:
  func::FuncOp step;
  SignatureEditor editor;
  llvm::StringMap<unsigned> results; ///< by kind and name
};

/// Rewrites the updates of one bucket.
class BucketSharding {
public:
  BucketSharding(func::FuncOp step, StepSignature &signature, MeshAttr mesh,
                 StringRef axis, const ParameterBucket &bucket,
                 unsigned number);

  /// Parameters become one argument, split, of which their uses see views. With
  /// `gathersAtUse`, each function of a stage gathers it for itself.
  void shardParameters(bool gathersAtUse);
  /// Gradients become one value, split. With `perMicrobatch` before they are
  /// summed over micro-batches.
  void shardGradients(bool perMicrobatch);
  void shardUpdates();

private:
  Value joinGradients();
  Type getReadType();
  BlockArgument addArgument(StringRef kind, const Twine &name,
                            bool gathersAtUse);
  void sumOnce();

  func::FuncOp step;
  StepSignature &signature;
  MeshAttr mesh;
  StringAttr axis;
  const ParameterBucket &bucket;
  const BucketMember &first;
  std::string name;
  OpBuilder builder;
  RankedTensorType type; ///< of the whole
  Attribute layout, members;
  Value parameters, gradients; ///< split
};

} // namespace

StepSignature::StepSignature(func::FuncOp step) : step(step), editor(step) {
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    for (StringRef kind : {attr::parameter, attr::state, attr::gradient})
      if (StringAttr name = getResultString(step, i, kind))
        results[(kind + "=" + name.getValue()).str()] = i;
}

BlockArgument StepSignature::addArgument(Type type, DictionaryAttr attributes,
                                         Location location) {
  editor.addArg(attributes);
  return step.front().addArgument(type, location);
}

void StepSignature::replaceResult(StringRef kind, StringRef old,
                                  const Twine &name, Attribute members,
                                  Value value) {
  auto found = results.find((kind + "=" + old).str());
  if (found == results.end())
    return;
  unsigned result = found->second;
  step.front().getTerminator()->setOperand(result, value);
  editor.setResult(result, kind, StringAttr::get(step.getContext(), name));
  editor.setResult(result, attr::members, members);
}

void StepSignature::write() {
  step.setType(
      FunctionType::get(step.getContext(), step.front().getArgumentTypes(),
                        step.front().getTerminator()->getOperandTypes()));
  editor.write();
}

BucketSharding::BucketSharding(func::FuncOp step, StepSignature &signature,
                               MeshAttr mesh, StringRef axis,
                               const ParameterBucket &bucket, unsigned number)
    : step(step), signature(signature), mesh(mesh),
      axis(StringAttr::get(step.getContext(), axis)), bucket(bucket),
      first(bucket.members.front()), name(("/bucket" + Twine(number)).str()),
      builder(step.front().getTerminator()) {
  int64_t ways = mesh.getSize(axis);
  type = RankedTensorType::get(
      {first.parts, (bucket.size + ways - 1) / ways * ways},
      first.getType().getElementType());
  SmallVector<AxisLayout> splits = {AxisLayout::split(this->axis, 1)};
  if (first.parts > 1)
    splits.push_back(AxisLayout::split(builder.getStringAttr(tensorAxis), 0));
  layout = LayoutAttr::getCanonical(mesh, splits);

  SmallVector<Attribute> list;
  int64_t start = 0;
  for (const BucketMember &member : bucket.members) {
    unsigned argument = member.parameter.getArgNumber();
    auto own = step.getArgAttrOfType<LayoutAttr>(argument, attr::layout);
    NamedAttrList entry;
    entry.set("name", builder.getStringAttr(member.getName()));
    entry.set("type", TypeAttr::get(withLayout(member.getType(), own)));
    entry.set("start", builder.getI64IntegerAttr(start));
    if (Attribute part = step.getArgAttr(argument, attr::part))
      entry.set("part", part);
    list.push_back(entry.getDictionary(step.getContext()));
    start += member.getSize();
  }
  members = builder.getArrayAttr(list);
}

/// The members' gradients side by side, and zeros.
Value BucketSharding::joinGradients() {
  SmallVector<Value> flat;
  for (const BucketMember &member : bucket.members)
    flat.push_back(flatten(builder, member, member.gradient));
  Location loc = flat.front().getLoc();
  Value joined = flat.front();
  if (flat.size() > 1)
    joined = ConcatOp::create(builder, loc,
                              RankedTensorType::get({first.parts, bucket.size},
                                                    type.getElementType()),
                              flat, 1);
  if (type.getDimSize(1) != bucket.size)
    joined = PadOp::create(builder, loc, type, joined, 1, 0);
  return joined;
}

BlockArgument BucketSharding::addArgument(StringRef kind, const Twine &name,
                                          bool gathersAtUse) {
  NamedAttrList attributes;
  attributes.set(kind, builder.getStringAttr(name));
  attributes.set(attr::members, members);
  attributes.set(attr::layout, layout);
  if (gathersAtUse)
    attributes.set(attr::gatheredAtUse, builder.getUnitAttr());
  return signature.addArgument(type,
                               attributes.getDictionary(step.getContext()),
                               first.parameter.getLoc());
}

void BucketSharding::shardParameters(bool gathersAtUse) {
  parameters = addArgument(attr::parameter, name, gathersAtUse);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&step.front());
  Value read = parameters;
  Type element = getReadType();
  if (element != type.getElementType())
    read = CastOp::create(builder, first.parameter.getLoc(),
                          type.clone(element), read);
  int64_t start = 0;
  for (const BucketMember &member : bucket.members) {
    auto flat =
        RankedTensorType::get({member.parts, member.getSize()}, element);
    BlockArgument parameter = member.parameter;
    Value slice = SliceOp::create(builder, parameter.getLoc(), flat, read, 1,
                                  start, /*view=*/true);
    start += member.getSize();
    Value whole = restore(builder, member, slice);
    if (element == type.getElementType()) {
      parameter.replaceAllUsesWith(whole);
      continue;
    }
    for (Operation *user : llvm::make_early_inc_range(parameter.getUsers()))
      if (user != member.update) {
        user->replaceAllUsesWith(ValueRange(whole));
        user->erase();
      }
  }
}

/// The element type that the step reads the members in, and so gathers them:
/// that which it casts all of them to, if it does nothing else with them.
Type BucketSharding::getReadType() {
  Type element;
  for (const BucketMember &member : bucket.members)
    for (Operation *user : BlockArgument(member.parameter).getUsers()) {
      if (user == member.update)
        continue;
      auto cast = dyn_cast<CastOp>(user);
      Type own = cast ? cast.getY().getType().getElementType() : Type();
      if (!own || (element && own != element))
        return type.getElementType();
      element = own;
    }
  return element ? element : type.getElementType();
}

/// The norm adds the squares of the bucket instead of those of its members,
/// each of which adds zero. Two parameters may have one gradient: then each
/// takes one of its uses.
void BucketSharding::sumOnce() {
  Location loc = gradients.getLoc();
  auto scalar = RankedTensorType::get({}, builder.getF64Type());
  Value part = SumSquaresOp::create(builder, loc, scalar, gradients);
  for (const BucketMember &member : bucket.members)
    for (Operation *user : member.gradient.getUsers())
      if (isa<SumSquaresOp>(user) && !user->use_empty()) {
        user->use_begin()->set(part);
        part = ConstantOp::create(
            builder, loc, scalar,
            DenseElementsAttr::get(scalar, builder.getF64FloatAttr(0)));
        break;
      }
}

void BucketSharding::shardGradients(bool perMicrobatch) {
  // As soon as the last is there, so that none waits for other buckets. Members
  // are in the order of their gradients.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&step.front());
  for (const BucketMember &member : llvm::reverse(bucket.members))
    if (Operation *op = member.gradient.getDefiningOp()) {
      builder.setInsertionPointAfter(op);
      break;
    }
  gradients = joinGradients();
  Operation *last = gradients.getDefiningOp();
  last->setAttr(attr::splitDims, builder.getDictionaryAttr(builder.getNamedAttr(
                                     axis, builder.getI64IntegerAttr(1))));
  if (perMicrobatch && !first.crossesStages)
    last->setAttr(attr::perMicrobatch, builder.getUnitAttr());
  sumOnce();
  signature.replaceResult(attr::gradient, first.getName(), name, members,
                          gradients);
}

void BucketSharding::shardUpdates() {
  IRMapping mapping;
  mapping.map(first.update->getOperand(0), parameters);
  Value gradients = this->gradients;
  if (ClipByNormOp clip = first.clip)
    gradients = ClipByNormOp::create(builder, clip.getLoc(), type, gradients,
                                     clip.getNorm(), clip.getLossScale(),
                                     clip.getMaxNormAttr());
  mapping.map(first.update->getOperand(1), gradients);

  auto shardState = [&](BlockArgument old) {
    StringRef full = getArgString(old, attr::state);
    std::string own = (name + "." + full.rsplit('.').second).str();
    mapping.map(Value(old), Value(addArgument(attr::state, own, false)));
    return std::pair(full, own);
  };
  auto clone = [&](Operation *op) {
    Operation *copy = builder.clone(*op, mapping);
    for (OpResult result : copy->getResults())
      result.setType(type);
    mapping.map(op->getResults(), copy->getResults());
    return copy;
  };
  SmallVector<std::pair<StringRef, std::string>> states =
      llvm::map_to_vector(first.state, shardState);
  Operation *update = clone(first.update);
  signature.replaceResult(attr::parameter, first.getName(), name, members,
                          update->getResult(0));
  for (auto [i, names] : llvm::enumerate(states))
    signature.replaceResult(attr::state, names.first, names.second, members,
                            update->getResult(i + 1));
  if (AverageOp average = first.average) {
    auto names = shardState(cast<BlockArgument>(average.getAverage()));
    signature.replaceResult(attr::state, names.first, names.second, members,
                            clone(average)->getResult(0));
  }
}

//===----------------------------------------------------------------------===//
// What is gone
//===----------------------------------------------------------------------===//

/// Results and arguments of members that buckets stand for; a result that is
/// one of a bucket's has another name by now.
static LogicalResult eraseMembers(func::FuncOp step,
                                  ArrayRef<ParameterBucket> buckets) {
  DenseSet<Attribute> parameters, states;
  auto addState = [&](Value state) {
    states.insert(getArgString(cast<BlockArgument>(state), attr::state));
  };
  for (const ParameterBucket &bucket : buckets)
    for (BucketMember member : bucket.members) {
      parameters.insert(getArgString(member.parameter, attr::parameter));
      llvm::for_each(member.state, addState);
      if (member.average)
        addState(member.average.getAverage());
    }

  Operation *terminator = step.front().getTerminator();
  llvm::BitVector results(step.getNumResults());
  for (unsigned i = 0; i < results.size(); ++i)
    results[i] =
        states.contains(getResultString(step, i, attr::state)) ||
        parameters.contains(getResultString(step, i, attr::gradient)) ||
        parameters.contains(getResultString(step, i, attr::parameter));
  terminator->eraseOperands(results);
  (void)step.eraseResults(results);
  for (const ParameterBucket &bucket : buckets)
    for (BucketMember member : bucket.members) {
      if (member.average)
        member.average.erase();
      member.update->erase();
    }
  // Squares of members, gradients that were clipped one by one.
  eraseDeadOps(step);

  llvm::BitVector arguments(step.getNumArguments());
  for (BlockArgument argument : step.getArguments())
    arguments[argument.getArgNumber()] =
        states.contains(getArgString(argument, attr::state)) ||
        parameters.contains(getArgString(argument, attr::parameter));
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
    if (failed(step) || failed(shard(*step)))
      signalPassFailure();
  }

  LogicalResult shard(func::FuncOp step) {
    if (zero < 0 || zero > 3)
      return step.emitError("--zero is ")
             << int64_t(zero) << ", expected 0, 1, 2 or 3";
    auto layout = step.getArgAttrOfType<LayoutAttr>(0, attr::layout);
    if (!layout)
      return step.emitError("has no layouts; assign a mesh first");
    MeshAttr mesh = layout.getMesh();
    StringRef axis = mesh.getSize(shardAxis) > 1 ? shardAxis : dataAxis;
    if (mesh.getSize(axis) == 1)
      return step.emitError("--zero splits optimizer state over the ranks that "
                            "share the batch, of which there is 1; use --dp 2 "
                            "or more");
    bool gathersAtUse = zero == 3 && gather != "step";
    BucketLimits limits{bucketMb << 20, ""};
    if (zero == 3)
      limits = {std::numeric_limits<int64_t>::max(),
                gathersAtUse ? StringRef(gather) : StringRef("layer")};
    FailureOr<std::vector<ParameterBucket>> buckets =
        collectBuckets(step, mesh, limits);
    if (failed(buckets))
      return failure();
    StepSignature signature(step);
    for (auto [number, bucket] : llvm::enumerate(*buckets)) {
      BucketSharding sharding(step, signature, mesh, axis, bucket, number);
      sharding.shardParameters(gathersAtUse);
      sharding.shardGradients(zero >= 2);
      sharding.shardUpdates();
    }
    signature.write();
    return eraseMembers(step, *buckets);
  }
};

} // namespace
