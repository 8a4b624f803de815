//===- Program.h - the exported program object ------------------*- C++ -*-===//
//
// A lowered module also needs the weights and the manifest, which tells the
// runtime about inputs, parameters and offsets.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_PROGRAM_H
#define DTC_LOWERING_PROGRAM_H

#include "dtc/Training/InitialValues.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace dtc {

/// Module attribute that LowerPlan writes: the part of the manifest that
/// follows from the plans, as JSON text.
constexpr llvm::StringLiteral manifestAttrName = "dtc.manifest";

/// The programs between steps that the attribute lists, in its order. Fails
/// with a diagnostic if the attribute is absent or no JSON.
mlir::FailureOr<llvm::SmallVector<std::string>>
listPrograms(mlir::ModuleOp module);

/// The facts that the manifest needs from outside the IR.
struct ProgramInfo {
  std::string model;             ///< of the model
  std::string dtype;             ///< f32 or f64
  std::string loss;              ///< cross-entropy, bce, mse or output
  int64_t globalBatch = 0;       ///< samples in a step
  bool replicasAtLaunch = false; ///< whether the launch sets dp
  /// Rules of a server that updates the parameters (--sync async).
  struct Server {
    int64_t ahead;        ///< steps that a worker may be ahead of the slowest
    bool rateByStaleness; ///< the learning rate
  };
  std::optional<Server> server;
  bool skipsNonFinite = false;  ///< whether updates skip NaN gradients
  double peakFlops = 0;         ///< FLOP/s of a rank's device; 0 if unknown
  llvm::json::Object optimizer; ///< name and hyper-parameters
  Initializers initializers;    ///< of all parameters
  /// Other names that a parameter is saved under, by its name.
  llvm::StringMap<std::vector<std::string>> aliases;
  /// Tensors of the weights file that a saved model copies unchanged.
  llvm::json::Array buffers;
  std::string weightsFile; ///< external weights; empty if there are none
};

/// Completes the manifest and adds the globals that `dtc_program_v1` refers to.
/// Fails with a diagnostic if a part of the manifest is missing.
mlir::LogicalResult addProgramObject(mlir::ModuleOp module,
                                     const ProgramInfo &info);

} // namespace dtc

#endif // DTC_LOWERING_PROGRAM_H
