//===- OpCost.h - what one op costs a rank ----------------------*- C++ -*-===//
//
// Arithmetic and memory traffic of what plans run.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_COSTS_OPCOST_H
#define DTC_LIB_REPORT_COSTS_OPCOST_H

#include "dtc/Dialect/Dialect.h"
#include "dtc/Report/Topology.h"
#include <map>
#include <string>

namespace dtc {

/// FLOPs of one rank in an op or a function, kernels included.
int64_t getFlops(mlir::Operation *root);

/// What one execution of an op of a plan's function costs a rank, communication
/// left out.
struct OpCost {
  enum Kind {
    Nothing, ///< a view, communication, what another op does
    Kernel,
    Library, ///< a call of the runtime's libraries
    Copy,    ///< bytes that are copied or set
  };
  Kind kind = Nothing;
  int64_t flops = 0;
  /// Each distinct operand read once and each result written once. Of a table
  /// that is only looked up in, as many bytes as rows are read.
  int64_t bytes = 0;
  mlir::Type element; ///< of a library call's operands
  int64_t calls = 1;  ///< that it takes

  /// The larger of the times that arithmetic and memory take.
  double getSeconds(const DeviceSpeed &speed, bool usesTf32) const;
};

/// Costs of ops; those of kernels and of functions' ends, which run often, are
/// kept.
class OpCosts {
public:
  OpCost get(mlir::Operation *op);

private:
  llvm::DenseMap<mlir::Operation *, OpCost> known;
};

/// The name of what products of an element type are computed in: "bf16".
std::string getNumbers(mlir::Type element);

/// FLOPs that a model asks of all ranks in a step, as the field counts them
/// (Chowdhery et al., arXiv 2204.02311): three times those of the products of
/// the forward pass. By what the products are computed in: "bf16".
std::map<std::string, double>
countModelFlops(llvm::ArrayRef<mlir::ModuleOp> stages);

} // namespace dtc

#endif // DTC_LIB_REPORT_COSTS_OPCOST_H
