//===- NestDivision.h - how threads share a nest ----------------*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CPU_NESTDIVISION_H
#define DTC_LIB_TARGET_CPU_NESTDIVISION_H

#include "dtc/Lowering/RowLoops/Plan.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// Of a loop whose iterations threads may share, and of the function that runs
/// some of them: what all are worth, in the units of the runtime's `Threads`.
constexpr llvm::StringLiteral workAttrName = "dtc.work";

/// Threads compute parts of a nest. What the parts are follows from the nest
/// alone, and what they share is combined in their order, so that results do
/// not depend on the number of threads.
struct NestDivision {
  enum Kind {
    None,   ///< too little work, or iterations that depend on each other
    Rows,   ///< a part has some iterations of a row loop
    Columns ///< a part has some vectors of the columns, of all rows
  };
  Kind kind = None;
  unsigned rowLoop = 0; ///< of Rows
  int64_t parts = 1;
  bool hasOwnMemory = false; ///< parts have sums and temporaries of their own
  int64_t work = 0;          ///< of the whole nest (workAttrName)

  /// Nests of less than `leastWork` are not divided.
  static NestDivision choose(const Nest &nest, int64_t lanes,
                             int64_t leastWork);
  /// Of a loop over so many elements side by side.
  static NestDivision ofElements(int64_t count, int64_t lanes,
                                 int64_t leastWork);
};

/// A constant index.
mlir::Value getIndex(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t value);

/// A loop over parts of `count` times `unit`, which are independent of each
/// other. The body gets where a part begins and ends.
void createParts(mlir::OpBuilder &builder, mlir::Location loc, int64_t parts,
                 int64_t work, int64_t count, int64_t unit,
                 llvm::function_ref<void(mlir::OpBuilder &, mlir::Value part,
                                         mlir::Value begin, mlir::Value end)>
                     body);

} // namespace dtc

#endif // DTC_LIB_TARGET_CPU_NESTDIVISION_H
