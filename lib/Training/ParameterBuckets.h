//===- ParameterBuckets.h - parameters that are sharded as one --*- C++ -*-===//
//
// Parameters of any size lie side by side in a bucket, which splits evenly over
// the ranks that share the batch.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_PARAMETERBUCKETS_H
#define DTC_LIB_TRAINING_PARAMETERBUCKETS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// A trained parameter.
struct BucketMember {
  mlir::BlockArgument parameter;
  mlir::Value gradient;
  int64_t stage;
  bool crossesStages; ///< its gradient is a sum that other stages add to
  /// The dimension that tp splits, and into how many; 1 if none.
  int64_t splitDim = 0, parts = 1;

  mlir::RankedTensorType getType() const {
    return mlir::cast<mlir::RankedTensorType>(parameter.getType());
  }
  llvm::StringRef getName() const;
  /// Elements of one part.
  int64_t getSize() const { return getType().getNumElements() / parts; }
};

/// Members of one stage and element type, whose updates differ in nothing.
struct ParameterBucket {
  llvm::SmallVector<BucketMember> members; ///< by when gradients are complete
  int64_t size = 0;  ///< elements of one part, without padding
  std::string group; ///< what is gathered together
  int64_t limit = 0; ///< bytes that it may have, if it is not one member alone
};

struct BucketLimits {
  int64_t bytes; ///< of a bucket's parameters; a larger parameter is alone
  /// Which parameters share a bucket: empty for any, "layer" for those of one
  /// layer, else a pattern that the front of their names matches.
  llvm::StringRef group;
};

/// The buckets of all parameters that have a gradient. `tp` ranks share those
/// that are split. Fails, with a diagnostic, if the pattern matches nothing.
mlir::FailureOr<std::vector<ParameterBucket>>
collectBuckets(mlir::func::FuncOp step, int64_t tp, const BucketLimits &limits);

/// The layer of a parameter, by PyTorch's names: up to the first number, or all
/// but the last component.
llvm::StringRef getLayerName(llvm::StringRef parameter);

} // namespace dtc

#endif // DTC_LIB_TRAINING_PARAMETERBUCKETS_H
