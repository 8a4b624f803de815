//===- RecomputePolicy.h - what of a forward pass is kept -------*- C++ -*-===//
//
// The forward pass of a stage as a sequence of units, and the choice, by the
// policy that the user named, of the values that wait for the backward pass.
//
// An activation is a value that depends on parameters and on inputs. A cut is
// an activation that, where it is made, is the only one that later ops of the
// stage read. The first cut after each matrix product, but for those after the
// last product, ends a unit. In a transformer the cuts are the sums of the
// residual stream, the units attentions and MLPs.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_SCHEDULE_RECOMPUTE_RECOMPUTEPOLICY_H
#define DTC_LIB_SCHEDULE_RECOMPUTE_RECOMPUTEPOLICY_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"

namespace dtc {

/// The forward pass of one stage.
struct ForwardPass {
  mlir::func::FuncOp function;
  mlir::Block &getBody() const { return function->getRegion(0).front(); }
  /// Arguments that depend on inputs, on parameters or states.
  llvm::DenseSet<mlir::Value> fromInputs, fromParameters;
  /// Arguments that each function of the backward pass reads, too.
  llvm::DenseSet<mlir::Value> readAgain;
  /// Arguments that some function of the backward pass reads, too.
  llvm::DenseSet<mlir::Value> readLater;
  /// Results that the backward pass reads.
  llvm::DenseSet<mlir::Value> saved;
  /// Those of them that only kernels read there, which can make them, too.
  llvm::DenseSet<mlir::Value> readByKernels;
  /// Results that something else reads, too: they are there anyway.
  llvm::DenseSet<mlir::Value> sent;
};

class RecomputePolicy {
public:
  /// none, all, except-last, every:N, selective or a pattern of node names.
  /// Fails with a diagnostic on `op` if it is none of these.
  static mlir::FailureOr<RecomputePolicy> parse(llvm::StringRef text,
                                                mlir::Operation *op);

  /// The values that are kept, if they are needed. All else is computed again.
  llvm::DenseSet<mlir::Value> chooseKept(const ForwardPass &forward) const;

  bool isPattern() const { return kind == Kind::Pattern; }
  /// Whether the pattern matches a node of a forward pass.
  bool matchesNode(mlir::func::FuncOp forward) const;

private:
  enum class Kind { None, All, ExceptLast, Every, Selective, Pattern };

  llvm::DenseSet<mlir::Value> keepSmallest(const ForwardPass &forward) const;
  llvm::DenseSet<mlir::Value> keepUnits(const ForwardPass &forward) const;
  bool matches(mlir::Operation *op) const;

  Kind kind = Kind::None;
  int64_t distance = 1; ///< units from one kept cut to the next
  std::optional<llvm::GlobPattern> pattern;
};

/// The values that end a unit, in order.
llvm::SmallVector<mlir::Value> findCuts(const ForwardPass &forward);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_RECOMPUTE_RECOMPUTEPOLICY_H
