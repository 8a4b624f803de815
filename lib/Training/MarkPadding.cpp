//===- MarkPadding.cpp - rows of lookup tables that are not trained -------===//
//
// For files that do not say so themselves.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Padding.h"
#include "dtc/Training/CloseNames.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/StepFunction.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"

namespace dtc {
#define GEN_PASS_DEF_MARKPADDING
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct MarkPadding : dtc::impl::MarkPaddingBase<MarkPadding> {
  using MarkPaddingBase::MarkPaddingBase;

  void runOnOperation() override {
    if (paddingIdx.empty())
      return;
    FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
    if (failed(forward))
      return signalPassFailure();
    for (const std::string &text : paddingIdx)
      if (failed(mark(*forward, text)))
        signalPassFailure();
  }

  LogicalResult mark(func::FuncOp forward, StringRef text) {
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
};

} // namespace
