//===- Compilation.h - one run of the compiler ------------------*- C++ -*-===//
//
// What the phases hand to each other.
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
