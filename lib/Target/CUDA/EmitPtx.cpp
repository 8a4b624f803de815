//===- EmitPtx.cpp - PTX and machine code of device functions -------------===//
//
// LLVM generates PTX without a CUDA toolkit. NVIDIA's ptxas generates machine
// code.
//
//===----------------------------------------------------------------------===//

#include "EmitPtx.h"
#include "dtc/Support/RunTool.h"
#include "dtc/Support/TemporaryFile.h"
#include "dtc/Target/CUDA/CudaTarget.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace dtc;

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CudaArchitecture &architecture, std::string &error) {
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *known = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!known)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(known->createTargetMachine(
      triple, architecture.name, architecture.ptxFeatures,
      llvm::TargetOptions(), std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

FailureOr<std::string> dtc::emitPtx(Operation *device,
                                    const CudaArchitecture &architecture) {
  MLIRContext &context = *device->getContext();
  registerBuiltinDialectTranslation(context);
  registerGPUDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  registerNVVMDialectTranslation(context);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(device, llvmContext);
  if (!module)
    return failure();
  std::string message;
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(architecture, message);
  if (!machine)
    return device->emitError("cannot generate code for ")
           << architecture.name << ": " << message;
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple());
  optimizeModule(*module, *machine);

  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return device->emitError("no PTX for ") << architecture.name;
  passes.run(*module);
  // An undefined symbol would fail only when the program is loaded.
  StringRef ptx = text;
  if (size_t at = ptx.find("\n.extern"); at != StringRef::npos)
    return device->emitError("device code refers to what it does not have: ")
           << ptx.substr(at + 1).split('\n').first;
  return ptx.str();
}

FailureOr<std::string> dtc::assemblePtx(Location loc, StringRef ptx,
                                        StringRef ptxas,
                                        const CudaArchitecture &architecture,
                                        std::string *report) {
  auto failWith = [&](llvm::Error error) {
    return emitError(loc) << llvm::toString(std::move(error));
  };
  llvm::Expected<TemporaryFile> source = TemporaryFile::create(".ptx");
  if (!source)
    return failWith(source.takeError());
  llvm::Expected<TemporaryFile> object = TemporaryFile::create(".cubin");
  if (!object)
    return failWith(object.takeError());
  if (std::error_code error =
          source->write([&](llvm::raw_ostream &os) { os << ptx; }))
    return emitError(loc) << "cannot write " << source->getPath() << ": "
                          << error.message();
  std::string architectureFlag = ("-arch=" + architecture.name).str();
  llvm::Expected<ToolResult> result =
      runTool({ptxas, architectureFlag, "-O3", "-v", source->getPath(), "-o",
               object->getPath()});
  if (!result)
    return failWith(result.takeError());
  if (result->code != 0)
    return emitError(loc) << ptxas << " exited with code " << result->code
                          << ": " << result->problem;
  if (report)
    *report = result->said;
  auto cubin = llvm::MemoryBuffer::getFile(object->getPath(), /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!cubin)
    return emitError(loc, "cannot read ")
           << object->getPath() << ": " << cubin.getError().message();
  return (*cubin)->getBuffer().str();
}
