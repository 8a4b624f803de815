//===- ParameterBuckets.cpp - buckets of sharded parameters ---------------===//
//
// See ParameterBuckets.h.
//
//===----------------------------------------------------------------------===//

#include "ParameterBuckets.h"
#include "dtc/Dialect/StageAnalysis.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Support/Buckets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace dtc;

StringRef BucketMember::getName() const {
  return getArgString(parameter, attr::parameter);
}

StringRef dtc::getLayerName(StringRef parameter) {
  size_t begin = 0;
  while (begin < parameter.size()) {
    size_t end = std::min(parameter.find('.', begin), parameter.size());
    StringRef component = parameter.slice(begin, end);
    if (!component.empty() &&
        llvm::all_of(component, [](char c) { return llvm::isDigit(c); }))
      return parameter.take_front(end);
    begin = end + 1;
  }
  size_t last = parameter.rfind('.');
  return last == StringRef::npos ? parameter : parameter.take_front(last);
}

/// The shortest prefix of a name, in whole components, that matches.
static StringRef matchFront(const llvm::GlobPattern &pattern, StringRef name) {
  for (size_t end = name.find('.');; end = name.find('.', end + 1)) {
    StringRef front = name.take_front(end);
    if (pattern.match(front))
      return front;
    if (end == StringRef::npos)
      return {};
  }
}

/// Parameters that cross stages, either directly or as part of a value that is
/// computed from parameters and constants only.
static DenseSet<Value> findCrossing(func::FuncOp step) {
  DenseSet<Value> fixed, crossing;
  for (BlockArgument argument : step.getArguments())
    if (getArgString(argument, attr::parameter))
      fixed.insert(argument);
  auto isFixed = [&](Value value) { return fixed.contains(value); };
  for (Operation &op : step.front())
    if (llvm::all_of(op.getOperands(), isFixed))
      fixed.insert_range(op.getResults());
  for (Operation &op : llvm::reverse(step.front()))
    if (isa<BoundaryOp>(op) || llvm::any_of(op.getResults(), [&](Value value) {
          return crossing.contains(value);
        }))
      crossing.insert_range(llvm::make_filter_range(op.getOperands(), isFixed));
  return crossing;
}

/// The parameters that have gradients, in the order in which gradients are
/// complete.
static SmallVector<BucketMember> getMembers(func::FuncOp step, int64_t tp,
                                            const StageAnalysis &stages) {
  llvm::StringMap<Value> gradients;
  for (OpOperand &returned : step.front().getTerminator()->getOpOperands())
    if (StringAttr name =
            getResultString(step, returned.getOperandNumber(), attr::gradient))
      gradients[name.getValue()] = returned.get();
  DenseSet<Value> crossing = findCrossing(step);
  SmallVector<BucketMember> members;
  for (BlockArgument argument : step.getArguments()) {
    StringAttr name = getArgString(argument, attr::parameter);
    Value gradient = name ? gradients.lookup(name.getValue()) : Value();
    if (!gradient)
      continue;
    BucketMember member{argument, gradient,
                        stages.getStage(argument).value_or(0),
                        crossing.contains(argument)};
    if (auto split = step.getArgAttrOfType<DictionaryAttr>(
            argument.getArgNumber(), attr::splitDims))
      if (auto dim = split.getAs<IntegerAttr>(tensorAxis)) {
        member.splitDim = dim.getInt();
        member.parts = tp;
      }
    members.push_back(member);
  }
  llvm::sort(members, [](const BucketMember &a, const BucketMember &b) {
    Operation *first = a.gradient.getDefiningOp();
    Operation *second = b.gradient.getDefiningOp();
    if (first == second)
      return a.parameter.getArgNumber() < b.parameter.getArgNumber();
    return !first || (second && first->isBeforeInBlock(second));
  });
  return members;
}

/// Whether one update can replace both: the same op with the same scalars.
static bool areAlike(func::FuncOp step, const BucketMember &a,
                     const BucketMember &b) {
  auto agree = [&](StringRef name) {
    return step.getArgAttr(a.parameter.getArgNumber(), name) ==
           step.getArgAttr(b.parameter.getArgNumber(), name);
  };
  return a.stage == b.stage && a.crossesStages == b.crossesStages &&
         a.parts == b.parts &&
         a.getType().getElementType() == b.getType().getElementType() &&
         agree(attr::noDecay) && agree(attr::lrScale);
}

static bool fits(const ParameterBucket &bucket, const BucketMember &member) {
  return (bucket.size + member.getSize()) *
             (member.getType().getElementTypeBitWidth() / 8) <=
         bucket.limit;
}

FailureOr<std::vector<ParameterBucket>>
dtc::collectBuckets(func::FuncOp step, int64_t tp, const BucketLimits &limits) {
  FailureOr<StageAnalysis> stages = StageAnalysis::compute(step);
  if (failed(stages))
    return failure();
  std::optional<llvm::GlobPattern> pattern;
  if (!limits.group.empty() && limits.group != "layer") {
    llvm::Expected<llvm::GlobPattern> glob =
        llvm::GlobPattern::create(limits.group);
    if (!glob)
      return step.emitError("cannot gather '")
             << limits.group << "': " << llvm::toString(glob.takeError());
    pattern = std::move(*glob);
  }

  bool hasMatch = false;
  std::vector<ParameterBucket> buckets;
  DenseSet<int64_t> begun; // stages
  for (BucketMember &member : getMembers(step, tp, *stages)) {
    StringRef group;
    if (pattern)
      group = matchFront(*pattern, member.getName());
    hasMatch |= !group.empty();
    if (group.empty() && !limits.group.empty())
      group = getLayerName(member.getName());
    // Takes the last bucket that fits. Buckets before it stay closed, so that
    // no member waits for gradients that come much later.
    auto open = std::find_if(
        buckets.rbegin(), buckets.rend(), [&](const ParameterBucket &bucket) {
          return bucket.group == group &&
                 areAlike(step, bucket.members.front(), member);
        });
    if (open == buckets.rend() || !fits(*open, member)) {
      bool isFirst = limits.group.empty() && begun.insert(member.stage).second;
      buckets.push_back(
          {{},
           0,
           group.str(),
           isFirst ? std::min(limits.bytes, firstBucketBytes) : limits.bytes});
      open = buckets.rbegin();
    }
    open->size += member.getSize();
    open->members.push_back(member);
  }
  if (pattern && !hasMatch)
    return step.emitError("cannot gather '")
           << limits.group
           << "': no trained parameter has a name that begins so; expected "
              "layer, step or a pattern such as '*.h.*.mlp'";
  return buckets;
}
