//===- Compilation.h - one run of the compiler ------------------*- C++ -*-===//
//
// The state that phases pass to each other.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_COMPILATION_H
#define DTC_LIB_DRIVER_COMPILATION_H

#include "dtc/Driver/Driver.h"
#include "dtc/Lowering/Program.h"
#include "llvm/ADT/StringSet.h"

namespace dtc {

class Compilation {
public:
  explicit Compilation(const DriverOptions &options);

  mlir::LogicalResult run();

private:
  mlir::LogicalResult runPhase(CompilePhase phase);
  mlir::LogicalResult show(CompilePhase phase);
  mlir::LogicalResult drawGraph();
  mlir::LogicalResult report();
  mlir::LogicalResult checkMemory();
  mlir::LogicalResult proveReplicas();
  mlir::LogicalResult write(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> body);

  //===--- ImportModel.cpp ------------------------------------------------===//

  mlir::LogicalResult import();
  mlir::OwningOpRef<mlir::ModuleOp> importFor(int64_t replicas,
                                              ImportReport &report);
  mlir::LogicalResult importMore(int64_t replicas);
  mlir::LogicalResult checkFiles();
  mlir::LogicalResult findBatch();
  mlir::LogicalResult setStrategy();

  //===--- StartWeights.cpp -----------------------------------------------===//

  mlir::LogicalResult readInitialWeights();
  mlir::LogicalResult chooseStart();
  void warnOfNotFinite();

  //===--- WriteProgram.cpp -----------------------------------------------===//

  mlir::LogicalResult link();
  ProgramInfo getInfo();
  llvm::Error embedWeights(OutputFile &program);
  llvm::Error keepWeights(OutputFile &external);
  void printStart() const;

  //===--- PrintDiagnostics.cpp -------------------------------------------===//

  mlir::LogicalResult print(mlir::Diagnostic &diagnostic);
  void printMessage(mlir::Location location, const std::string &text);

  const DriverOptions &options;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  llvm::StringSet<> errors; ///< messages that were printed
  ImportReport imported;
  Initializers initializers;
  int64_t globalBatch = 0;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The imported module, if other plans may be tried.
  mlir::OwningOpRef<mlir::ModuleOp> model;
  /// The module for one more replica, with --dp auto.
  mlir::OwningOpRef<mlir::ModuleOp> more;
  Strategy strategy; ///< as requested, with the batch
};

} // namespace dtc

#endif // DTC_LIB_DRIVER_COMPILATION_H
