//===- ParameterBuckets.h - buckets of sharded parameters -------*- C++ -*-===//
//
// A bucket concatenates parameters of any size, so that it can be split evenly
// over the ranks that share the batch.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRAINING_PARAMETERBUCKETS_H
#define DTC_LIB_TRAINING_PARAMETERBUCKETS_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// A split of one of a parameter's dimensions over an axis of the mesh.
struct MemberSplit {
  llvm::StringRef axis;
  int64_t dim, ways;
};

/// A trained parameter.
struct BucketMember {
  mlir::BlockArgument parameter;
  mlir::Value gradient;
  int64_t stage;
  bool crossesStages; ///< stages sum its gradient
  /// The splits by tp and ep, of different dimensions.
  llvm::SmallVector<MemberSplit, 2> splits;
  int64_t parts = 1; ///< by all splits
  int64_t start = 0; ///< of the member in a row of its bucket

  mlir::RankedTensorType getType() const {
    return mlir::cast<mlir::RankedTensorType>(parameter.getType());
  }
  llvm::StringRef getName() const;
  /// Elements of one part.
  int64_t getSize() const { return getType().getNumElements() / parts; }
};

/// Members of one stage and element type, whose updates are the same op.
struct ParameterBucket {
  llvm::SmallVector<BucketMember>
      members;       ///< in the order in which gradients are complete
  int64_t size = 0;  ///< elements of one part, without padding at the end
  std::string group; ///< parameters of a group are gathered together
  int64_t limit = 0; ///< limit of its bytes, unless it has a single member

  /// The type of all members as one tensor, [parts, elements], padded to a
  /// multiple.
  mlir::RankedTensorType getType(int64_t multiple) const;
};

struct BucketLimits {
  int64_t bytes; ///< limit of a bucket; a larger parameter is alone
  /// The parameters that share a bucket: all if empty, those of one layer if
  /// "layer", else those with the same prefix that matches this pattern.
  llvm::StringRef group;
  int64_t align = 1; ///< divisor of the members' starts
};

/// Forms buckets of all parameters that have a gradient. `tp` and `ep` are the
/// numbers of ranks that share split parameters. Fails with a diagnostic if the
/// pattern matches nothing.
mlir::FailureOr<std::vector<ParameterBucket>>
collectBuckets(mlir::func::FuncOp step, int64_t tp, int64_t ep,
               const BucketLimits &limits);

/// Flattens a tensor of a member's shape to [parts, elements of a part], where
/// a part is the shard of a rank by the member's splits.
mlir::Value flattenMember(mlir::OpBuilder &builder, const BucketMember &member,
                          mlir::Value value);

/// The inverse of `flattenMember`, in the element type of `flat`.
mlir::Value restoreMember(mlir::OpBuilder &builder, const BucketMember &member,
                          mlir::Value flat);

/// The attribute `dtc.members` of a bucket.
mlir::ArrayAttr describeMembers(mlir::func::FuncOp step,
                                const ParameterBucket &bucket);

/// A value for each member, of the member's type, as one tensor of this type,
/// with zeros as padding.
mlir::Value
joinMembers(mlir::OpBuilder &builder, const ParameterBucket &bucket,
            mlir::RankedTensorType type,
            llvm::function_ref<mlir::Value(const BucketMember &)> getValue);

/// The members' gradients as one tensor of this type, with zeros as padding.
mlir::Value joinGradients(mlir::func::FuncOp step,
                          const ParameterBucket &bucket,
                          mlir::RankedTensorType type);

/// The layer of a parameter, by PyTorch's names: the name up to the first
/// number, or without its last component.
llvm::StringRef getLayerName(llvm::StringRef parameter);

} // namespace dtc

#endif // DTC_LIB_TRAINING_PARAMETERBUCKETS_H
