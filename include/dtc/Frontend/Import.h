//===- Import.h - from an ONNX file to dtc ops ------------------*- C++ -*-===//
//
// The first phase. Reads a model and builds one function on dtc ops with
// static shapes:
//
//   func.func @forward(%x: T {dtc.input = "x"}, ...,
//                      %w: T {dtc.parameter = "fc.weight"}, ...)
//       -> (T {dtc.output = "y"}, ...)
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_IMPORT_H
#define DTC_FRONTEND_IMPORT_H

#include "dtc/Frontend/ParameterTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>

namespace dtc {

/// The ratio of the model's Dropout nodes that a glob matches; of all of them
/// if it is empty.
struct DropoutOverride {
  std::string glob;
  double probability;
};

struct ImportOptions {
  std::string path;
  /// Sizes of dynamic dimensions by name (`--dim NAME=N`).
  std::map<std::string, int64_t> dims;
  /// Size of the batch of every input in which it is dynamic (`--batch N`), and
  /// of all dimensions of the same name.
  std::optional<int64_t> batch;
  /// Which dimension of an input is the batch, by name; of all inputs that have
  /// it, by the empty name (`--batch-dim`). Else the first, or one named so.
  std::map<std::string, int64_t> batchDims;
  /// Leave apart initializers that are equal, perhaps up to transpose.
  bool untie = false;
  /// Whether it was said whose statistics batch norms use (`--batchnorm`).
  bool isBatchNormChosen = false;
  /// Whether it was said which parameters are not trained (`--freeze`).
  bool isFreezeChosen = false;
  /// The graph's output that is wanted (`--loss-of`): what only others need is
  /// left out. Empty, or no output's name: all are.
  std::string output;
  /// Compute in f64: every f32 of the model becomes f64 in the IR, values
  /// widened exactly. The parameter table keeps the f32 bytes.
  bool f64 = false;
  /// Graph inputs and initializers to train, as globs: a model exported without
  /// its weights has its parameters among its inputs.
  std::vector<std::string> parameters;
  /// Pairs of parameters that are one (`--tie A=B`).
  std::vector<std::pair<std::string, std::string>> ties;
  /// Ratios instead of the model's; later ones go before.
  std::vector<DropoutOverride> dropout;
  /// No element is dropped out, neither by Dropout nor by Bernoulli variables.
  bool noDropout = false;
};

/// Something that stands in the way of importing a model.
struct ImportIssue {
  std::string op;   ///< ONNX operator, empty when it is no node's
  std::string node; ///< name of the node, empty when it is no node's
  std::string reason;
  std::string advice;
};

struct ImportReport {
  /// A float initializer that is not trained.
  struct Constant {
    std::string name, shape, reason;
  };

  std::string path;
  /// Everything that is wrong; empty after success.
  std::vector<ImportIssue> issues;
  /// What the user should know: tied tensors, constants made of weights.
  std::vector<std::string> notes;
  /// What nobody has to decide: names that are restored, buffers that are not
  /// trained.
  std::vector<std::string> details;
  /// What changes what is trained.
  std::vector<std::string> warnings;
  std::vector<Constant> constants;
  ParameterTable parameters;

  /// "PATH: error: REASON; ADVICE", or all unsupported parts of the model.
  void printIssues(llvm::raw_ostream &os) const;
  /// With the details only if `isVerbose`.
  void printNotes(llvm::raw_ostream &os, bool isVerbose) const;
  void printConstants(llvm::raw_ostream &os) const;
};

/// Null after failure, with the reasons in `report.issues`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context,
                                             const ImportOptions &options,
                                             ImportReport &report);

} // namespace dtc

#endif // DTC_FRONTEND_IMPORT_H
