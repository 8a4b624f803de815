//===- ExchangeGradients.cpp - compressed and delayed sums ----------------===//
//
// Each gradient that the ranks of an axis sum is replaced by the sum of what
// their codes stand for, or of terms of an earlier step. All exchange is a
// change of layout, as for any value, so no pass after this one knows of it.
//
//===----------------------------------------------------------------------===//

#include "../ParameterBuckets.h"
#include "ExchangeBuilder.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Training/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_EXCHANGEGRADIENTS
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// A gradient that the step returns.
struct ReturnedGradient {
  StringRef name;
  Value value;
  ArrayAttr members; ///< null if it is no bucket
};

struct ExchangeGradientsPass
    : dtc::impl::ExchangeGradientsBase<ExchangeGradientsPass> {
  using ExchangeGradientsBase::ExchangeGradientsBase;

  void runOnOperation() override;

private:
  LogicalResult exchangeBuckets(func::FuncOp step, Results &results);
  void exchangeFlat(func::FuncOp step, Results &results);
  Value exchange(func::FuncOp step, const ExchangeUnit &unit, Results &results);

  std::optional<Compressor> method;
  ErrorFeedback feedback{ErrorFeedback::Off};
  int64_t numUnits = 0;
};

} // namespace

static SmallVector<ReturnedGradient> getGradients(func::FuncOp step) {
  SmallVector<ReturnedGradient> gradients;
  for (auto [i, value] : llvm::enumerate(getReturn(step).getOperands()))
    if (StringAttr name = getResultString(step, i, attr::gradient))
      gradients.push_back(
          {name.getValue(), value,
           step.getResultAttrOfType<ArrayAttr>(i, attr::members)});
  return gradients;
}

/// A tensor of which each row has one of `parts` parts. A part is a matrix of
/// its first dimension and all others.
static Segment describe(StringRef name, RankedTensorType type, int64_t parts,
                        int64_t start, int64_t splitDim) {
  int64_t size = type.getNumElements() / parts;
  int64_t rows = type.getRank() < 2 ? 1 : type.getDimSize(0);
  if (rows > 1 && parts > 1 && splitDim == 0)
    rows /= parts;
  return {name.str(), start, size, rows};
}

/// The sum of the terms themselves.
static ExchangedSum sumTerms(ExchangeBuilder &b, Value terms) {
  auto type = cast<RankedTensorType>(b.unit.gradient.getType());
  if (b.unit.isSharded)
    return {b.exchange(SumTermsOp::create(b, b.loc, type, terms), 1), terms};
  // A copy, since an all-reduce overwrites its operand.
  return {b.exchange(b.reshape(b.sum(terms, 0), type.getShape()), -1), terms};
}

static ExchangedSum sumCodes(ExchangeBuilder &b, Value terms) {
  if (!b.compressor.traits)
    return sumTerms(b, terms);
  switch (b.compressor.traits->kind) {
  case CompressorKind::TopK:
  case CompressorKind::RandK:
    return sumSparseCodes(b, terms);
  case CompressorKind::PowerSgd:
    return sumFactors(b, terms);
  default:
    return sumBlockCodes(b, terms);
  }
}

/// The sum of what codes stand for.
static Value createSum(ExchangeBuilder &b, Value terms) {
  switch (b.feedback.kind) {
  case ErrorFeedback::Off:
    return sumCodes(b, terms).sum;
  case ErrorFeedback::Residual: {
    Value residual = b.addStateOfTerms("residual");
    terms = b.binary<AddOp>(terms, residual);
    ExchangedSum made = sumCodes(b, terms);
    b.keep(residual, b.binary<SubOp>(terms, made.sent));
    return made.sum;
  }
  case ErrorFeedback::Momentum: {
    // The velocity of elements that are sent ends, so that they do not move on
    // by terms of long ago.
    Value velocity = b.addStateOfTerms("velocity");
    Value residual = b.addStateOfTerms("residual");
    Value moved = b.binary<AddOp>(
        b.binary<MulOp>(velocity, b.constant(b.feedback.momentum)), terms);
    terms = b.binary<AddOp>(moved, residual);
    ExchangedSum made = sumCodes(b, terms);
    b.keep(residual, b.binary<SubOp>(terms, made.sent));
    Value zero = b.constant(0);
    b.keep(velocity,
           b.select(b.compare(Comparison::eq, made.sent, zero), moved, zero));
    return made.sum;
  }
  case ErrorFeedback::Estimate: {
    Value estimate = b.addStateOfTerms("estimate");
    Value known = b.addStateOfSum("sum_estimate", b.unit.isSharded);
    ExchangedSum made = sumCodes(b, b.binary<SubOp>(terms, estimate));
    b.keep(estimate, b.binary<AddOp>(estimate, made.sent));
    Value sum = b.binary<AddOp>(known, made.sum);
    b.keep(known, sum);
    return sum;
  }
  }
  llvm_unreachable("all kinds are listed");
}

/// The terms of `delay` steps ago, zero before there are any. States have the
/// terms of the steps since.
static Value delayTerms(ExchangeBuilder &b, Value terms, int64_t delay) {
  SmallVector<Value> waiting;
  for (int64_t age = 1; age <= delay; ++age)
    waiting.push_back(b.addStateOfTerms("waiting" + std::to_string(age)));
  Value oldest = terms;
  for (int64_t age = delay; age > 0; --age) {
    if (age == delay)
      oldest = waiting[age - 1];
    // A skipped step must not stop the queue, whose terms may be the reason.
    b.keep(waiting[age - 1], age > 1 ? waiting[age - 2] : terms,
           /*always=*/true);
  }
  return oldest;
}

/// Adds the sum of a unit, and its states, to the step. Returns the sum.
Value ExchangeGradientsPass::exchange(func::FuncOp step,
                                      const ExchangeUnit &unit,
                                      Results &results) {
  Compressor none{nullptr};
  ExchangeBuilder b(step, unit, method ? *method : none, feedback);
  SmallVector<int64_t> shape = {unit.ranks};
  auto type = cast<RankedTensorType>(unit.gradient.getType());
  llvm::append_range(shape, type.getShape());
  Value terms =
      TermsOp::create(b, b.loc, type.clone(shape), unit.gradient, unit.axis);
  // A loss scale may change from step to step, so states are without it.
  Value scale = findScalarInput(step, lossScaleKind);
  if (scale) {
    scale = b.cast(scale, b.element);
    terms = b.binary<DivOp>(terms, scale);
  }
  Value sum = createSum(b, delayTerms(b, terms, delay));
  for (const ExchangeBuilder::KeptState &state : b.states)
    results.add(state.value, attr::state, state.name, state.members);
  return scale ? b.binary<MulOp>(sum, scale) : sum;
}

/// Flattens gradients into buckets, and gives each member its part of the sum.
LogicalResult ExchangeGradientsPass::exchangeBuckets(func::FuncOp step,
                                                     Results &results) {
  int64_t block = method ? method->traits->block : 1;
  FailureOr<std::vector<ParameterBucket>> buckets =
      collectBuckets(step, tp, /*ep=*/1, {bucketMb << 20, "", block});
  if (failed(buckets))
    return failure();
  llvm::StringMap<Value> sums;
  for (const ParameterBucket &bucket : *buckets) {
    int64_t parts = bucket.members.front().parts;
    RankedTensorType type = bucket.getType(block > 1 ? dp * block : 1);
    ExchangeUnit unit;
    unit.name = ("/gradients" + Twine(numUnits++)).str();
    unit.gradient = joinGradients(step, bucket, type);
    unit.axis = StringAttr::get(&getContext(), dataAxis);
    unit.ranks = dp;
    unit.members = describeMembers(step, bucket);
    unit.parts = parts;
    for (const BucketMember &member : bucket.members)
      unit.segments.push_back(
          describe(member.getName(), member.getType(), parts, member.start,
                   member.splits.empty() ? 0 : member.splits.front().dim));
    Value sum = exchange(step, unit, results);
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(sum);
    for (const BucketMember &member : bucket.members) {
      auto slice = SliceOp::create(builder, sum.getLoc(),
                                   type.clone({parts, member.getSize()}), sum,
                                   1, member.start, /*view=*/true);
      sums[member.getName()] = restoreMember(builder, member, slice);
    }
  }
  for (const ReturnedGradient &gradient : getGradients(step))
    results.add(sums.lookup(gradient.name), attr::gradient, gradient.name);
  return success();
}

/// Compresses the gradients of ZeRO's flat parameters. With groups, ranks of
/// the same place in all groups sum their shards.
void ExchangeGradientsPass::exchangeFlat(func::FuncOp step, Results &results) {
  bool isHybrid = hsdp > 1;
  for (const ReturnedGradient &gradient : getGradients(step)) {
    auto type = cast<RankedTensorType>(gradient.value.getType());
    ExchangeUnit unit;
    unit.name = gradient.name.str();
    unit.gradient = gradient.value;
    unit.axis = StringAttr::get(&getContext(), dataAxis);
    unit.ranks = dp / hsdp;
    unit.members = gradient.members;
    unit.parts = type.getDimSize(0);
    unit.isSharded = !isHybrid && (!method || method->traits->hasBlocks());
    Operation *last = gradient.value.getDefiningOp();
    Attribute split = last->getAttr(attr::splitDims);
    if (isHybrid) {
      unit.shardAxis = shardAxis;
      unit.shards = hsdp;
    } else {
      last->removeAttr(attr::splitDims);
      last->removeAttr(attr::perMicrobatch);
    }
    if (isHybrid && method && !method->traits->hasBlocks())
      unit.segments.push_back({unit.name, 0, type.getDimSize(1) / hsdp, 1});
    else
      for (auto member : gradient.members.getAsRange<DictionaryAttr>()) {
        auto own =
            cast<RankedTensorType>(member.getAs<TypeAttr>("type").getValue());
        int64_t splitDim = 0;
        if (auto splits = member.getAs<DictionaryAttr>(attr::splitDims))
          if (auto dim = splits.getAs<IntegerAttr>(tensorAxis))
            splitDim = dim.getInt();
        unit.segments.push_back(
            describe(member.getAs<StringAttr>("name"), own, unit.parts,
                     member.getAs<IntegerAttr>("start").getInt(), splitDim));
      }
    Value sum = exchange(step, unit, results);
    sum.getDefiningOp()->setAttr(attr::splitDims, split);
    results.add(sum, attr::gradient, gradient.name, gradient.members);
  }
}

void ExchangeGradientsPass::runOnOperation() {
  llvm::Expected<std::optional<Compressor>> parsed =
      Compressor::parse(compressor);
  if (!parsed) {
    getOperation().emitError(llvm::toString(parsed.takeError()));
    return signalPassFailure();
  }
  method = *parsed;
  if (!method && delay == 0)
    return;
  llvm::Expected<ErrorFeedback> use = ErrorFeedback::parse(errorFeedback);
  if (!use) {
    getOperation().emitError(llvm::toString(use.takeError()));
    return signalPassFailure();
  }
  if (method)
    feedback = *use;
  FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
  if (failed(step))
    return signalPassFailure();
  Results results;
  results.keep(*step, attr::output);
  results.keep(*step, attr::parameter); // running statistics
  bool isFlat = llvm::any_of(getGradients(*step), [](const auto &gradient) {
    return gradient.members != nullptr;
  });
  if (isFlat)
    exchangeFlat(*step, results);
  else if (failed(exchangeBuckets(*step, results)))
    return signalPassFailure();
  results.assignTo(*step);
}
