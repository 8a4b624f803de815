//===- CompiledKernel.cpp - runs kernels in this process ------------------===//
//
// The object file is written to a temporary file, as in a compilation.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "Grid.h"
#include "KernelBuffer.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Target/CPU/Passes.h"
#include "dtc/Target/CUDA/Alignments.h"
#include "dtc/Target/CUDA/CudaTarget.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace dtc;
using llvm::ArrayRef;
using llvm::SmallVector;

CompiledKernels::CompiledKernels() = default;
CompiledKernels::~CompiledKernels() = default;

/// Blocks run in a different order each time.
void CompiledKernels::launch(dtc_context *self, int32_t function,
                             int64_t blocks, int32_t threads,
                             char *const *arguments) {
  static uint64_t seed = 0;
  auto *kernels = reinterpret_cast<CompiledKernels *>(self);
  standin::GridWork work = standin::runGrid(kernels->deviceFunctions[function],
                                            blocks, threads, arguments, ++seed);
  kernels->work.push_back(
      {double(work.longest), double(work.total) / double(blocks * threads)});
}

/// Parts run from the last to the first.
static void divide(dtc_context *, int64_t first, int64_t end, int64_t /*work*/,
                   void (*body)(void *const *buffers, int64_t from, int64_t to),
                   void *const *buffers) {
  while (end-- > first)
    body(buffers, end, end + 1);
}

static void fill(dtc_context *, void *to, int32_t byte, int64_t bytes) {
  memset(to, byte, bytes);
}

std::unique_ptr<CompiledKernels>
CompiledKernels::create(mlir::ModuleOp module, const CpuOptions &target,
                        KernelMachine machine) {
  mlir::PassManager passes(module.getContext());
  if (machine == KernelMachine::gpu) {
    // Alignment as for buffers of a memory plan.
    mlir::Builder b(module.getContext());
    for (auto kernel : module.getOps<mlir::func::FuncOp>()) {
      for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
        kernel.setArgAttr(i, attr::alignment,
                          b.getI64IntegerAttr(KernelBuffer::alignment));
      for (unsigned i = 0; i < kernel.getNumResults(); ++i)
        kernel.setResultAttr(i, attr::alignment,
                             b.getI64IntegerAttr(KernelBuffer::alignment));
    }
    buildEmulatedKernelsPipeline(passes);
  } else {
    LowerKernelsOptions options;
    options.vectorBits = target.vectorBytes * 8;
    if (machine == KernelMachine::dividedCpu)
      options.leastWork = 0;
    buildKernelLoopsPipeline(passes, options);
    buildLowerToLLVMPipeline(passes);
    passes.addPass(createDivideCalls());
  }
  if (failed(passes.run(module)))
    return nullptr;
  std::unique_ptr<CompiledKernels> kernels(new CompiledKernels);
  std::vector<std::string> deviceNames;
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    auto bytes = function->getAttrOfType<mlir::IntegerAttr>(scratchAttrName);
    kernels->scratchBytes[function.getName()] = bytes ? bytes.getInt() : 0;
    if (auto shared =
            function->getAttrOfType<mlir::IntegerAttr>(sharedBytesAttrName)) {
      dtc_device_function device = {};
      device.name = "a kernel";
      device.shared_bytes = shared.getInt();
      device.meets = function->hasAttr(meetsAttrName);
      kernels->deviceFunctions.push_back(device);
      deviceNames.push_back(function.getName().str());
    }
  }

  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("dtc-kernels", "o", path))
    return nullptr;
  llvm::FileRemover remover(path);
  if (failed(CpuTarget(target).emitObjects(module, path.str().str(),
                                           /*dumpDir=*/"")))
    return nullptr;
  auto object = llvm::MemoryBuffer::getFile(path);
  if (!object)
    return nullptr;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  kernels->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::orc::SymbolMap runtime;
  auto define = [&](llvm::StringRef name, auto *function) {
    runtime[kernels->jit->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported};
  };
  define("dtcrt_launch", &CompiledKernels::launch);
  define("dtcrt_divide", &divide);
  define("dtcrt_fill", &fill);
  llvm::cantFail(kernels->jit->getMainJITDylib().define(
      llvm::orc::absoluteSymbols(runtime)));
  llvm::cantFail(kernels->jit->addObjectFile(std::move(*object)));
  for (auto [device, name] : llvm::zip(kernels->deviceFunctions, deviceNames))
    device.emulated = llvm::cantFail(kernels->jit->lookup(name))
                          .toPtr<dtc_emulated_function>();
  return kernels;
}

template <size_t... i>
static void callWith(llvm::orc::ExecutorAddr address, ArrayRef<void *> p,
                     std::index_sequence<i...>) {
  using P = void *;
  address.toPtr<void (*)(decltype((void)i, P())...)>()(p[i]...);
}

void CompiledKernels::call(llvm::StringRef name, ArrayRef<void *> buffers) {
  work.clear();
  llvm::SmallVector<void *> p(buffers);
  if (int64_t bytes = scratchBytes.lookup(name)) {
    scratch.assign(bytes + 64,
                   char(0xff)); // kernels must not rely on its contents
    p.push_back(reinterpret_cast<void *>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(scratch.data()), 64)));
  }
  p.push_back(this); // the context, of kernels that call the runtime
  // The C calling convention allows unused arguments.
  constexpr size_t most = 128;
  if (p.size() > most)
    llvm::report_fatal_error("a kernel has too many buffers");
  p.resize(most);
  callWith(llvm::cantFail(jit->lookup(name)), p,
           std::make_index_sequence<most>());
}

std::vector<HostTensor> CompiledKernels::run(mlir::func::FuncOp function,
                                             llvm::StringRef name,
                                             ArrayRef<HostTensor> arguments) {
  std::vector<KernelBuffer> buffers;
  buffers.reserve(function.getNumArguments() + function.getNumResults());
  SmallVector<KernelBuffer *> results(function.getNumResults());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    buffers.emplace_back(function.getArgumentTypes()[i], argument);
    if (auto update =
            function.getArgAttrOfType<mlir::IntegerAttr>(i, attr::update))
      results[update.getInt()] = &buffers.back();
  }
  for (auto [i, result] : llvm::enumerate(results))
    if (!result)
      result = &buffers.emplace_back(function.getResultTypes()[i]);
  call(name, llvm::map_to_vector(
                 buffers, [](KernelBuffer &buffer) { return buffer.data(); }));
  std::vector<HostTensor> values;
  for (KernelBuffer *result : results)
    values.push_back(result->read());
  for (KernelBuffer &buffer : buffers)
    if (!buffer.areMarginsIntact())
      llvm::report_fatal_error("kernel '" + name + "' writes beside a buffer");
  return values;
}
