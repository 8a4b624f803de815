//===- LayoutOverrides.h - what the user wants split ------------*- C++ -*-===//
//
// --layout GLOB=tp:split(DIM), GLOB=tp:replicated, GLOB=replicated.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_STRATEGY_SPLITS_LAYOUTOVERRIDES_H
#define DTC_LIB_STRATEGY_SPLITS_LAYOUTOVERRIDES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// What one --layout says of one parameter.
struct LayoutOverride {
  llvm::StringRef text;
  mlir::BlockArgument parameter;
  std::optional<int64_t> dim; ///< that tp splits; none: the whole is kept
};

/// The overrides of a function's parameters, in the order of `texts`, which
/// they refer to. Parts of a tensor go by the tensor's name. Fails with a
/// diagnostic if a text cannot be read, names no parameter, no axis that
/// parameters can be split on, or no dimension of theirs.
mlir::FailureOr<llvm::SmallVector<LayoutOverride>>
readLayoutOverrides(mlir::func::FuncOp function,
                    llvm::ArrayRef<std::string> texts);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_SPLITS_LAYOUTOVERRIDES_H
