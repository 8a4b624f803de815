//===- NestDivision.h - division of a nest among threads --------*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CPU_NESTDIVISION_H
#define DTC_LIB_TARGET_CPU_NESTDIVISION_H

#include "dtc/Lowering/RowLoops/Plan.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// Attribute of a loop that threads may share, and of the function that runs a
/// range of its iterations: the cost of the whole loop, in the units of the
/// runtime's `Threads`.
constexpr llvm::StringLiteral workAttrName = "dtc.work";

/// A division of a nest into parts, which threads compute. The parts follow
/// from the nest alone, and their results are combined in a fixed order, so
/// that results do not depend on the number of threads.
struct NestDivision {
  enum Kind {
    None,   ///< too little work, or dependent iterations
    Rows,   ///< each part has a range of a row loop
    Columns ///< each part has a range of column vectors, of all rows
  };
  Kind kind = None;
  unsigned rowLoop = 0; ///< for Rows
  int64_t parts = 1;
  bool hasOwnMemory = false; ///< parts have sums and temporaries of their own
  int64_t work = 0;          ///< cost of the whole nest (workAttrName)

  /// Chooses a division. A nest that costs less than `leastWork` is not
  /// divided.
  static NestDivision choose(const Nest &nest, int64_t lanes,
                             int64_t leastWork);
  /// Divides a loop over `count` independent elements.
  static NestDivision ofElements(int64_t count, int64_t lanes,
                                 int64_t leastWork);
};

/// A constant index.
mlir::Value getIndex(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t value);

/// Emits a loop over parts of `count` times `unit`, which are independent of
/// each other. The body gets the begin and end of a part.
void createParts(mlir::OpBuilder &builder, mlir::Location loc, int64_t parts,
                 int64_t work, int64_t count, int64_t unit,
                 llvm::function_ref<void(mlir::OpBuilder &, mlir::Value part,
                                         mlir::Value begin, mlir::Value end)>
                     body);

} // namespace dtc

#endif // DTC_LIB_TARGET_CPU_NESTDIVISION_H
