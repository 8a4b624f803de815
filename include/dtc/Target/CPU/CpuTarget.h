//===- CpuTarget.h - CPUs that LLVM generates code for ----------*- C++ -*-===//
//
// The options of a CPU, the width of its vectors, and object files for it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TARGET_CPU_CPUTARGET_H
#define DTC_TARGET_CPU_CPUTARGET_H

#include "dtc/Lowering/Target.h"
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace dtc {

struct CpuOptions {
  std::string triple;
  std::string cpu;
  std::string features;
  unsigned vectorBytes = 32;

  /// The options for the machine that the compiler runs on.
  static CpuOptions getHost();
  /// The options for a named CPU. Empty or "native" is the host.
  static CpuOptions get(llvm::StringRef cpu);
  /// Whether LLVM can generate code for a CPU of this machine's architecture.
  /// LLVM itself would ignore an unknown CPU, and crash on one that is too old.
  static bool isUsable(llvm::StringRef cpu);
};

/// Translates a module to LLVM IR, optimizes it (-O3) and writes
/// position-independent object files. Multiplications and additions with the
/// flag `contract` may be fused; nothing is reassociated. With several files,
/// each gets some of the functions, the same ones on every machine. Fails with
/// a diagnostic.
llvm::LogicalResult emitHostObjects(mlir::ModuleOp module,
                                    const CpuOptions &options,
                                    llvm::ArrayRef<std::string> paths);

/// Runs the -O3 passes on a module, for a machine.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

class CpuTarget : public Target {
public:
  explicit CpuTarget(const CpuOptions &options) : options(options) {}

  llvm::StringRef getName() const override { return "cpu"; }
  bool computes(LibraryFunction function) const override;
  bool joinsKernels() const override { return false; }
  void addKernelPasses(mlir::OpPassManager &manager) const override;
  void createLaunch(Place at, mlir::LLVM::LLVMFuncOp kernel,
                    mlir::ValueRange buffers) const override;
  void createCopy(Place at, mlir::Value to, mlir::Value from,
                  int64_t bytes) const override;
  void createFill(Place at, mlir::Value to, uint8_t byte,
                  int64_t bytes) const override;
  mlir::Value createConstant(Place at, mlir::ModuleOp module,
                             llvm::StringRef name,
                             mlir::DenseElementsAttr data) const override;
  llvm::LogicalResult emitObjects(mlir::ModuleOp module,
                                  llvm::ArrayRef<std::string> paths,
                                  llvm::StringRef) const override {
    return emitHostObjects(module, options, paths);
  }
  llvm::StringRef getRuntimeArchive() const override { return "libdtcrt.a"; }

private:
  CpuOptions options;
};

} // namespace dtc

#endif // DTC_TARGET_CPU_CPUTARGET_H
