//===- LayoutOverrides.cpp - splits that the user chooses -----------------===//
//
// See LayoutOverrides.h.
//
//===----------------------------------------------------------------------===//

#include "LayoutOverrides.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Support/CloseNames.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace dtc;

/// Reads the text after the glob: the dimension to split, or none.
static LogicalResult readLayout(func::FuncOp function, StringRef text,
                                StringRef layout, std::optional<int64_t> &dim) {
  auto [axis, rest] = layout.split(':');
  if (layout.contains(':')) {
    if (axis != tensorAxis)
      return function.emitError("--layout '")
             << text << "' names axis '" << axis
             << "', expected tp, the one axis that splits parameters";
    layout = rest;
  }
  if (layout == "replicated")
    return success();
  int64_t number;
  if (axis != layout && layout.consume_front("split(") &&
      layout.consume_back(")") && !layout.getAsInteger(10, number)) {
    dim = number;
    return success();
  }
  return function.emitError("--layout is '")
         << text
         << "', expected GLOB=tp:split(DIMENSION), GLOB=tp:replicated or "
            "GLOB=replicated";
}

FailureOr<SmallVector<LayoutOverride>>
dtc::readLayoutOverrides(func::FuncOp function, ArrayRef<std::string> texts) {
  SmallVector<LayoutOverride> overrides;
  for (StringRef text : texts) {
    // Names may contain '=', layouts do not.
    auto [pattern, layout] = text.rsplit('=');
    std::optional<int64_t> dim;
    if (failed(readLayout(function, text, layout, dim)))
      return failure();
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
    if (!glob)
      return function.emitError("cannot match names by --layout '")
             << text << "': " << llvm::toString(glob.takeError());
    llvm::SetVector<StringRef> names;
    bool matches = false;
    for (BlockArgument argument : function.getArguments()) {
      if (!getArgString(argument, attr::parameter))
        continue;
      StringRef name = getTensorName(argument);
      names.insert(name);
      if (!glob->match(name))
        continue;
      matches = true;
      int64_t rank = cast<ShapedType>(argument.getType()).getRank();
      if (dim && (*dim < 0 || *dim >= rank))
        return function.emitError("--layout '")
               << text << "' splits dimension " << *dim << " of parameter '"
               << name << "', which has type " << argument.getType()
               << " and dimensions below " << rank;
      overrides.push_back({text, argument, dim});
    }
    if (!matches)
      return function.emitError("no parameter matches --layout '")
             << text << "'; the closest names are "
             << listCloseNames(pattern, names.getArrayRef());
  }
  return overrides;
}
