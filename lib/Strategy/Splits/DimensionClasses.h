//===- DimensionClasses.h - dimensions that are split together --*- C++ -*-===//
//
// The ops' sharding rules assign dimensions of operands and results to factors.
// The transitive closure of sharing a factor forms the classes of dimensions
// that an axis splits together: the heads of an attention, the inner width of
// an MLP.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_STRATEGY_SPLITS_DIMENSIONCLASSES_H
#define DTC_LIB_STRATEGY_SPLITS_DIMENSIONCLASSES_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

struct DimensionClass {
  /// Sizes of the factors: an axis must divide all of them.
  llvm::SmallVector<int64_t> sizes;
  /// Whether some op needs a dimension of the class whole, or the data have it.
  bool isWhole = false;
  /// The first op that needs it whole; null if the data have it.
  mlir::Operation *wholeFor = nullptr;
  /// Whether some dimension has several factors, with this one as the major.
  bool isGrouped = false;
  /// The end of the split: the number of operands of ops that sum over it, each
  /// one a reduction, and whether some op expands where it is split.
  int64_t sums = 0;
  bool expands = false;

  /// A vocabulary can have any size, because it is padded.
  bool canBePadded() const { return expands && sums == 0; }
};

class DimensionClasses {
public:
  /// Reads the sharding rules of all ops of the function.
  explicit DimensionClasses(mlir::func::FuncOp function);

  /// The class of a dimension.
  unsigned getClass(mlir::Value value, int64_t dim);
  const DimensionClass &operator[](unsigned number) { return classes[number]; }
  /// The classes of an op's factors. An axis can split only one of them.
  struct Rivals {
    mlir::Operation *op;
    llvm::SmallVector<unsigned> classes;
  };
  llvm::ArrayRef<Rivals> getRivals() const { return rivals; }

private:
  unsigned find(unsigned node);
  unsigned getNode(mlir::Value value, int64_t dim);
  void merge(unsigned a, unsigned b);
  void setWhole(unsigned node, mlir::Operation *op);
  void addOp(mlir::Operation *op);

  llvm::DenseMap<std::pair<mlir::Value, int64_t>, unsigned> nodes;
  llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<DimensionClass> classes; ///< by representative node
  llvm::SmallVector<Rivals> rivals;
};

} // namespace dtc

#endif // DTC_LIB_STRATEGY_SPLITS_DIMENSIONCLASSES_H
