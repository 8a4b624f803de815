//===- CpuTarget.h - CPUs that LLVM generates code for ----------*- C++ -*-===//
//
// Which CPU, how wide its vectors are, and object files for it.
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

  /// The machine that the compiler runs on.
  static CpuOptions getHost();
  /// A named CPU; empty or "native" is the host.
  static CpuOptions get(llvm::StringRef cpu);
  /// Whether code for this machine's architecture can be generated for a CPU.
  /// LLVM would ignore one that it does not know, and crash on one that is too
  /// old.
  static bool isUsable(llvm::StringRef cpu);
};

/// Translates a module to LLVM IR, optimises it (-O3) and writes
/// position-independent code. Multiplications and additions that carry the
/// flag may be contracted; nothing is reassociated. With several files, each
/// has some of the functions, the same on every machine.
llvm::LogicalResult emitHostObjects(mlir::ModuleOp module,
                                    const CpuOptions &options,
                                    llvm::ArrayRef<std::string> paths);

/// What -O3 does to a module for a machine.
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
