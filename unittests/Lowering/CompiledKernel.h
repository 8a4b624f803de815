//===- CompiledKernel.h - runs kernels in this process ----------*- C++ -*-===//
//
// Compiles a module of kernels to an object file and calls its functions.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_LOWERING_COMPILEDKERNEL_H
#define DTC_UNITTESTS_LOWERING_COMPILEDKERNEL_H

#include "Interpreter.h"
#include "dtc/Runtime/DeviceABI.h"
#include "dtc/Target/CPU/CpuTarget.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace dtc {

/// The machine that runs the kernels: one thread of a CPU; a CPU with all nests
/// divided into parts, as for several threads; or a GPU that the CPU emulates.
enum class KernelMachine { cpu, dividedCpu, gpu };

class CompiledKernels {
public:
  /// Compiles the functions with `dtc.kernel`. Returns null after printing an
  /// error.
  static std::unique_ptr<CompiledKernels>
  create(mlir::ModuleOp module, const CpuOptions &target,
         KernelMachine machine = KernelMachine::cpu);
  ~CompiledKernels();

  /// Runs the kernel of this name. `function`, in its form before compilation,
  /// gives the types and the overwritten arguments.
  std::vector<HostTensor> run(mlir::func::FuncOp function, llvm::StringRef name,
                              llvm::ArrayRef<HostTensor> arguments);

  /// Calls a kernel with the addresses of its buffers, except scratch. For
  /// integers that HostTensor cannot represent.
  void call(llvm::StringRef name, llvm::ArrayRef<void *> buffers);

  /// Loop iterations of a launch: of the busiest thread, and of a thread on
  /// average.
  struct LaunchWork {
    double longest, mean;
  };
  /// The launches of the last call.
  llvm::ArrayRef<LaunchWork> getWork() const { return work; }

private:
  CompiledKernels();
  static void launch(dtc_context *self, int32_t function, int64_t blocks,
                     int32_t threads, char *const *arguments);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<int64_t> scratchBytes;
  std::vector<char> scratch;
  /// The functions of a GPU.
  std::vector<dtc_device_function> deviceFunctions;
  std::vector<LaunchWork> work;
};

} // namespace dtc

#endif // DTC_UNITTESTS_LOWERING_COMPILEDKERNEL_H
