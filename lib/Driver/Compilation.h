//===- Compilation.h - from command line to executable ----------*- C++ -*-===//
//
// Runs the phases on one model, writes what was asked for, links.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_COMPILATION_H
#define DTC_LIB_DRIVER_COMPILATION_H

#include "dtc/Driver/Driver.h"
#include "dtc/Support/OutputFile.h"
#include "dtc/Training/InitialValues.h"
#include "llvm/ADT/StringSet.h"

namespace dtc {

/// One compilation: what is handed from phase to phase.
class Compilation {
public:
  explicit Compilation(const DriverOptions &options)
      : options(options), context(makeRegistry()),
        handler(&context, [this](mlir::Diagnostic &d) { return print(d); }) {
    context.printOpOnDiagnostic(false);
  }

  mlir::LogicalResult run();

private:
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  mlir::LogicalResult print(mlir::Diagnostic &diagnostic);
  void printMessage(mlir::Location location, const std::string &text);
  mlir::LogicalResult import();
  mlir::OwningOpRef<mlir::ModuleOp> importFor(int64_t replicas,
                                              ImportReport &report);
  mlir::LogicalResult importMore(int64_t replicas);
  mlir::LogicalResult proveReplicas();
  mlir::LogicalResult readInitialWeights();
  void warnOfNotFinite();
  mlir::LogicalResult findBatch();
  mlir::LogicalResult runPhase(CompilePhase phase);
  mlir::LogicalResult show(CompilePhase phase);
  mlir::LogicalResult drawGraph();
  mlir::LogicalResult report();
  mlir::LogicalResult checkMemory();
  llvm::Error embedWeights(OutputFile &program);
  llvm::Error keepWeights(OutputFile &external);
  mlir::LogicalResult link();
  void printStart() const;
  mlir::LogicalResult write(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> body);

  const DriverOptions &options;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  llvm::StringSet<> errors; ///< what was printed
  ImportReport imported;
  Initializers initializers;
  int64_t globalBatch = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// As imported, if other plans may be tried.
  mlir::OwningOpRef<mlir::ModuleOp> model;
  /// For one more replica, if any number may run.
  mlir::OwningOpRef<mlir::ModuleOp> more;
  Strategy strategy; ///< what is asked for, the batch included
};

} // namespace dtc

#endif // DTC_LIB_DRIVER_COMPILATION_H
