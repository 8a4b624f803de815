//===- CudaTarget.h - NVIDIA GPUs -------------------------------*- C++ -*-===//
//
// Kernels become device functions, which the program's host code launches. Host
// code runs on the CPU that --target-cpu names.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TARGET_CUDA_CUDATARGET_H
#define DTC_TARGET_CUDA_CUDATARGET_H

#include "dtc/Target/CPU/CpuTarget.h"

namespace dtc {

/// Prefix of the names of emulated device functions.
constexpr llvm::StringLiteral emulatedPrefix = "device_";
/// Attributes of an emulated device function: the bytes of a block's shared
/// memory; the bytes of each argument, negative if it is written; and whether
/// the threads of a block synchronize.
constexpr llvm::StringLiteral sharedBytesAttrName = "dtc.shared_bytes";
constexpr llvm::StringLiteral placesAttrName = "dtc.places";
constexpr llvm::StringLiteral meetsAttrName = "dtc.meets";

/// Attribute of a global that plans pass to functions on the device.
constexpr llvm::StringLiteral constantAttrName = "dtc.device_constant";

/// A GPU's architecture.
struct CudaArchitecture {
  llvm::StringRef name;        ///< "sm_90"
  llvm::StringRef ptxFeatures; ///< the PTX version that it needs: "+ptx80"
  /// Whether 16-bit matmuls of cuBLASLt have epilogues that are faster than
  /// separate kernels.
  bool hasEpilogues;

  /// All architectures that dtc generates code for.
  static llvm::ArrayRef<CudaArchitecture> getAll();
  /// The architecture of this name; null if unknown.
  static const CudaArchitecture *find(llvm::StringRef name);
};

class CudaTarget : public Target {
public:
  /// The architecture of emulated device functions, which run on the host.
  /// Tests run them with fake NVIDIA libraries.
  static constexpr llvm::StringLiteral emulated = "host";

  /// `architecture` is known to CudaArchitecture::find, or is `emulated`. If
  /// `ptxas`, the path of NVIDIA's assembler, is not empty, programs also
  /// contain machine code. Convolutions and attention use at most `workspace`
  /// bytes.
  CudaTarget(llvm::StringRef architecture, int64_t workspace,
             const CpuOptions &host, std::string ptxas)
      : architecture(architecture.str()), workspace(workspace), host(host),
        ptxas(std::move(ptxas)) {}

  llvm::StringRef getName() const override { return "cuda"; }
  bool computes(LibraryFunction function) const override;
  bool joinsKernels() const override { return true; }
  int64_t getReservedBytes(mlir::ModuleOp module) const override;
  AttentionLimits getAttentionLimits() const override;
  int64_t getColumnMultiple() const override;
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
  /// Also writes PTX to `dumpDir` as 07-device.ptx, if `dumpDir` is not empty.
  llvm::LogicalResult emitObjects(mlir::ModuleOp module,
                                  llvm::ArrayRef<std::string> paths,
                                  llvm::StringRef dumpDir) const override;
  llvm::StringRef getRuntimeArchive() const override {
    return "libdtcrt-cuda.a";
  }

private:
  bool isEmulated() const { return architecture == emulated; }

  std::string architecture;
  int64_t workspace;
  CpuOptions host;
  std::string ptxas;
};

/// Translates the device module of a lowered program to PTX for an
/// architecture. Fails with a diagnostic, also if it refers to an external
/// symbol.
mlir::FailureOr<std::string> emitPtx(mlir::Operation *device,
                                     const CudaArchitecture &architecture);

} // namespace dtc

#endif // DTC_TARGET_CUDA_CUDATARGET_H
