//===- HostTraffic.h - traffic on the link to the host ----------*- C++ -*-===//
//
// With --offload a plan keeps arguments in host memory.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_COSTS_HOSTTRAFFIC_H
#define DTC_LIB_REPORT_COSTS_HOSTTRAFFIC_H

#include "dtc/Plan/Aliases.h"

namespace dtc {

/// The bytes that a plan and its functions move between a device and host
/// memory, for arguments that lie there.
class HostTraffic {
public:
  explicit HostTraffic(mlir::func::FuncOp plan);

  struct Bytes {
    int64_t read = 0, written = 0;
    /// Seconds on a full-duplex link; `bandwidth` is that of one direction.
    double getSeconds(double bandwidth) const {
      int64_t bytes = std::max(read, written);
      return bytes ? bytes / bandwidth : 0;
    }
  };
  /// Bytes of one op in these functions. `classes` are the aliases of its
  /// function.
  Bytes get(mlir::Operation *op, const AliasClasses &classes) const;
  /// Bytes of all ops that a function runs.
  Bytes count(mlir::func::FuncOp function);

private:
  llvm::DenseSet<mlir::Value> arguments; ///< arguments in host memory
  llvm::DenseMap<mlir::Operation *, Bytes> callees; ///< already counted
};

} // namespace dtc

#endif // DTC_LIB_REPORT_COSTS_HOSTTRAFFIC_H
