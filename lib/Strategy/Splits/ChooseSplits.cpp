//===- ChooseSplits.cpp - choose splits of tensor parallelism -------------===//
//
// Finds dimensions of parameters whose split reaches through a part of the
// model, from the op that creates the dimension to the op that sums over it:
// heads, the inner width of an MLP, the vocabulary.
//
//===----------------------------------------------------------------------===//

#include "DimensionClasses.h"
#include "LayoutOverrides.h"
#include "PaddingValues.h"
#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Propagation/BatchLayouts.h"
#include "dtc/Propagation/SplitExpansion.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/Axes.h"
#include <numeric>

namespace dtc {
#define GEN_PASS_DEF_CHOOSESPLITS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct ChooseSplits : dtc::impl::ChooseSplitsBase<ChooseSplits> {
  using ChooseSplitsBase::ChooseSplitsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ChooseSplitsBase::getDependentDialects(registry);
    registerSplitExpansions(registry);
  }

  void runOnOperation() override {
    if (tp == 1 && !sp)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(run(function)))
        signalPassFailure();
  }

private:
  LogicalResult run(func::FuncOp function);
  LogicalResult applyOverrides(func::FuncOp function,
                               DimensionClasses &classes);
  LogicalResult splitParameters(func::FuncOp function,
                                DimensionClasses &classes);
  LogicalResult emitIndivisible(func::FuncOp function,
                                DimensionClasses &classes, int64_t common);
  LogicalResult splitSequence(func::FuncOp function, DimensionClasses &classes);
  bool isParameter(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument &&
           cast<func::FuncOp>(argument.getOwner()->getParentOp())
               .getArgAttr(argument.getArgNumber(), attr::parameter);
  }
  DictionaryAttr getSplit(int64_t dim) {
    Builder builder(&getContext());
    return builder.getDictionaryAttr(
        builder.getNamedAttr(tensorAxis, builder.getI64IntegerAttr(dim)));
  }

  /// By class: the classes of the same op's factors, and the op.
  llvm::DenseMap<unsigned, SmallVector<std::pair<unsigned, Operation *>>>
      rivals;
  /// Classes that the user wants split or whole, with the option.
  llvm::MapVector<unsigned, LayoutOverride> forced, kept;
  /// Chosen classes.
  llvm::DenseSet<unsigned> chosen;
};

} // namespace

/// Describes the reason why a class is whole.
static std::string describeNeed(const DimensionClass &own) {
  if (!own.wholeFor)
    return "it is a dimension of the data";
  // RepeatKeyHeads looks up the rows of each rank.
  if (auto gather = dyn_cast<GatherOp>(own.wholeFor))
    if (Operation *rows = gather.getIndices().getDefiningOp();
        rows && rows->hasAttr(attr::splitDims))
      return "--tp does not divide its heads, which are repeated for ranks";
  return describeOp(own.wholeFor) + " needs it whole";
}

/// "dimension 0 of parameter 'w' (--layout 'w=tp:split(0)')".
static std::string describe(const LayoutOverride &own) {
  std::string what = "parameter '" + getTensorName(own.parameter).str() + "'";
  if (own.dim)
    what = "dimension " + std::to_string(*own.dim) + " of " + what;
  return what + " (--layout '" + own.text.str() + "')";
}

LogicalResult ChooseSplits::run(func::FuncOp function) {
  if (tp == 1)
    return function.emitError("sequence parallelism splits over the ranks of "
                              "tensor parallelism, of which there is 1; use "
                              "--tp 2 or more with --sp");
  rivals.clear();
  forced.clear();
  kept.clear();
  chosen.clear();
  DimensionClasses classes(function);
  for (const DimensionClasses::Rivals &group : classes.getRivals())
    for (unsigned a : group.classes)
      for (unsigned b : group.classes)
        if (a != b)
          rivals[a].push_back({b, group.op});
  if (failed(applyOverrides(function, classes)) ||
      failed(splitParameters(function, classes)))
    return failure();
  return sp ? splitSequence(function, classes) : success();
}

/// Applies the user's choices for parameters to their classes.
LogicalResult ChooseSplits::applyOverrides(func::FuncOp function,
                                           DimensionClasses &classes) {
  FailureOr<SmallVector<LayoutOverride>> overrides =
      readLayoutOverrides(function, *layout);
  if (failed(overrides))
    return failure();
  for (const LayoutOverride &own : *overrides) {
    auto type = cast<ShapedType>(own.parameter.getType());
    if (!own.dim) {
      for (int64_t dim : llvm::seq(type.getRank()))
        kept.insert({classes.getClass(own.parameter, dim), own});
      continue;
    }
    unsigned number = classes.getClass(own.parameter, *own.dim);
    if (classes[number].isWhole)
      return function.emitError("cannot split ")
             << describe(own) << ": " << describeNeed(classes[number]);
    if (type.getDimSize(*own.dim) == 1)
      return function.emitError("cannot split ")
             << describe(own) << ": it has one element";
    forced.insert({number, own});
  }
  for (auto &[number, own] : forced) {
    auto whole = kept.find(number);
    if (whole != kept.end())
      return function.emitError("cannot split ")
             << describe(own) << " and keep " << describe(whole->second)
             << " whole: they are split together";
    for (auto [other, op] : rivals.lookup(number))
      if (auto rival = forced.find(other); rival != forced.end())
        return function.emitError("cannot split both ")
               << describe(own) << " and " << describe(rival->second) << ": "
               << describeOp(op) << " has both, and tp can split one of them";
  }
  return success();
}

/// The user's choices come first, then classes that few ops sum over, because
/// they need few reductions. A class that meets a chosen one in some op would
/// need the same axis twice there, and stays whole.
LogicalResult ChooseSplits::splitParameters(func::FuncOp function,
                                            DimensionClasses &classes) {
  llvm::DenseSet<unsigned> told;
  struct Candidate {
    bool isFree;
    int64_t sums;
    unsigned argument, dim, number;
  };
  // Warn once if a vocabulary stays whole.
  auto keepWhole = [&](unsigned argument, int64_t dim, unsigned number,
                       const Twine &why) {
    if (!told.insert(number).second)
      return;
    function.emitWarning("parameter '")
        << getTensorName(function.getArgument(argument))
        << "' is not split along dimension " << dim << ": " << why;
  };
  SmallVector<Candidate> candidates;
  for (BlockArgument argument : function.getArguments())
    if (isParameter(argument))
      for (unsigned dim :
           llvm::seq(cast<ShapedType>(argument.getType()).getRank())) {
        unsigned number = classes.getClass(argument, dim);
        const DimensionClass &own = classes[number];
        bool isForced = forced.contains(number);
        if (own.wholeFor && own.expands && !kept.contains(number))
          keepWhole(argument.getArgNumber(), dim, number, describeNeed(own));
        if (isForced || (!kept.contains(number) && !own.isWhole &&
                         (own.sums || own.expands)))
          candidates.push_back(
              {!isForced, own.sums, argument.getArgNumber(), dim, number});
      }
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tie(a.isFree, a.sums, a.argument, a.dim) <
           std::tie(b.isFree, b.sums, b.argument, b.dim);
  });

  SignatureEditor signature(function);
  int64_t common = 0; // divisor of all chosen sizes
  for (const Candidate &candidate : candidates) {
    const DimensionClass &own = classes[candidate.number];
    bool isRival =
        llvm::any_of(rivals.lookup(candidate.number), [&](const auto &other) {
          return chosen.contains(other.first);
        });
    if (isRival)
      continue;
    int64_t size = 0;
    for (int64_t factor : own.sizes)
      size = std::gcd(size, factor);
    if (own.canBePadded() && size % tp != 0) {
      std::string obstacle =
          findPaddingObstacle(function, classes, candidate.number);
      if (!obstacle.empty()) {
        std::string why = "--tp " + std::to_string(tp) +
                          " does not divide its " + std::to_string(size) +
                          " elements, and they cannot be padded: " + obstacle;
        if (auto own = forced.find(candidate.number); own != forced.end())
          return function.emitError("cannot split ")
                 << describe(own->second) << ": " << why;
        keepWhole(candidate.argument, candidate.dim, candidate.number, why);
        continue;
      }
    } else {
      common = std::gcd(common, size);
    }
    chosen.insert(candidate.number);
    NamedAttrList splits(function.getArgAttrOfType<DictionaryAttr>(
        candidate.argument, attr::splitDims)); // of ep
    splits.append(getSplit(candidate.dim).getValue());
    signature.setArg(candidate.argument, attr::splitDims,
                     splits.getDictionary(&getContext()));
  }
  signature.write();
  if (!chosen.empty() && common % tp != 0)
    return emitIndivisible(function, classes, common);
  if (chosen.empty())
    return function.emitError("no parameter of this model can be split over "
                              "--tp ")
           << int64_t(tp)
           << ": expected products whose inner dimension nothing else needs "
              "whole, as in attention and MLPs; use --dp or --pp";
  return success();
}

/// Reports the first parameter that tp does not divide, with a tp that does.
LogicalResult ChooseSplits::emitIndivisible(func::FuncOp function,
                                            DimensionClasses &classes,
                                            int64_t common) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto split =
        function.getArgAttrOfType<DictionaryAttr>(number, attr::splitDims);
    if (!split || !split.contains(tensorAxis))
      continue;
    int64_t dim = split.getAs<IntegerAttr>(tensorAxis).getInt();
    const DimensionClass &own = classes[classes.getClass(argument, dim)];
    for (int64_t size : own.sizes) {
      if (size % tp == 0 || own.canBePadded())
        continue;
      int64_t elements = cast<ShapedType>(argument.getType()).getDimSize(dim);
      InFlightDiagnostic diagnostic =
          function.emitError("cannot split parameter '")
          << getTensorName(argument) << "' over --tp " << int64_t(tp)
          << ": its dimension " << dim << " has " << size;
      if (size == elements)
        diagnostic << " elements";
      else
        diagnostic << " heads or other groups of " << elements / size
                   << " elements";
      diagnostic << ", which --tp has to divide; for this model --tp could be "
                    "1";
      for (int64_t other = 2; other <= common; ++other)
        if (common % other == 0)
          diagnostic << ", " << other;
      return diagnostic << "; --layout '" << getTensorName(argument)
                        << "=replicated' would keep it whole";
    }
  }
  llvm_unreachable("the common divisor is that of these sizes");
}

/// Splits the values between the split parts along the sequence, where they
/// begin; propagation does the rest. The sequence is the last dimension before
/// the width that is not the batch.
LogicalResult ChooseSplits::splitSequence(func::FuncOp function,
                                          DimensionClasses &classes) {
  // The stream is the dimension that a split parameter contracts with.
  llvm::DenseSet<unsigned> streams;
  for (Operation &op : function.front().without_terminator())
    if (auto product = dyn_cast<MatMulOp>(op))
      if (isParameter(product.getRhs())) {
        int64_t rank = product.getRhs().getType().getRank();
        int64_t columns = rank - (product.getTransposeRhs() ? 2 : 1);
        int64_t inner = rank - (product.getTransposeRhs() ? 1 : 2);
        if (chosen.contains(classes.getClass(product.getRhs(), columns)))
          streams.insert(classes.getClass(product.getRhs(), inner));
      }
  llvm::DenseSet<Value> batched;
  llvm::DenseSet<unsigned> batches;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attr::input) &&
        cast<ShapedType>(argument.getType()).getRank() > 0) {
      batched.insert(argument);
      batches.insert(classes.getClass(argument, 0));
    }
  llvm::DenseMap<Value, LayoutAttr> samples = findSamples(function);
  // If samples cannot be followed, or there is only one, use the classes to
  // find the batch.
  auto isBatch = [&](Value value, int64_t dim) {
    if (LayoutAttr layout = samples.lookup(value))
      return !layout.getAxesOfDim(dim).empty();
    return batches.contains(classes.getClass(value, dim));
  };
  int64_t batch = getExportedBatch(function);
  auto findSequence = [&](Value value) -> std::optional<int64_t> {
    ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
    int64_t positions = 1; // of a sample, in one dimension with the batch
    for (int64_t dim : llvm::seq<int64_t>(shape.size()))
      if (isBatch(value, dim))
        positions = std::max(positions, shape[dim] / batch);
    for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
      if (!isBatch(value, dim)) // else experts of a position, for example
        return positions < shape[dim] ? std::optional(dim) : std::nullopt;
    return std::nullopt;
  };
  auto isOnStream = [&](Value value) {
    auto type = cast<ShapedType>(value.getType());
    int64_t rank = type.getRank();
    if (!batched.contains(value) || rank < 3 ||
        !streams.contains(classes.getClass(value, rank - 1)))
      return false;
    return findSequence(value).has_value();
  };
  bool found = false;
  for (Operation &op : function.front().without_terminator()) {
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return batched.contains(v); }))
      for (Value result : op.getResults())
        batched.insert(result);
    bool isOfSlots = isa<DispatchOp, ExpertMatMulOp>(op);
    if (isOfSlots || op.getNumResults() != 1 || !isOnStream(op.getResult(0)) ||
        llvm::any_of(op.getOperands(), isOnStream))
      continue;
    auto type = cast<ShapedType>(op.getResult(0).getType());
    int64_t dim = *findSequence(op.getResult(0));
    if (type.getDimSize(dim) % tp != 0) {
      int64_t copy = tp;
      return op.emitOpError("has a sequence of ")
             << type.getDimSize(dim) << " elements, which --sp cannot split "
             << "over --tp " << copy << "; use a sequence length that " << copy
             << " divides, or leave out --sp";
    }
    op.setAttr(attr::splitDims, getSplit(dim));
    found = true;
  }
  if (!found)
    return function.emitError("has no value with a sequence dimension between "
                              "its split parts, expected [batch, sequence, "
                              "width]; leave out --sp");
  return success();
}
