//===- EmitPtx.cpp - PTX and machine code of device functions -------------===//
//
// PTX is LLVM's work and needs no toolkit; machine code is ptxas'.
//
//===----------------------------------------------------------------------===//

#include "EmitPtx.h"
#include "dtc/Target/CUDA/CudaTarget.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
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
  // A library would be missing where the program is loaded.
  StringRef ptx = text;
  if (size_t at = ptx.find("\n.extern"); at != StringRef::npos)
    return device->emitError("device code refers to what it does not have: ")
           << ptx.substr(at + 1).split('\n').first;
  return ptx.str();
}

/// A temporary file that is removed at the end.
static std::error_code createTemporary(StringRef suffix,
                                       llvm::SmallString<128> &path,
                                       llvm::FileRemover &remover) {
  std::error_code error =
      llvm::sys::fs::createTemporaryFile("dtc-device", suffix, path);
  if (!error)
    remover.setFile(path);
  return error;
}

FailureOr<std::string> dtc::assemblePtx(Location loc, StringRef ptx,
                                        StringRef ptxas,
                                        const CudaArchitecture &architecture,
                                        std::string *report) {
  llvm::SmallString<128> source, object, log;
  llvm::FileRemover removeSource, removeObject, removeLog;
  std::error_code error = createTemporary("ptx", source, removeSource);
  if (!error)
    error = createTemporary("cubin", object, removeObject);
  if (!error)
    error = createTemporary("log", log, removeLog);
  if (!error) {
    llvm::raw_fd_ostream stream(source, error);
    stream << ptx;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError(loc, "cannot write a temporary file: ") << error.message();
  std::string architectureFlag = ("-arch=" + architecture.name).str();
  SmallVector<StringRef> arguments = {
      ptxas, architectureFlag, "-O3", "-v", source, "-o", object};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                       {std::nullopt, StringRef(log), log}, 0,
                                       0, &message);
  auto said = llvm::MemoryBuffer::getFile(log);
  StringRef output = said ? (*said)->getBuffer() : StringRef();
  if (code != 0)
    return emitError(loc) << ptxas << " exited with code " << code << ": "
                          << (message.empty() ? output.split('\n').first
                                              : StringRef(message));
  if (report)
    *report = output.str();
  auto cubin = llvm::MemoryBuffer::getFile(object, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!cubin)
    return emitError(loc, "cannot read ")
           << object << ": " << cubin.getError().message();
  return (*cubin)->getBuffer().str();
}
