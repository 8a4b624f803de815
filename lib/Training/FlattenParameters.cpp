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

namespace {

/// The sharding that all flat parameters of a step share.
struct Sharding {
  /// The mesh axes whose ranks have a shard each, and their sizes. Experts are
  /// not sharded over the axis that splits them.
  SmallVector<std::pair<StringRef, int64_t>, 2> axes;
  int64_t align;      ///< of each shard
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
  Type getReadType();

  func::FuncOp step;
  const Sharding &sharding;
  const ParameterBucket &bucket;
  const BucketMember &first;
  std::string name;
  Builder attributes;
  RankedTensorType type; ///< of the whole
  DictionaryAttr shards; ///< the splits of ZeRO
  DictionaryAttr splits; ///< these, and those of the members
  Attribute members;
};

} // namespace

Flattening::Flattening(func::FuncOp step, const Sharding &sharding,
                       const ParameterBucket &bucket, unsigned number)
    : step(step), sharding(sharding), bucket(bucket),
      first(bucket.members.front()), name(("/bucket" + Twine(number)).str()),
      attributes(step.getContext()) {
  NamedAttrList list;
  int64_t multiple = sharding.align;
  for (auto [axis, size] : sharding.axes)
    if (llvm::none_of(first.splits, [&, axis = axis](const MemberSplit &split) {
          return split.axis == axis;
        })) {
      list.set(axis, attributes.getI64IntegerAttr(1));
      multiple *= size;
    }
  shards = list.getDictionary(step.getContext());
  for (const MemberSplit &split : first.splits)
    list.set(split.axis, attributes.getI64IntegerAttr(0));
  splits = list.getDictionary(step.getContext());
  type = bucket.getType(multiple);
  members = describeMembers(step, bucket);
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
  for (const BucketMember &member : bucket.members) {
    BlockArgument parameter = member.parameter;
    Value slice = SliceOp::create(
        builder, parameter.getLoc(),
        RankedTensorType::get({member.parts, member.getSize()}, element), read,
        1, member.start, /*view=*/true);
    Value whole = restoreMember(builder, member, slice);
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
  Value joined = dtc::joinGradients(step, bucket, type);
  Operation *last = joined.getDefiningOp();
  last->setAttr(attr::splitDims, shards);
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
    int64_t ways = isHybrid ? hsdp : dp;
    Sharding sharding{{}, align, zero >= 2, zero == 3 && gather != "step"};
    sharding.axes.push_back(
        {isHybrid ? shardAxis : dataAxis, isHybrid ? hsdp : dp / ep});
    if (ep > 1)
      sharding.axes.push_back({expertAxis, ep});
    if (isHybrid && align > 1) // blocks of codes divide the shards of all ranks
      sharding.align *= dp / hsdp;
    if (ways == 1 && offload != "parameters")
      return step.emitError("--zero splits optimizer state over the ranks that "
                            "share the batch, of which there is 1; use --dp 2 "
                            "or more, or --offload parameters on a GPU");
    BucketLimits limits{bucketMb << 20, "", align};
    if (zero == 3)
      limits = {std::numeric_limits<int64_t>::max(),
                sharding.gathersAtUse ? StringRef(gather) : StringRef("layer"),
                align};
    FailureOr<std::vector<ParameterBucket>> buckets =
        collectBuckets(step, tp, ep, limits);
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
