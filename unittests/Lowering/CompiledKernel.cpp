//===- CompiledKernel.cpp - runs kernels in this process ------------------===//
//
// The object file goes through a temporary file, as a user's does.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "dtc/Lowering/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace dtc;

CompiledKernels::CompiledKernels() = default;
CompiledKernels::~CompiledKernels() = default;

std::unique_ptr<CompiledKernels>
CompiledKernels::create(mlir::ModuleOp module, const TargetOptions &target) {
  mlir::PassManager passes(module.getContext());
  buildKernelLoopsPipeline(passes, target.vectorBytes * 8);
  buildLowerToLLVMPipeline(passes);
  if (failed(passes.run(module)))
    return nullptr;
  std::unique_ptr<CompiledKernels> kernels(new CompiledKernels);
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto bytes = function->getAttrOfType<mlir::IntegerAttr>(scratchAttrName);
    kernels->scratchBytes[function.getName()] = bytes ? bytes.getInt() : 0;
  }

  llvm::SmallString<128> path;
  llvm::sys::fs::createTemporaryFile("dtc-kernels", "o", path);
  llvm::FileRemover remover(path);
  if (failed(emitObject(module, target, path)))
    return nullptr;
  auto object = llvm::MemoryBuffer::getFile(path);
  if (!object)
    return nullptr;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  kernels->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(kernels->jit->addObjectFile(std::move(*object)));
  return kernels;
}

void CompiledKernels::call(llvm::StringRef name,
                           llvm::ArrayRef<void *> buffers) {
  using P = void *;
  llvm::SmallVector<P> p(buffers);
  if (int64_t bytes = scratchBytes.lookup(name)) {
    scratch.assign(bytes + 64, char(0x7f)); // nothing may rely on zeros
    p.push_back(reinterpret_cast<P>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.data()), 64)));
  }
  auto address = llvm::cantFail(jit->lookup(name));
  // Unused arguments do no harm in the C calling convention.
  constexpr size_t most = 16;
  p.resize(most);
  address.toPtr<void (*)(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P)>()(
      p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11],
      p[12], p[13], p[14], p[15]);
}
