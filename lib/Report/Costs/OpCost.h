//===- OpCost.h - cost of one op on a rank ----------------------*- C++ -*-===//
//
// Arithmetic and memory traffic of the ops that plans run.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_COSTS_OPCOST_H
#define DTC_LIB_REPORT_COSTS_OPCOST_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Report/Topology.h"
#include <map>
#include <string>

namespace dtc {

/// FLOPs of one rank in an op or a function, including kernels.
int64_t getFlops(mlir::Operation *root);

/// The cost of one execution of an op on a rank, without communication.
struct OpCost {
  enum Kind {
    Nothing, ///< a view, communication, or part of another op
    Kernel,
    Library, ///< a call of the runtime's libraries
    Copy,    ///< bytes that are copied or set
  };
  Kind kind = Nothing;
  int64_t flops = 0;
  /// Bytes moved: each distinct operand is read once and each result written
  /// once. A lookup reads only the selected rows of its table.
  int64_t bytes = 0;
  mlir::Type element; ///< of a library call's operands
  int64_t calls = 1;  ///< number of library calls

  /// Seconds on a device: the larger of the arithmetic and the memory time.
  double getSeconds(const DeviceSpeed &speed, bool usesTf32) const;
};

/// Costs of ops. Caches those of kernels and of functions' returns, which run
/// often.
class OpCosts {
public:
  OpCost get(mlir::Operation *op);

private:
  llvm::DenseMap<mlir::Operation *, OpCost> known;
};

/// The number format of products of an element type, such as "bf16".
std::string getNumbers(mlir::Type element);

/// The number of workers' tensors that a type stands for: the size of its axes
/// that are `each`, without the position of a server.
int64_t countCopies(mlir::Type type, bool hasServer);

/// FLOPs of a model in a step over all ranks, by number format of the products,
/// such as "bf16". The usual count (Chowdhery et al., arXiv 2204.02311): three
/// times the products of the forward pass.
std::map<std::string, double>
countModelFlops(llvm::ArrayRef<mlir::ModuleOp> stages);

} // namespace dtc

#endif // DTC_LIB_REPORT_COSTS_OPCOST_H
