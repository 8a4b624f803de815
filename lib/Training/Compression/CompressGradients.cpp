//===- CompressGradients.cpp - compressed sums of gradients ---------------===//
//
// Each gradient that the ranks of an axis sum is replaced by the sum of what
// their codes stand for. Codes are exchanged where their layout changes, as any
// value is, so nothing after this pass knows of compression.
//
//===----------------------------------------------------------------------===//

#include "../ParameterBuckets.h"
#include "CompressionBuilder.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Training/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_COMPRESSGRADIENTS
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

struct CompressGradientsPass
    : dtc::impl::CompressGradientsBase<CompressGradientsPass> {
  using CompressGradientsBase::CompressGradientsBase;

  void runOnOperation() override;

private:
  LogicalResult compressBuckets(func::FuncOp step, Results &results);
  void compressFlat(func::FuncOp step, Results &results);
  Value compress(func::FuncOp step, const CompressionUnit &unit,
                 Results &results);

  Compressor method;
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

/// Adds the sum of a unit, and its states, to the step. Returns the sum.
Value CompressGradientsPass::compress(func::FuncOp step,
                                      const CompressionUnit &unit,
                                      Results &results) {
  CompressionBuilder b(step, unit, method, keepsErrors, numUnits++);
  SmallVector<int64_t> shape = {unit.ranks};
  auto type = cast<RankedTensorType>(unit.gradient.getType());
  llvm::append_range(shape, type.getShape());
  Value terms = TermsOp::create(b, b.loc, type.clone(shape), unit.gradient,
                                unit.axis);
  // A loss scale may change from step to step, so residuals are without it.
  Value scale = findScalarInput(step, lossScaleKind);
  if (scale) {
    scale = b.cast(scale, b.element);
    terms = b.binary<DivOp>(terms, scale);
  }
  Value residual = b.getResidual();
  if (residual)
    terms = b.binary<AddOp>(terms, residual);
  CompressedSum made = method.traits->block > 1
                           ? sumBlockCodes(b, terms)
                           : sumSparseCodes(b, terms);
  if (residual)
    b.keepError(residual, terms, made.sent, "residual");
  for (auto &[name, value] : b.states)
    results.add(value, attr::state, name, unit.members);
  return scale ? b.binary<MulOp>(made.sum, scale) : made.sum;
}

/// Flattens gradients into buckets, and gives each member its part of the sum.
LogicalResult CompressGradientsPass::compressBuckets(func::FuncOp step,
                                                     Results &results) {
  int64_t block = method.traits->block;
  FailureOr<std::vector<ParameterBucket>> buckets =
      collectBuckets(step, tp, {bucketMb << 20, "", block});
  if (failed(buckets))
    return failure();
  llvm::StringMap<Value> sums;
  for (const ParameterBucket &bucket : *buckets) {
    int64_t parts = bucket.members.front().parts;
    RankedTensorType type = bucket.getType(block > 1 ? dp * block : 1);
    CompressionUnit unit;
    unit.name = ("/gradients" + Twine(numUnits)).str();
    unit.gradient = joinGradients(step, bucket, type);
    unit.axis = StringAttr::get(&getContext(), dataAxis);
    unit.ranks = dp;
    unit.members = describeMembers(step, bucket);
    unit.parts = parts;
    for (const BucketMember &member : bucket.members)
      unit.segments.push_back({member.start, member.getSize()});
    Value sum = compress(step, unit, results);
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(sum);
    for (const BucketMember &member : bucket.members) {
      auto slice = SliceOp::create(
          builder, sum.getLoc(), type.clone({parts, member.getSize()}), sum, 1,
          member.start, /*view=*/true);
      sums[member.getName()] = restoreMember(builder, member, slice);
    }
  }
  for (const ReturnedGradient &gradient : getGradients(step))
    results.add(sums.lookup(gradient.name), attr::gradient, gradient.name);
  return success();
}

/// Compresses the gradients of ZeRO's flat parameters. With groups, ranks of
/// the same place in all groups sum their shards.
void CompressGradientsPass::compressFlat(func::FuncOp step,
                                         Results &results) {
  bool isHybrid = hsdp > 1;
  for (const ReturnedGradient &gradient : getGradients(step)) {
    auto type = cast<RankedTensorType>(gradient.value.getType());
    CompressionUnit unit;
    unit.name = gradient.name.str();
    unit.gradient = gradient.value;
    unit.axis = StringAttr::get(&getContext(), dataAxis);
    unit.ranks = dp / hsdp;
    unit.members = gradient.members;
    unit.parts = type.getDimSize(0);
    unit.isSharded =
        !isHybrid && method.traits->exchange == CodeExchange::AllToAll;
    Operation *last = gradient.value.getDefiningOp();
    Attribute split = last->getAttr(attr::splitDims);
    if (isHybrid) {
      unit.shardAxis = shardAxis;
      unit.shards = hsdp;
    } else {
      last->removeAttr(attr::splitDims);
      last->removeAttr(attr::perMicrobatch);
    }
    if (isHybrid && method.traits->block == 1)
      unit.segments.push_back({0, type.getDimSize(1) / hsdp});
    else
      for (auto member : gradient.members.getAsRange<DictionaryAttr>()) {
        auto own = cast<RankedTensorType>(
            member.getAs<TypeAttr>("type").getValue());
        unit.segments.push_back({member.getAs<IntegerAttr>("start").getInt(),
                                 own.getNumElements() / unit.parts});
      }
    Value sum = compress(step, unit, results);
    sum.getDefiningOp()->setAttr(attr::splitDims, split);
    results.add(sum, attr::gradient, gradient.name, gradient.members);
  }
}

void CompressGradientsPass::runOnOperation() {
  llvm::Expected<std::optional<Compressor>> parsed =
      Compressor::parse(compressor);
  if (!parsed) {
    getOperation().emitError(llvm::toString(parsed.takeError()));
    return signalPassFailure();
  }
  if (!*parsed)
    return;
  method = **parsed;
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
    compressFlat(*step, results);
  else if (failed(compressBuckets(*step, results)))
    return signalPassFailure();
  results.assignTo(*step);
}
