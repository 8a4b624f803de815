//===- ShardingRule.h - einsum-like rules of distribution -------*- C++ -*-===//
//
// A sharding rule names the dimensions of an op's operands and results as
// factors. The same factor in several tensors means that these dimensions are
// split together.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_SHARDINGRULE_H
#define DTC_DIALECT_SHARDINGRULE_H

#include "dtc/Dialect/Layout.h"

namespace dtc {

enum class FactorKind {
  Parallel,   ///< each index is computed alone
  Sum,        ///< summed: a split factor leaves results without it
              ///< partial(sum)
  Max,        ///< a split factor leaves results partial(max)
  Replicated, ///< must not be split
};

struct Factor {
  int64_t size;
  FactorKind kind;
};

/// Factors of one dimension, major to minor; none for a dimension of size 1
/// that is broadcast.
using DimFactors = llvm::SmallVector<unsigned, 1>;
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

/// Operands that the op is linear in; see ShardingRule::linear.
enum class Linearity { None, Jointly, Each, First, Rest };

struct ShardingRule {
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands, results;
  /// Sets of operands. On each axis the operands that are partial(sum) must
  /// form one of these sets; the results are then partial too.
  llvm::SmallVector<llvm::SmallVector<unsigned>> linear;

  unsigned addFactor(int64_t size, FactorKind kind = FactorKind::Parallel);
  void setLinear(Linearity linearity);
};

/// A mesh axis that splits a factor, or each of `pieces` equal pieces of what
/// is left of it by the axes before.
struct FactorAxis {
  mlir::StringAttr axis;
  int64_t pieces;

  bool operator==(const FactorAxis &other) const {
    return axis == other.axis && pieces == other.pieces;
  }
};

/// The mesh axes that split each factor, major to minor.
using FactorAxes = llvm::SmallVector<llvm::SmallVector<FactorAxis, 1>>;

/// Adds what one tensor's layout says about the factors. A factor that already
/// has axes keeps them. Returns false if the layout of some dimension cannot be
/// expressed: an axis, or its pieces, do not divide the factors.
bool readFactorAxes(const ShardingRule &rule, const TensorFactors &tensor,
                    LayoutAttr layout, FactorAxes &axes);

/// The split entries of a tensor under given axes of factors; none if an axis
/// that is not of the batch would split a dimension in pieces: a minor factor,
/// while a major one is not wholly split.
std::optional<llvm::SmallVector<AxisLayout>>
writeFactorAxes(const ShardingRule &rule, const TensorFactors &tensor,
                MeshAttr mesh, const FactorAxes &axes);

/// Result layouts from operand layouts. On failure, `error` says what does not
/// fit, in words for a diagnostic. A factor that no operand has (a dimension
/// that is repeated) is split as `results` say, where they are given: any part
/// of a repetition can be made locally.
///
/// Axes of size 1 constrain nothing. A result depends on the position on such
/// an axis if an operand does: then it lies as `results` say, or as the rule
/// does where it holds, or else is `each`.
llvm::FailureOr<llvm::SmallVector<LayoutAttr>>
inferResultLayouts(const ShardingRule &rule, MeshAttr mesh,
                   llvm::ArrayRef<LayoutAttr> operands, std::string &error,
                   llvm::ArrayRef<LayoutAttr> results = {});

/// The same if the rule holds on all axes, whatever their size.
llvm::FailureOr<llvm::SmallVector<LayoutAttr>>
inferExactly(const ShardingRule &rule, MeshAttr mesh,
             llvm::ArrayRef<LayoutAttr> operands, std::string &error,
             llvm::ArrayRef<LayoutAttr> results = {});

//===----------------------------------------------------------------------===//
// Rules of op families
//===----------------------------------------------------------------------===//

/// One factor for each dimension of the result, by NumPy broadcasting.
ShardingRule elementwiseRule(mlir::Operation *op, Linearity linearity);

/// Elementwise in all dimensions but the last, which needs replication.
ShardingRule rowwiseRule(mlir::Operation *op);

} // namespace dtc

#endif // DTC_DIALECT_SHARDINGRULE_H
