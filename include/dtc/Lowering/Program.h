//===- Program.h - the exported program object ------------------*- C++ -*-===//
//
// What a lowered module needs besides code: the manifest that tells the
// runtime about inputs, parameters and offsets, and the weights.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_PROGRAM_H
#define DTC_LOWERING_PROGRAM_H

#include "dtc/Training/InitialValues.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace dtc {

/// Module attribute that LowerPlan writes: the manifest's part that follows
/// from the plans, as JSON text.
constexpr llvm::StringLiteral manifestAttrName = "dtc.manifest";

/// What the manifest needs from outside the IR.
struct ProgramInfo {
  std::string model;             ///< its name
  std::string dtype;             ///< f32 or f64
  std::string loss;              ///< cross-entropy, bce, mse or output
  int64_t globalBatch = 0;       ///< samples in a step
  bool replicasAtLaunch = false; ///< whether dp is the ranks' to say
  bool skipsNonFinite = false;   ///< whether updates skip NaN gradients
  double peakFlops = 0;          ///< of a rank's device, a second; 0: not known
  llvm::json::Object optimizer;  ///< name and hyper-parameters
  Initializers initializers;     ///< of all parameters
  /// By a parameter's name: other names that it is saved under.
  llvm::StringMap<std::vector<std::string>> aliases;
  /// Tensors of the weights file that are saved as they are.
  llvm::json::Array buffers;
  std::string weightsFile; ///< external weights; else empty
};

/// Completes the manifest and adds the globals `dtc_program_v1` refers to.
mlir::LogicalResult addProgramObject(mlir::ModuleOp module,
                                     const ProgramInfo &info);

} // namespace dtc

#endif // DTC_LOWERING_PROGRAM_H
