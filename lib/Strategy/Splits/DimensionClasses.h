//===- DimensionClasses.h - dimensions that are split together --*- C++ -*-===//
//
// The ops' sharding rules say which dimensions of operands and results are one
// factor. Their transitive closure are the classes of dimensions that an axis
// splits together: the heads of an attention, the inner width of an MLP.
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
  /// Some op needs such a dimension whole, or it is one of the data.
  bool isWhole = false;
  /// The first such op; null if it is one of the data.
  mlir::Operation *wholeFor = nullptr;
  /// Some dimension is made of several factors, of which this is the major.
  bool isGrouped = false;
  /// Where the split ends: operands of ops that sum over it, each a reduction,
  /// and whether some op expands where it is split.
  int64_t sums = 0;
  bool expands = false;

  /// A vocabulary can be any number: it is padded.
  bool canBePadded() const { return expands && sums == 0; }
};

class DimensionClasses {
public:
  /// Reads the sharding rules of all ops of the function.
  explicit DimensionClasses(mlir::func::FuncOp function);

  /// The class of a dimension.
  unsigned getClass(mlir::Value value, int64_t dim);
  const DimensionClass &operator[](unsigned number) { return classes[number]; }
  /// The classes of an op's factors: an axis can split one only.
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
  llvm::SmallVector<DimensionClass> classes; ///< by node; of the representative
  llvm::SmallVector<Rivals> rivals;
};

} // namespace dtc

#endif // DTC_LIB_STRATEGY_SPLITS_DIMENSIONCLASSES_H
