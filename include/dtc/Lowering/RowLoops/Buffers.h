//===- Buffers.h - a kernel's tensors in memory -----------------*- C++ -*-===//
//
// Flat, row-major buffers, and the indices of elements in them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_ROWLOOPS_BUFFERS_H
#define DTC_LOWERING_ROWLOOPS_BUFFERS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace dtc {

struct Statement;

/// The flat index of an element in a row-major buffer: coefficients[i] * loop
/// i, summed, plus a constant.
struct FlatIndex {
  llvm::SmallVector<int64_t> coefficients;
  int64_t constant = 0;

  static FlatIndex get(mlir::AffineMap position, llvm::ArrayRef<int64_t> shape);
};

/// The element type of a tensor's buffer: booleans are bytes.
mlir::Type getMemoryType(mlir::RankedTensorType type);

/// The buffers that a function's body uses.
struct KernelBuffers {
  /// The flat memref of a tensor: argument, result or temporary.
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  /// For each result without a tensor of its own: the memref of the copy.
  llvm::DenseMap<Statement *, mlir::Value> copies;
  /// The alignment of memrefs in bytes, if vectors are loaded and stored whole.
  llvm::DenseMap<mlir::Value, int64_t> alignments;
};

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_BUFFERS_H
