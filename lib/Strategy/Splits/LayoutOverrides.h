//===- LayoutOverrides.h - splits that the user chooses ---------*- C++ -*-===//
//
// --layout GLOB=tp:split(DIM), GLOB=tp:replicated, GLOB=replicated.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_STRATEGY_SPLITS_LAYOUTOVERRIDES_H
#define DTC_LIB_STRATEGY_SPLITS_LAYOUTOVERRIDES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// The layout that one --layout option gives to one parameter.
struct LayoutOverride {
  llvm::StringRef text;
  mlir::BlockArgument parameter;
  std::optional<int64_t> dim; ///< dimension that tp splits; none: whole
};

/// Returns the overrides of a function's parameters, in the order of `texts`,
/// to which they refer. A part of a tensor matches by the tensor's name. Fails
/// with a diagnostic if a text has a wrong form, matches no parameter, or names
/// an axis or a dimension that the parameters do not have.
mlir::FailureOr<llvm::SmallVector<LayoutOverride>>
readLayoutOverrides(mlir::func::FuncOp function,
                    llvm::ArrayRef<std::string> texts);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_SPLITS_LAYOUTOVERRIDES_H
