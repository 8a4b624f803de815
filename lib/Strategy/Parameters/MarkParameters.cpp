//===- MarkParameters.cpp - mark parameters that the user names -----------===//
//
// Options that name parameters by globs become attributes of the parameters, or
// of the ops that read them. Names are those of the model, so the pass runs
// before parameters are split or merged.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Padding.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/CloseNames.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"
#include <cmath>

namespace dtc {
#define GEN_PASS_DEF_MARKPARAMETERS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Rows of lookup tables
//===----------------------------------------------------------------------===//

/// Applies --padding-idx GLOB=N.
static LogicalResult markPadding(func::FuncOp forward, StringRef text) {
  auto [glob, number] = text.rsplit('=');
  int64_t row;
  if (glob.empty() || number.getAsInteger(10, row))
    return forward.emitError("--padding-idx is '")
           << text << "', expected GLOB=N with the number of a row";
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
  if (!pattern)
    return forward.emitError("cannot match names by --padding-idx '")
           << text << "': " << llvm::toString(pattern.takeError());
  bool matches = false;
  llvm::SetVector<StringRef> tables;
  for (auto lookup : forward.getOps<GatherOp>()) {
    auto table = dyn_cast<BlockArgument>(lookup.getTable());
    if (!table || !getArgString(table, attr::parameter))
      continue;
    StringRef name = getTensorName(table);
    tables.insert(name);
    if (!pattern->match(name))
      continue;
    matches = true;
    int64_t rows = lookup.getTable().getType().getDimSize(0);
    if (row < 0 || row >= rows)
      return forward.emitError("--padding-idx '")
             << text << "' names row " << row << " of '" << name
             << "', expected 0 to " << rows - 1;
    setPadding(lookup, row);
  }
  if (matches)
    return success();
  return forward.emitError("no lookup table matches --padding-idx '")
         << text << "'; "
         << (tables.empty() ? "the model has none"
                            : "the closest names are " +
                                  listCloseNames(glob, tables.getArrayRef()));
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Norm scales and biases have one dimension, or one value for each channel of
/// an image: [C, 1, 1].
static bool isNormOrBias(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2)
    return true;
  return shape.size() > 2 && llvm::all_of(shape.drop_front(), [](int64_t size) {
           return size == 1;
         });
}

namespace {

/// Marks the parameters that options name by globs.
class GroupMarker {
public:
  explicit GroupMarker(func::FuncOp forward) : forward(forward) {
    for (BlockArgument argument : forward.getArguments())
      if (getArgString(argument, attr::parameter))
        names.insert(getTensorName(argument));
  }

  /// Applies --no-decay.
  LogicalResult excludeFromDecay(StringRef glob);
  /// Applies --lr-scale.
  LogicalResult scaleRate(StringRef text);

private:
  /// Calls `apply` for each tensor whose name matches.
  LogicalResult match(StringRef option, StringRef glob,
                      llvm::function_ref<LogicalResult(StringRef)> apply);
  /// Marks the parameters that hold a tensor, or parts of it.
  void mark(StringRef tensor, StringRef name, Attribute value);

  func::FuncOp forward;
  llvm::SetVector<StringRef> names;
  llvm::StringMap<StringRef> scaledBy;
};

} // namespace

LogicalResult
GroupMarker::match(StringRef option, StringRef glob,
                   llvm::function_ref<LogicalResult(StringRef)> apply) {
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
  if (!pattern)
    return forward.emitError("cannot match names by ")
           << option << " '" << glob
           << "': " << llvm::toString(pattern.takeError());
  bool matches = false;
  for (StringRef name : names) {
    if (!pattern->match(name))
      continue;
    matches = true;
    if (failed(apply(name)))
      return failure();
  }
  if (matches)
    return success();
  return forward.emitError("no parameter matches ")
         << option << " '" << glob << "'; the closest names are "
         << listCloseNames(glob, names.getArrayRef());
}

void GroupMarker::mark(StringRef tensor, StringRef name, Attribute value) {
  for (BlockArgument argument : forward.getArguments())
    if (getArgString(argument, attr::parameter) &&
        getTensorName(argument) == tensor)
      forward.setArgAttr(argument.getArgNumber(), name, value);
}

LogicalResult GroupMarker::excludeFromDecay(StringRef glob) {
  if (glob != "norms-and-biases")
    return match("--no-decay", glob, [&](StringRef name) {
      mark(name, attr::noDecay, UnitAttr::get(forward.getContext()));
      return success();
    });
  for (BlockArgument argument : forward.getArguments())
    if (getArgString(argument, attr::parameter) &&
        isNormOrBias(cast<RankedTensorType>(argument.getType())))
      mark(getTensorName(argument), attr::noDecay,
           UnitAttr::get(forward.getContext()));
  return success();
}

LogicalResult GroupMarker::scaleRate(StringRef text) {
  // Names may contain '=', numbers do not.
  auto [glob, number] = text.rsplit('=');
  double scale;
  if (glob.empty() || number.getAsDouble(scale) || !std::isfinite(scale) ||
      scale < 0)
    return forward.emitError("--lr-scale is '")
           << text << "', expected GLOB=X with a number of at least 0";
  return match("--lr-scale", glob, [&](StringRef name) -> LogicalResult {
    auto [other, isNew] = scaledBy.try_emplace(name, text);
    if (!isNew)
      return forward.emitError("parameter '")
             << name << "' matches --lr-scale '" << other->second << "' and '"
             << text << "', expected one of them";
    mark(name, attr::lrScale,
         Builder(forward.getContext()).getF64FloatAttr(scale));
    return success();
  });
}

namespace {

struct MarkParametersPass : dtc::impl::MarkParametersBase<MarkParametersPass> {
  using MarkParametersBase::MarkParametersBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
    if (failed(forward))
      return signalPassFailure();
    GroupMarker groups(*forward);
    for (const std::string &text : paddingIdx)
      if (failed(markPadding(*forward, text)))
        return signalPassFailure();
    for (const std::string &glob : noDecay)
      if (failed(groups.excludeFromDecay(glob)))
        return signalPassFailure();
    for (const std::string &text : lrScale)
      if (failed(groups.scaleRate(text)))
        return signalPassFailure();
  }
};

} // namespace
