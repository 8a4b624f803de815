//===- RecomputePolicy.h - choose values to keep ----------------*- C++ -*-===//
//
// Divides the forward pass of a stage into a sequence of units. The user's
// policy chooses the values that are kept for the backward pass.
//
// An activation is a value that depends on parameters and on inputs. A cut is
// an activation that, at its definition, is the only one that later ops of the
// stage read. The first cut after each matrix product, except after the last
// one, ends a unit. In a transformer the cuts are the sums of the residual
// stream, and the units are attentions and MLPs.
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
  /// Arguments that depend on inputs; on parameters or states.
  llvm::DenseSet<mlir::Value> fromInputs, fromParameters;
  /// Arguments that each function of the backward pass reads, too.
  llvm::DenseSet<mlir::Value> readAgain;
  /// Arguments that some function of the backward pass reads, too.
  llvm::DenseSet<mlir::Value> readLater;
  /// Results that the backward pass reads.
  llvm::DenseSet<mlir::Value> saved;
  /// Saved results that only kernels read there, which can compute them, too.
  llvm::DenseSet<mlir::Value> readByKernels;
  /// Results that other functions read, too, so they are kept anyway.
  llvm::DenseSet<mlir::Value> sent;
};

class RecomputePolicy {
public:
  /// Parses none, all, except-last, every:N, selective or a pattern of node
  /// names. Fails with a diagnostic on `op` for any other text.
  static mlir::FailureOr<RecomputePolicy> parse(llvm::StringRef text,
                                                mlir::Operation *op);

  /// Returns the values to keep, if they are needed. All others are recomputed.
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
  int64_t distance = 1; ///< in units, between kept cuts
  std::optional<llvm::GlobPattern> pattern;
};

/// The values that end a unit, in order.
llvm::SmallVector<mlir::Value> findCuts(const ForwardPass &forward);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_RECOMPUTE_RECOMPUTEPOLICY_H
