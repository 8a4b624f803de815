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
#include "mlir/Dialect/Utils/IndexingUtils.h"
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
                                            int64_t ep,
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
    // In the order in which AssignMesh splits one dimension.
    if (auto split = step.getArgAttrOfType<DictionaryAttr>(
            argument.getArgNumber(), attr::splitDims))
      for (auto [axis, ways] : {std::pair<StringRef, int64_t>(tensorAxis, tp),
                                std::pair<StringRef, int64_t>(expertAxis, ep)})
        if (auto dim = split.getAs<IntegerAttr>(axis)) {
          member.splits.push_back({axis, dim.getInt(), ways});
          member.parts *= ways;
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
  auto haveSameAxis = [](const MemberSplit &x, const MemberSplit &y) {
    return x.axis == y.axis;
  };
  return a.stage == b.stage && a.crossesStages == b.crossesStages &&
         llvm::equal(a.splits, b.splits, haveSameAxis) &&
         a.getType().getElementType() == b.getType().getElementType() &&
         agree(attr::noDecay) && agree(attr::lrScale);
}

static bool fits(const ParameterBucket &bucket, const BucketMember &member) {
  return (bucket.size + member.getSize()) *
             (member.getType().getElementTypeBitWidth() / 8) <=
         bucket.limit;
}

FailureOr<std::vector<ParameterBucket>>
dtc::collectBuckets(func::FuncOp step, int64_t tp, int64_t ep,
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

  bool hasMatch = false;
  std::vector<ParameterBucket> buckets;
  DenseSet<int64_t> begun; // stages
  for (BucketMember &member : getMembers(step, tp, ep, *stages)) {
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
    member.start = open->size;
    open->size += llvm::alignTo(member.getSize(), limits.align);
    open->members.push_back(member);
  }
  if (pattern && !hasMatch)
    return step.emitError("cannot gather '")
           << limits.group
           << "': no trained parameter has a name that begins so; expected "
              "layer, step or a pattern such as '*.h.*.mlp'";
  return buckets;
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// Whether the parts of a member are its first elements, the next, and so on.
static bool arePartsInOrder(const BucketMember &member) {
  return member.parts == 1 ||
         (member.splits.size() == 1 && member.splits.front().dim == 0);
}

/// The shape of a member with each split dimension as two, the ways of the
/// split and the rest, and the order that has the ways of all splits in front.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
splitMember(const BucketMember &member) {
  SmallVector<int64_t> shape, order(member.splits.size()), rest;
  for (auto [dim, size] : llvm::enumerate(member.getType().getShape())) {
    int64_t left = size;
    for (auto [i, split] : llvm::enumerate(member.splits))
      if (split.dim == static_cast<int64_t>(dim)) {
        order[i] = shape.size();
        shape.push_back(split.ways);
        left /= split.ways;
      }
    rest.push_back(shape.size());
    shape.push_back(left);
  }
  llvm::append_range(order, rest);
  return {shape, order};
}

Value dtc::flattenMember(OpBuilder &builder, const BucketMember &member,
                         Value value) {
  Location loc = value.getLoc();
  Type element = getElementTypeOrSelf(value);
  auto flat = RankedTensorType::get({member.parts, member.getSize()}, element);
  if (!arePartsInOrder(member)) {
    auto [shape, order] = splitMember(member);
    value = ReshapeOp::create(builder, loc,
                              RankedTensorType::get(shape, element), value);
    value = TransposeOp::create(builder, loc, value, order);
  }
  return ReshapeOp::create(builder, loc, flat, value);
}

Value dtc::restoreMember(OpBuilder &builder, const BucketMember &member,
                         Value flat) {
  Location loc = flat.getLoc();
  RankedTensorType type = member.getType().clone(getElementTypeOrSelf(flat));
  if (!arePartsInOrder(member)) {
    auto [shape, order] = splitMember(member);
    flat = ReshapeOp::create(builder, loc,
                             type.clone(applyPermutation(shape, order)), flat);
    flat =
        TransposeOp::create(builder, loc, flat, invertPermutationVector(order));
  }
  return ReshapeOp::create(builder, loc, type, flat);
}

RankedTensorType ParameterBucket::getType(int64_t multiple) const {
  const BucketMember &first = members.front();
  return RankedTensorType::get(
      {first.parts, static_cast<int64_t>(llvm::alignTo(size, multiple))},
      first.getType().getElementType());
}

ArrayAttr dtc::describeMembers(func::FuncOp step,
                               const ParameterBucket &bucket) {
  Builder attributes(step.getContext());
  SmallVector<Attribute> list;
  for (const BucketMember &member : bucket.members) {
    unsigned number = member.parameter.getArgNumber();
    NamedAttrList entry;
    entry.set("name", attributes.getStringAttr(member.getName()));
    entry.set("type", TypeAttr::get(member.getType()));
    entry.set("start", attributes.getI64IntegerAttr(member.start));
    if (Attribute part = step.getArgAttr(number, attr::part))
      entry.set("part", part);
    if (Attribute split = step.getArgAttr(number, attr::splitDims))
      entry.set(attr::splitDims, split);
    list.push_back(entry.getDictionary(step.getContext()));
  }
  return attributes.getArrayAttr(list);
}

Value dtc::joinGradients(func::FuncOp step, const ParameterBucket &bucket,
                         RankedTensorType type) {
  // Inserts after the last gradient, so that no gradient waits for other
  // buckets. Members are in the order of their gradients.
  auto builder = OpBuilder::atBlockBegin(&step.front());
  for (const BucketMember &member : llvm::reverse(bucket.members))
    if (Operation *op = member.gradient.getDefiningOp()) {
      builder.setInsertionPointAfter(op);
      break;
    }
  return joinMembers(builder, bucket, type, [](const BucketMember &member) {
    return member.gradient;
  });
}

Value dtc::joinMembers(
    OpBuilder &builder, const ParameterBucket &bucket, RankedTensorType type,
    llvm::function_ref<Value(const BucketMember &)> getValue) {
  SmallVector<Value> flat;
  int64_t parts = type.getDimSize(0);
  for (auto [i, member] : llvm::enumerate(bucket.members)) {
    Value own = flattenMember(builder, member, getValue(member));
    // Zeros up to the next member.
    int64_t end = i + 1 < bucket.members.size() ? bucket.members[i + 1].start
                                                : bucket.size;
    if (member.start + member.getSize() != end)
      own = PadOp::create(builder, own.getLoc(),
                          type.clone({parts, end - member.start}), own, 1, 0);
    flat.push_back(own);
  }
  Location loc = flat.front().getLoc();
  Value joined = flat.front();
  if (flat.size() > 1)
    joined = ConcatOp::create(builder, loc, type.clone({parts, bucket.size}),
                              flat, 1);
  if (type.getDimSize(1) != bucket.size)
    joined = PadOp::create(builder, loc, type, joined, 1, 0);
  return joined;
}
