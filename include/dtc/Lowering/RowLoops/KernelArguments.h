//===- KernelArguments.h - a kernel's tensors as flat buffers ---*- C++ -*-===//
//
// The signature of a lowered kernel, which all targets share: operands, then
// results that overwrite no operand, then scratch.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_ROWLOOPS_KERNELARGUMENTS_H
#define DTC_LOWERING_ROWLOOPS_KERNELARGUMENTS_H

#include "dtc/Lowering/RowLoops/Buffers.h"
#include "dtc/Lowering/RowLoops/Plan.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// The type of a tensor's buffer.
mlir::MemRefType getFlatType(mlir::Type tensor);

/// The arguments of a block that computes a kernel on buffers.
struct KernelArguments {
  KernelBuffers buffers;
  /// The memref of each result.
  llvm::SmallVector<mlir::Value> results;
  /// The last argument. Its type has one byte until the size is known.
  mlir::BlockArgument scratch;

  /// Adds a memref to the block for each argument of the kernel, for each
  /// result that overwrites none, and for scratch.
  KernelArguments(mlir::func::FuncOp kernel, mlir::Block &block);

  /// Assigns each statement that computes a result the buffer of that result.
  void assignResults(const RowLoopsPlan &plan);
  /// Adds a global for each constant that is not a splat, or that is looked up,
  /// to the symbol table around the builder's position. Equal constants share
  /// one global.
  void addConstants(mlir::OpBuilder &builder, mlir::func::FuncOp kernel);
  /// The part of scratch that begins `offset` bytes from its start.
  mlir::Value viewScratch(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type element, int64_t size,
                          int64_t offset) const;
  mlir::Value viewScratch(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type element, int64_t size,
                          mlir::Value offset) const;
};

/// Offsets in a kernel's scratch buffer.
class ScratchLayout {
public:
  /// Reserves `count` buffers, getStride(element, size) bytes apart. Returns
  /// the offset of the first.
  int64_t add(mlir::Type element, int64_t size, int64_t count = 1);
  static int64_t getStride(mlir::Type element, int64_t size);
  int64_t getBytes() const { return bytes; }

private:
  int64_t bytes = 0;
};

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_KERNELARGUMENTS_H
