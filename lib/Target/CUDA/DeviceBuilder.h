//===- DeviceBuilder.h - code of a thread -----------------------*- C++ -*-===//
//
// Index arithmetic, and cooperation of the threads of a block.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TARGET_CUDA_DEVICEBUILDER_H
#define DTC_LIB_TARGET_CUDA_DEVICEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace dtc {

struct DeviceBuilder {
  mlir::Location loc;
  mlir::gpu::GPUFuncOp function;

  mlir::Value index(mlir::OpBuilder &b, int64_t value) const {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) const {
    return b.createOrFold<mlir::arith::AddIOp>(loc, x, y);
  }
  mlir::Value add(mlir::OpBuilder &b, mlir::Value x, int64_t y) const {
    return y == 0 ? x : add(b, x, index(b, y));
  }
  mlir::Value multiply(mlir::OpBuilder &b, mlir::Value x, int64_t y) const {
    return y == 1 ? x
                  : b.createOrFold<mlir::arith::MulIOp>(loc, x, index(b, y));
  }
  mlir::Value divide(mlir::OpBuilder &b, mlir::Value x, int64_t y) const {
    return y == 1 ? x
                  : b.createOrFold<mlir::arith::DivUIOp>(loc, x, index(b, y));
  }
  mlir::Value remainder(mlir::OpBuilder &b, mlir::Value x, int64_t y) const {
    return y == 1 ? index(b, 0)
                  : b.createOrFold<mlir::arith::RemUIOp>(loc, x, index(b, y));
  }
  /// x < y, for non-negative numbers.
  mlir::Value isLess(mlir::OpBuilder &b, mlir::Value x, int64_t y) const {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::ult,
                                       x, index(b, y));
  }
  mlir::Value isZero(mlir::OpBuilder &b, mlir::Value x) const {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq,
                                       x, index(b, 0));
  }
  /// Whether both conditions hold. A null condition always holds.
  mlir::Value both(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) const {
    if (!x || !y)
      return x ? x : y;
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  /// x if the condition holds, else 0.
  mlir::Value orZero(mlir::OpBuilder &b, mlir::Value condition,
                     mlir::Value x) const {
    if (!condition)
      return x;
    return mlir::arith::SelectOp::create(b, loc, condition, x, index(b, 0));
  }
  mlir::Value select(mlir::OpBuilder &b, mlir::Value condition, mlir::Value x,
                     mlir::Value y) const {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value compare(mlir::OpBuilder &b, mlir::arith::CmpIPredicate predicate,
                      mlir::Value x, mlir::Value y) const {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  /// Loads an integer from a buffer, as an index.
  mlir::Value loadIndex(mlir::OpBuilder &b, mlir::Value memref,
                        mlir::Value at) const;
  void storeIndex(mlir::OpBuilder &b, mlir::Value x, mlir::Value memref,
                  mlir::Value at) const;
  /// Runs the body with the thread's number in the grid, if that is less than
  /// the number of items.
  void
  forItem(mlir::OpBuilder &b, int64_t threads, int64_t items,
          llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body) const;
  /// Runs the body if the condition holds.
  void onlyIf(mlir::OpBuilder &b, mlir::Value condition,
              llvm::function_ref<void(mlir::OpBuilder &)> body) const;

  mlir::Value threadId(mlir::OpBuilder &b) const {
    return mlir::gpu::ThreadIdOp::create(b, loc, mlir::gpu::Dimension::x);
  }
  mlir::Value blockId(mlir::OpBuilder &b) const {
    return mlir::gpu::BlockIdOp::create(b, loc, mlir::gpu::Dimension::x);
  }
  void barrier(mlir::OpBuilder &b) const {
    mlir::gpu::BarrierOp::create(b, loc);
  }
  /// Reserves shared memory of the block.
  mlir::Value addShared(mlir::Type element, int64_t size) const;
  /// The value of the lane whose number differs in the bits of `mask`.
  mlir::Value shuffle(mlir::OpBuilder &b, mlir::Value x, int64_t mask) const;
  /// Combines the values of a team's threads. All threads get the same bits. A
  /// team is a power of two up to a warp, or the whole block. All threads of
  /// the block must call it. Several values are exchanged at once.
  void combineTeam(mlir::OpBuilder &b, int64_t team,
                   llvm::ArrayRef<mlir::Operation *> combiners,
                   llvm::MutableArrayRef<mlir::Value> values) const;
};

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_DEVICEBUILDER_H
