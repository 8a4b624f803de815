//===- ParameterGroups.cpp - what updates of parameters differ in ---------===//
//
// See ParameterGroups.h.
//
//===----------------------------------------------------------------------===//

#include "ParameterGroups.h"
#include "dtc/Training/CloseNames.h"
#include "dtc/Training/StepFunction.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// Norm scales, biases and the like have one dimension, or one value per
/// channel of an image: [C, 1, 1].
static bool isNormOrBias(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 2)
    return true;
  return shape.size() > 2 && llvm::all_of(shape.drop_front(), [](int64_t size) {
           return size == 1;
         });
}

namespace {

/// Reads options that name parameters by globs.
class GroupReader {
public:
  explicit GroupReader(func::FuncOp step) : step(step) {
    for (BlockArgument argument : step.getArguments())
      if (getArgString(argument, attr::parameter))
        names.insert(getTensorName(argument));
  }

  /// Calls `apply` for the group of each tensor whose name matches.
  LogicalResult match(StringRef option, StringRef glob,
                      llvm::function_ref<LogicalResult(StringRef)> apply);
  LogicalResult excludeFromDecay(StringRef glob);
  LogicalResult scaleRate(StringRef text);

  llvm::StringMap<ParameterGroup> groups;

private:
  func::FuncOp step;
  llvm::SetVector<StringRef> names;
  llvm::StringMap<StringRef> scaledBy;
};

} // namespace

LogicalResult
GroupReader::match(StringRef option, StringRef glob,
                   llvm::function_ref<LogicalResult(StringRef)> apply) {
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
  if (!pattern)
    return step.emitError("cannot match names by ")
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
  return step.emitError("no parameter matches ")
         << option << " '" << glob << "'; the closest names are "
         << listCloseNames(glob, names.getArrayRef());
}

LogicalResult GroupReader::excludeFromDecay(StringRef glob) {
  if (glob != "norms-and-biases")
    return match("--no-decay", glob, [&](StringRef name) {
      groups[name].decays = false;
      return success();
    });
  for (BlockArgument argument : step.getArguments())
    if (getArgString(argument, attr::parameter) &&
        isNormOrBias(cast<RankedTensorType>(argument.getType())))
      groups[getTensorName(argument)].decays = false;
  return success();
}

LogicalResult GroupReader::scaleRate(StringRef text) {
  // Names may contain '=', numbers do not.
  auto [glob, number] = text.rsplit('=');
  double scale;
  if (glob.empty() || number.getAsDouble(scale) || !std::isfinite(scale) ||
      scale < 0)
    return step.emitError("--lr-scale is '")
           << text << "', expected GLOB=X with a number of at least 0";
  return match("--lr-scale", glob, [&](StringRef name) -> LogicalResult {
    auto [other, isNew] = scaledBy.try_emplace(name, text);
    if (!isNew)
      return step.emitError("parameter '")
             << name << "' matches --lr-scale '" << other->second << "' and '"
             << text << "', expected one of them";
    groups[name].lrScale = scale;
    return success();
  });
}

FailureOr<llvm::StringMap<ParameterGroup>>
dtc::readParameterGroups(func::FuncOp step, ArrayRef<std::string> noDecay,
                         ArrayRef<std::string> lrScales) {
  GroupReader reader(step);
  for (StringRef glob : noDecay)
    if (failed(reader.excludeFromDecay(glob)))
      return failure();
  for (StringRef text : lrScales)
    if (failed(reader.scaleRate(text)))
      return failure();
  return std::move(reader.groups);
}
