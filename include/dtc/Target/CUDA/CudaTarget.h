//===- CudaTarget.h - NVIDIA GPUs -------------------------------*- C++ -*-===//
//
// Kernels become device functions, which the program's host code launches. Host
// code is for the CPU that --target-cpu names.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TARGET_CUDA_CUDATARGET_H
#define DTC_TARGET_CUDA_CUDATARGET_H

#include "dtc/Target/CPU/CpuTarget.h"

namespace dtc {

/// Names of emulated device functions begin with this.
constexpr llvm::StringLiteral emulatedPrefix = "device_";
/// Attributes of an emulated device function: bytes of a block's shared memory,
/// bytes behind each argument, negative if they are written, and whether
/// threads of a block meet.
constexpr llvm::StringLiteral sharedBytesAttrName = "dtc.shared_bytes";
constexpr llvm::StringLiteral placesAttrName = "dtc.places";
constexpr llvm::StringLiteral meetsAttrName = "dtc.meets";

/// Global: data that plans pass to what runs on the device.
constexpr llvm::StringLiteral constantAttrName = "dtc.device_constant";

/// A GPU's architecture.
struct CudaArchitecture {
  llvm::StringRef name;        ///< "sm_90"
  llvm::StringRef ptxFeatures; ///< the version of PTX that it needs: "+ptx80"
  /// Whether cuBLASLt's products of 16 bits have epilogues that are faster than
  /// kernels.
  bool hasEpilogues;

  /// All that code can be generated for.
  static llvm::ArrayRef<CudaArchitecture> getAll();
  /// Null if there is none of this name.
  static const CudaArchitecture *find(llvm::StringRef name);
};

class CudaTarget : public Target {
public:
  /// Device functions as code of the host: for tests, which run it with
  /// stand-ins of NVIDIA's libraries.
  static constexpr llvm::StringLiteral emulated = "host";

  /// `architecture` is one that `find` knows, or `emulated`. If `ptxas` is the
  /// path of NVIDIA's assembler, programs have machine code, too. Convolutions
  /// and attention use at most `workspace` bytes.
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
  /// With a `dumpDir`, PTX is there as 07-device.ptx.
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

/// The device module of a lowered program as PTX for an architecture. Fails
/// with a diagnostic also if it refers to anything outside of itself.
mlir::FailureOr<std::string> emitPtx(mlir::Operation *device,
                                     const CudaArchitecture &architecture);

} // namespace dtc

#endif // DTC_TARGET_CUDA_CUDATARGET_H
