//===- ShardingRule.h - einsum-like sharding rules --------------*- C++ -*-===//
//
// A sharding rule names the dimensions of an op's operands and results as
// factors. If several tensors have the same factor, these dimensions are split
// together.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_SHARDINGRULE_H
#define DTC_DIALECT_SHARDINGRULE_H

#include "dtc/Dialect/Layout.h"

namespace dtc {

enum class FactorKind {
  Parallel,   ///< each index is computed independently
  Sum,        ///< summed: a split factor leaves results without it
              ///< partial(sum)
  Max,        ///< a split factor leaves results partial(max)
  Replicated, ///< must not be split
};

struct Factor {
  int64_t size;
  FactorKind kind;
};

/// The factors of one dimension, major to minor. A broadcast dimension of size
/// 1 has none.
using DimFactors = llvm::SmallVector<unsigned, 1>;
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

/// The operands in which the op is linear; see ShardingRule::linear.
enum class Linearity { None, Jointly, Each, First, Rest };

struct ShardingRule {
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands, results;
  /// Sets of operands. On each axis the operands that are partial(sum) must be
  /// one of these sets. Then the results are also partial.
  llvm::SmallVector<llvm::SmallVector<unsigned>> linear;

  unsigned addFactor(int64_t size, FactorKind kind = FactorKind::Parallel);
  void setLinear(Linearity linearity);
};

/// A mesh axis that splits a factor, or splits each of `pieces` equal pieces of
/// the factor's remainder after the axes before.
struct FactorAxis {
  mlir::StringAttr axis;
  int64_t pieces;

  bool operator==(const FactorAxis &other) const {
    return axis == other.axis && pieces == other.pieces;
  }
};

/// The mesh axes that split each factor, major to minor.
using FactorAxes = llvm::SmallVector<llvm::SmallVector<FactorAxis, 1>>;

/// Adds the axes of one tensor's layout to the factors. A factor that already
/// has axes keeps them. Returns false if an axis, or its pieces, does not
/// divide the factors of a dimension.
bool readFactorAxes(const ShardingRule &rule, const TensorFactors &tensor,
                    LayoutAttr layout, FactorAxes &axes);

/// The split entries of a tensor, given the axes of factors. Returns none if an
/// axis outside the batch would split a dimension in pieces: it would split a
/// minor factor while a major one is not fully split.
std::optional<llvm::SmallVector<AxisLayout>>
writeFactorAxes(const ShardingRule &rule, const TensorFactors &tensor,
                MeshAttr mesh, const FactorAxes &axes);

/// Infers result layouts from operand layouts. On failure, `error` describes
/// the conflict for a diagnostic. A factor that no operand has (a broadcast
/// dimension) is split as in `results`, if given: every rank can broadcast any
/// part locally.
///
/// Axes of size 1 are unconstrained. If an operand depends on the position on
/// such an axis, so does a result: it has the layout of `results`, or else the
/// layout of the rule if that holds, or else `each`.
llvm::FailureOr<llvm::SmallVector<LayoutAttr>>
inferResultLayouts(const ShardingRule &rule, MeshAttr mesh,
                   llvm::ArrayRef<LayoutAttr> operands, std::string &error,
                   llvm::ArrayRef<LayoutAttr> results = {});

/// Like inferResultLayouts, but the rule must hold on all axes of any size.
llvm::FailureOr<llvm::SmallVector<LayoutAttr>>
inferExactly(const ShardingRule &rule, MeshAttr mesh,
             llvm::ArrayRef<LayoutAttr> operands, std::string &error,
             llvm::ArrayRef<LayoutAttr> results = {});

//===----------------------------------------------------------------------===//
// Rules of op families
//===----------------------------------------------------------------------===//

/// One factor for each dimension of the result, by NumPy broadcasting.
ShardingRule elementwiseRule(mlir::Operation *op, Linearity linearity);

/// A rule that is elementwise, except that the last dimension must be
/// replicated.
ShardingRule rowwiseRule(mlir::Operation *op);

} // namespace dtc

#endif // DTC_DIALECT_SHARDINGRULE_H
