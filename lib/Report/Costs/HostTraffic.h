//===- HostTraffic.h - what crosses the link to the host --------*- C++ -*-===//
//
// With --offload a plan keeps arguments in the host's memory.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_COSTS_HOSTTRAFFIC_H
#define DTC_LIB_REPORT_COSTS_HOSTTRAFFIC_H

#include "dtc/Plan/Aliases.h"

namespace dtc {

/// What a plan and its functions move between a device and the host's memory,
/// where they keep arguments.
class HostTraffic {
public:
  explicit HostTraffic(mlir::func::FuncOp plan);

  struct Bytes {
    int64_t read = 0, written = 0;
    /// The link goes both ways at once; `bandwidth` is that of one.
    double getSeconds(double bandwidth) const {
      int64_t bytes = std::max(read, written);
      return bytes ? bytes / bandwidth : 0;
    }
  };
  /// Of an op of these functions, whose values have these classes.
  Bytes get(mlir::Operation *op, const AliasClasses &classes) const;
  /// Of all that a function runs.
  Bytes count(mlir::func::FuncOp function);

private:
  llvm::DenseSet<mlir::Value> arguments;            ///< that are there
  llvm::DenseMap<mlir::Operation *, Bytes> callees; ///< that were counted
};

} // namespace dtc

#endif // DTC_LIB_REPORT_COSTS_HOSTTRAFFIC_H
