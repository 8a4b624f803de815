//===- ReportCounts.h - what the files of the report share ------*- C++ -*-===//
//
// What single ops of plans and their functions cost one rank.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_REPORTCOUNTS_H
#define DTC_LIB_REPORT_REPORTCOUNTS_H

#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Report/Report.h"

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

/// The name of what products of an element type are computed in: "bf16".
std::string getNumbers(mlir::Type element);

/// FLOPs that a model asks of all ranks in a step, as the field counts them
/// (Chowdhery et al., arXiv 2204.02311): three times those of the products of
/// the forward pass. By what the products are computed in: "bf16".
std::map<std::string, double>
countModelFlops(llvm::ArrayRef<mlir::ModuleOp> stages);

/// The task that an op of a plan is, if it runs one.
std::optional<Task> getTask(mlir::Operation *op);

/// Fills `report.expected`, when all else of the report is known and there is a
/// topology with its devices' speed, and with that of the link to the host if
/// plans use it. Unless times are measured, the timeline becomes that of the
/// first of these steps. Fails with a diagnostic if plans wait for each other.
mlir::LogicalResult addExpectedTimes(llvm::ArrayRef<mlir::ModuleOp> stages,
                                     const Topology &topology, Report &report);

/// Adds `times` times the message or collective that an op is, if any.
void addTraffic(mlir::Operation &op, int64_t times, StageReport &report);

/// Fills `report.timeline.communication`, when all else of the report is known.
/// `topology` may be null.
void addCommunication(llvm::ArrayRef<mlir::ModuleOp> stages,
                      const Topology *topology, Report &report);

} // namespace dtc

#endif // DTC_LIB_REPORT_REPORTCOUNTS_H
