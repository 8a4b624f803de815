//===- ParameterBuckets.h - parameters that are sharded as one --*- C++ -*-===//
//
// What ZeRO splits: the parameters of a step in groups, each laid out side by
// side as one tensor [parts, elements]. A part is what one rank of tp holds.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_PARALLEL_PARAMETERBUCKETS_H
#define DTC_LIB_PARALLEL_PARAMETERBUCKETS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// A trained parameter and what a step does with it.
struct BucketMember {
  mlir::Operation *update;
  mlir::BlockArgument parameter;
  mlir::Value gradient; ///< before clipping
  ClipByNormOp clip;    ///< between the gradient and the update; may be null
  AverageOp average;    ///< of the new parameter; may be null
  /// Of the optimizer, in the order of the update's operands.
  llvm::SmallVector<mlir::BlockArgument> state;
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

/// Members that are updated by one op, in the order of their gradients.
struct ParameterBucket {
  llvm::SmallVector<BucketMember> members;
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

/// The updates of a step in buckets, in the order in which their gradients are
/// complete. Fails with a diagnostic.
mlir::FailureOr<std::vector<ParameterBucket>>
collectBuckets(mlir::func::FuncOp step, MeshAttr mesh,
               const BucketLimits &limits);

/// "h.3" of "h.3.attn.weight", "wte" of "wte.weight": up to the first number,
/// else all but the last component.
llvm::StringRef getLayerName(llvm::StringRef parameter);

} // namespace dtc

#endif // DTC_LIB_PARALLEL_PARAMETERBUCKETS_H
