//===- ParameterBuckets.cpp - parameters that are sharded as one ----------===//
//
// See ParameterBuckets.h.
//
//===----------------------------------------------------------------------===//

#include "ParameterBuckets.h"
#include "MeshAxes.h"
#include "dtc/Parallel/Buckets.h"
#include "dtc/Training/StageAnalysis.h"
#include "dtc/Training/StepFunction.h"
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

/// The shortest front of a name, in whole components, that matches.
static StringRef matchFront(const llvm::GlobPattern &pattern, StringRef name) {
  for (size_t end = name.find('.');; end = name.find('.', end + 1)) {
    StringRef front = name.take_front(end);
    if (pattern.match(front))
      return front;
    if (end == StringRef::npos)
      return {};
  }
}

/// An op that overwrites a trained parameter, from its gradient and its state.
static bool isUpdate(func::FuncOp step, Operation &op) {
  auto alias = dyn_cast<AliasInterface>(op);
  if (!alias || op.getNumOperands() < 2)
    return false;
  std::optional<Alias> first = alias.getAlias(0);
  if (!first || first->kind != AliasKind::Update || first->operand != 0)
    return false;
  auto argument = dyn_cast<BlockArgument>(op.getOperand(0));
  return argument &&
         step.getArgAttr(argument.getArgNumber(), attr::parameter) &&
         !step.getArgAttr(argument.getArgNumber(), attr::frozen);
}

/// Parameters that cross stages, themselves or what is made of parameters and
/// constants alone.
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

static FailureOr<BucketMember>
describe(func::FuncOp step, MeshAttr mesh, Operation &op,
         const StageAnalysis &stages, const DenseSet<Value> &crossing,
         const llvm::StringMap<Value> &gradients) {
  BucketMember member{&op,
                      cast<BlockArgument>(op.getOperand(0)),
                      op.getOperand(1),
                      op.getOperand(1).getDefiningOp<ClipByNormOp>(),
                      nullptr,
                      {},
                      0,
                      false};
  if (member.clip)
    member.gradient = member.clip.getGradient();
  for (Operation *user : op.getResult(0).getUsers())
    if (auto average = dyn_cast<AverageOp>(user))
      member.average = average;
  member.stage = stages.getStage(member.parameter).value_or(0);
  member.crossesStages = crossing.contains(member.parameter);
  for (Value operand : op.getOperands().drop_front(2))
    if (auto state = dyn_cast<BlockArgument>(operand);
        state && getArgString(state, attr::state))
      member.state.push_back(state);
  auto layout = step.getArgAttrOfType<LayoutAttr>(
      member.parameter.getArgNumber(), attr::layout);
  for (const AxisLayout &entry : layout.getEntries()) {
    if (entry.axis != tensorAxis)
      return step.emitError("parameter '")
             << member.getName() << "' is split over " << entry.axis.getValue()
             << ", expected no axis but " << tensorAxis << " with --zero";
    member.splitDim = entry.dim;
    member.parts = mesh.getSize(tensorAxis);
  }
  Value gradient = gradients.lookup(member.getName());
  if (gradient && gradient != member.gradient)
    return step.emitError("parameter '")
           << member.getName()
           << "' is updated from more than its gradient, which --zero cannot "
              "split; use --zero 0 or another --optimizer";
  return member;
}

/// One update in place of both would be the same op on the same scalars.
static bool areAlike(const BucketMember &a, const BucketMember &b) {
  auto scalars = [](const BucketMember &member) {
    SmallVector<Value> values;
    for (Value operand : member.update->getOperands().drop_front(2))
      if (!llvm::is_contained(member.state, operand))
        values.push_back(operand);
    return values;
  };
  auto limitOf = [](BucketMember member) {
    return member.clip ? member.clip.getMaxNormAttr() : FloatAttr();
  };
  auto decayOf = [](BucketMember member) {
    return member.average ? member.average.getDecayAttr() : FloatAttr();
  };
  return a.stage == b.stage && a.crossesStages == b.crossesStages &&
         a.parts == b.parts && limitOf(a) == limitOf(b) &&
         decayOf(a) == decayOf(b) &&
         a.getType().getElementType() == b.getType().getElementType() &&
         a.update->getName() == b.update->getName() &&
         a.update->getPropertiesAsAttribute() ==
             b.update->getPropertiesAsAttribute() &&
         scalars(a) == scalars(b);
}

static bool fits(const ParameterBucket &bucket, const BucketMember &member) {
  return (bucket.size + member.getSize()) *
             (member.getType().getElementTypeBitWidth() / 8) <=
         bucket.limit;
}

FailureOr<std::vector<ParameterBucket>>
dtc::collectBuckets(func::FuncOp step, MeshAttr mesh,
                    const BucketLimits &limits) {
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

  DenseSet<Value> crossing = findCrossing(step);
  llvm::StringMap<Value> gradients; // by parameter
  for (OpOperand &returned : step.front().getTerminator()->getOpOperands())
    if (StringAttr name =
            getResultString(step, returned.getOperandNumber(), attr::gradient))
      gradients[name.getValue()] = returned.get();
  SmallVector<BucketMember> members;
  for (Operation &op : step.front().without_terminator())
    if (isUpdate(step, op)) {
      FailureOr<BucketMember> member =
          describe(step, mesh, op, *stages, crossing, gradients);
      if (failed(member))
        return failure();
      members.push_back(std::move(*member));
    }
  llvm::sort(members, [](const BucketMember &a, const BucketMember &b) {
    Operation *first = a.gradient.getDefiningOp();
    Operation *second = b.gradient.getDefiningOp();
    return first && second && first != second
               ? first->isBeforeInBlock(second)
               : a.update->isBeforeInBlock(b.update);
  });

  bool hasMatch = false;
  std::vector<ParameterBucket> buckets;
  DenseSet<int64_t> begun; // stages
  for (BucketMember &member : members) {
    StringRef group;
    if (pattern)
      group = matchFront(*pattern, member.getName());
    hasMatch |= !group.empty();
    if (group.empty() && !limits.group.empty())
      group = getLayerName(member.getName());
    // The last that would do; what is full stays so, that no member waits for
    // gradients that come much later.
    auto open = std::find_if(buckets.rbegin(), buckets.rend(),
                             [&](const ParameterBucket &bucket) {
                               return bucket.group == group &&
                                      areAlike(bucket.members.front(), member);
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
    open->members.push_back(std::move(member));
  }
  if (pattern && !hasMatch)
    return step.emitError("cannot gather '")
           << limits.group
           << "': no trained parameter has a name that begins so; expected "
              "layer, step or a pattern such as '*.h.*.mlp'";
  return buckets;
}
