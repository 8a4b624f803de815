//===- FlattenParameters.cpp - ZeRO's flat parameters ---------------------===//
//
// The members of a bucket are flattened, concatenated and padded. They are
// stored and updated as one tensor, a flat parameter, which is sharded over the
// ranks that share the batch. Reduce-scatters of gradients and all-gathers of
// parameters follow from the layouts (Rajbhandari et al., ZeRO, arXiv
// 1910.02054).
//
//===----------------------------------------------------------------------===//

#include "ParameterBuckets.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Training/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_FLATTENPARAMETERS
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// Flattens a member to [parts, elements of a part], where a part is the shard
/// of a tp rank.
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
  RankedTensorType type = member.getType().clone(getElementTypeOrSelf(flat));
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

/// The sharding that all flat parameters of a step share.
struct Sharding {
  StringRef axis;     ///< mesh axis with one shard per rank
  int64_t ways;       ///< size of that axis
  bool perMicrobatch; ///< gradients are scattered before they are accumulated
  bool gathersAtUse;  ///< each function of a stage gathers the parameters that
                      ///< it reads
};

/// Replaces the parameters and gradients of a bucket by one of each.
class Flattening {
public:
  Flattening(func::FuncOp step, const Sharding &sharding,
             const ParameterBucket &bucket, unsigned number);

  /// Adds the new argument. Uses of the members read views of it.
  void replaceParameters();
  /// Concatenates the members' gradients, with zeros as padding.
  Value joinGradients();

  StringRef getName() const { return name; }
  Attribute getMembers() const { return members; }

private:
  Attribute describeMembers();
  Type getReadType();

  func::FuncOp step;
  const Sharding &sharding;
  const ParameterBucket &bucket;
  const BucketMember &first;
  std::string name;
  Builder attributes;
  RankedTensorType type; ///< of the whole
  DictionaryAttr splits;
  Attribute members;
};

} // namespace

Flattening::Flattening(func::FuncOp step, const Sharding &sharding,
                       const ParameterBucket &bucket, unsigned number)
    : step(step), sharding(sharding), bucket(bucket),
      first(bucket.members.front()), name(("/bucket" + Twine(number)).str()),
      attributes(step.getContext()) {
  type = RankedTensorType::get(
      {first.parts,
       llvm::divideCeilSigned(bucket.size, sharding.ways) * sharding.ways},
      first.getType().getElementType());
  NamedAttrList list;
  list.set(sharding.axis, attributes.getI64IntegerAttr(1));
  if (first.parts > 1)
    list.set(tensorAxis, attributes.getI64IntegerAttr(0));
  splits = list.getDictionary(step.getContext());
  members = describeMembers();
}

Attribute Flattening::describeMembers() {
  SmallVector<Attribute> list;
  int64_t start = 0;
  for (const BucketMember &member : bucket.members) {
    unsigned number = member.parameter.getArgNumber();
    NamedAttrList entry;
    entry.set("name", attributes.getStringAttr(member.getName()));
    entry.set("type", TypeAttr::get(member.getType()));
    entry.set("start", attributes.getI64IntegerAttr(start));
    if (Attribute part = step.getArgAttr(number, attr::part))
      entry.set("part", part);
    if (Attribute split = step.getArgAttr(number, attr::splitDims))
      entry.set(attr::splitDims, split);
    list.push_back(entry.getDictionary(step.getContext()));
    start += member.getSize();
  }
  return attributes.getArrayAttr(list);
}

/// The element type in which the step gathers the members: the type that it
/// casts all of them to, if it uses them in no other way.
Type Flattening::getReadType() {
  Type element;
  for (const BucketMember &member : bucket.members)
    for (Operation *user : BlockArgument(member.parameter).getUsers()) {
      auto cast = dyn_cast<CastOp>(user);
      Type own = cast ? cast.getY().getType().getElementType() : Type();
      if (!own || (element && own != element))
        return type.getElementType();
      element = own;
    }
  return element ? element : type.getElementType();
}

void Flattening::replaceParameters() {
  Location loc = first.parameter.getLoc();
  Type element = getReadType();
  NamedAttrList list;
  list.set(attr::parameter, attributes.getStringAttr(name));
  list.set(attr::members, members);
  list.set(attr::splitDims, splits);
  if (sharding.gathersAtUse)
    list.set(attr::gatheredAtUse, attributes.getUnitAttr());
  // All members have the same value of these attributes.
  for (StringRef group : {attr::noDecay, attr::lrScale})
    if (Attribute value =
            step.getArgAttr(first.parameter.getArgNumber(), group))
      list.set(group, value);
  unsigned number = step.getNumArguments();
  (void)step.insertArgument(number, type, list.getDictionary(step.getContext()),
                            loc);

  auto builder = OpBuilder::atBlockBegin(&step.front());
  Value read = step.getArgument(number);
  if (element != type.getElementType())
    read = CastOp::create(builder, loc, type.clone(element), read);
  int64_t start = 0;
  for (const BucketMember &member : bucket.members) {
    BlockArgument parameter = member.parameter;
    Value slice = SliceOp::create(
        builder, parameter.getLoc(),
        RankedTensorType::get({member.parts, member.getSize()}, element), read,
        1, start, /*view=*/true);
    start += member.getSize();
    Value whole = restore(builder, member, slice);
    if (element == type.getElementType()) {
      parameter.replaceAllUsesWith(whole);
      continue;
    }
    for (Operation *cast : llvm::make_early_inc_range(parameter.getUsers())) {
      cast->replaceAllUsesWith(ValueRange(whole));
      cast->erase();
    }
  }
}

Value Flattening::joinGradients() {
  // Inserts after the last gradient, so that no gradient waits for other
  // buckets. Members are in the order of their gradients.
  auto builder = OpBuilder::atBlockBegin(&step.front());
  for (const BucketMember &member : llvm::reverse(bucket.members))
    if (Operation *op = member.gradient.getDefiningOp()) {
      builder.setInsertionPointAfter(op);
      break;
    }
  SmallVector<Value> flat;
  for (const BucketMember &member : bucket.members)
    flat.push_back(flatten(builder, member, member.gradient));
  Location loc = flat.front().getLoc();
  Value joined = flat.front();
  if (flat.size() > 1)
    joined = ConcatOp::create(builder, loc,
                              type.clone({first.parts, bucket.size}), flat, 1);
  if (type.getDimSize(1) != bucket.size)
    joined = PadOp::create(builder, loc, type, joined, 1, 0);
  Operation *last = joined.getDefiningOp();
  last->setAttr(attr::splitDims,
                attributes.getDictionaryAttr(attributes.getNamedAttr(
                    sharding.axis, attributes.getI64IntegerAttr(1))));
  if (sharding.perMicrobatch && !first.crossesStages)
    last->setAttr(attr::perMicrobatch, attributes.getUnitAttr());
  return joined;
}

namespace {

struct FlattenParametersPass
    : dtc::impl::FlattenParametersBase<FlattenParametersPass> {
  using FlattenParametersBase::FlattenParametersBase;

  void runOnOperation() override {
    if (zero == 0)
      return;
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step) || failed(flatten(*step)))
      signalPassFailure();
  }

  LogicalResult flatten(func::FuncOp step) {
    if (zero < 0 || zero > 3)
      return step.emitError("--zero is ")
             << int64_t(zero) << ", expected 0, 1, 2 or 3";
    bool isHybrid = hsdp > 1;
    Sharding sharding{isHybrid ? shardAxis : dataAxis, isHybrid ? hsdp : dp,
                      zero >= 2, zero == 3 && gather != "step"};
    if (sharding.ways == 1 && offload != "parameters")
      return step.emitError("--zero splits optimizer state over the ranks that "
                            "share the batch, of which there is 1; use --dp 2 "
                            "or more, or --offload parameters on a GPU");
    BucketLimits limits{bucketMb << 20, ""};
    if (zero == 3)
      limits = {std::numeric_limits<int64_t>::max(),
                sharding.gathersAtUse ? StringRef(gather) : StringRef("layer")};
    FailureOr<std::vector<ParameterBucket>> buckets =
        collectBuckets(step, tp, limits);
    if (failed(buckets))
      return failure();

    Results results;
    results.keep(step, attr::output);
    results.keep(step, attr::parameter); // running statistics
    llvm::BitVector members(step.getNumArguments());
    for (auto [number, bucket] : llvm::enumerate(*buckets)) {
      Flattening flattening(step, sharding, bucket, number);
      flattening.replaceParameters();
      results.add(flattening.joinGradients(), attr::gradient,
                  flattening.getName(), flattening.getMembers());
      for (const BucketMember &member : bucket.members)
        members.set(member.parameter.getArgNumber());
    }
    results.assignTo(step);
    members.resize(step.getNumArguments());
    return step.eraseArguments(members);
  }
};

} // namespace
