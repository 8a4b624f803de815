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

/// Replaces the ratio of the Dropout nodes whose name matches a glob. An empty
/// glob matches all Dropout nodes.
struct DropoutOverride {
  std::string glob;
  double probability;
};

struct ImportOptions {
  std::string path;
  /// Sizes of dynamic dimensions by name (`--dim NAME=N`).
  std::map<std::string, int64_t> dims;
  /// Batch size (`--batch N`). It sets the batch dimension of every input where
  /// that dimension is dynamic, and all dimensions of the same name.
  std::optional<int64_t> batch;
  /// Index of the batch dimension of each input, by input name (`--batch-dim`).
  /// The entry with the empty name is for all inputs that have such a
  /// dimension. Without an entry the batch is the dimension that is named as a
  /// batch, else dimension 0.
  std::map<std::string, int64_t> batchDims;
  /// Keeps equal initializers (equal up to transpose, too) separate.
  bool untie = false;
  /// Whether the user chose the statistics that batch norms use
  /// (`--batchnorm`).
  bool isBatchNormChosen = false;
  /// Whether the user chose the parameters that stay frozen (`--freeze`).
  bool isFreezeChosen = false;
  /// The only output of the graph to import (`--loss-of`). Nodes that no longer
  /// reach an output are left out. If it is empty, or not the name of an
  /// output, all outputs are imported.
  std::string output;
  /// Computes in f64: each f32 of the model becomes f64 in the IR, which
  /// changes no value. The parameter table keeps the f32 bytes.
  bool f64 = false;
  /// Globs of graph inputs and initializers to train (`--parameter`). A model
  /// that was exported without its weights has its parameters among its inputs.
  std::vector<std::string> parameters;
  /// Globs of initializers that are parameters although no gradient reaches
  /// them: the program changes them in another way (`--expert-biases`).
  std::vector<std::string> kept;
  /// Pairs of names that become one parameter (`--tie A=B`).
  std::vector<std::pair<std::string, std::string>> ties;
  /// Ratios that replace the model's (`--dropout`). The last match wins.
  std::vector<DropoutOverride> dropout;
  /// Turns off all dropout, both Dropout nodes and Bernoulli variables.
  bool noDropout = false;
};

/// A reason why dtc cannot import the model.
struct ImportIssue {
  std::string op;   ///< ONNX operator; empty if no node is at fault
  std::string node; ///< name of the node; empty if no node is at fault
  std::string reason;
  std::string advice;
};

struct ImportReport {
  /// A float initializer that is not trained.
  struct Constant {
    std::string name, shape, reason;
  };

  std::string path;
  /// All errors. Empty after success.
  std::vector<ImportIssue> issues;
  /// Facts that the user should know, such as tied tensors.
  std::vector<std::string> notes;
  /// Facts for `--verbose` only, such as restored names and buffers that are
  /// not trained.
  std::vector<std::string> details;
  /// Problems that change the result of a training.
  std::vector<std::string> warnings;
  std::vector<Constant> constants;
  ParameterTable parameters;

  /// Prints "PATH: error: REASON; ADVICE". Several issues are a list, one line
  /// for each kind.
  void printIssues(llvm::raw_ostream &os) const;
  /// Prints warnings and notes. Prints details only if `isVerbose`.
  void printNotes(llvm::raw_ostream &os, bool isVerbose) const;
  /// Prints the float initializers that are not trained, each with its reason.
  void printConstants(llvm::raw_ostream &os) const;
};

/// Reads the ONNX file `options.path`. Returns null after a failure, with the
/// reasons in `report.issues`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context,
                                             const ImportOptions &options,
                                             ImportReport &report);

} // namespace dtc

#endif // DTC_FRONTEND_IMPORT_H
