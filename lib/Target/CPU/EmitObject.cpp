//===- EmitObject.cpp - the host's CPU, and object files ------------------===//
//
// Translates the LLVM dialect to machine code.
//
//===----------------------------------------------------------------------===//

#include "dtc/Target/CPU/CpuTarget.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SplitModule.h"

using namespace mlir;
using namespace dtc;

CpuOptions CpuOptions::getHost() {
  CpuOptions target;
  target.triple = llvm::sys::getDefaultTargetTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  llvm::SubtargetFeatures features;
  for (const auto &feature : host)
    features.AddFeature(feature.getKey(), feature.getValue());
  target.features = features.getString();
  target.vectorBytes = host.lookup("avx512f") ? 64
                       : host.lookup("avx")   ? 32
                                              : 16;
  return target;
}

CpuOptions CpuOptions::get(llvm::StringRef cpu) {
  CpuOptions target = getHost();
  if (cpu.empty() || cpu == "native")
    return target;
  target.cpu = cpu.str();
  target.features.clear();
  // The widest vector registers of the CPU.
  target.vectorBytes = 16;
  llvm::InitializeNativeTarget();
  std::string error;
  llvm::Triple triple(target.triple);
  if (const auto *known = llvm::TargetRegistry::lookupTarget(triple, error)) {
    std::unique_ptr<llvm::TargetMachine> machine(
        known->createTargetMachine(triple, cpu, "", {}, llvm::Reloc::PIC_));
    std::unique_ptr<llvm::MCSubtargetInfo> info(
        known->createMCSubtargetInfo(triple, cpu, ""));
    if (info && info->checkFeatures("+avx512f"))
      target.vectorBytes = 64;
    else if (info && info->checkFeatures("+avx"))
      target.vectorBytes = 32;
  }
  return target;
}

bool CpuOptions::isUsable(llvm::StringRef cpu) {
  llvm::InitializeNativeTarget();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const auto *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return false;
  using Info = std::unique_ptr<llvm::MCSubtargetInfo>;
  Info anyCpu(target->createMCSubtargetInfo(triple, "", ""));
  if (!anyCpu || !anyCpu->isCPUStringValid(cpu))
    return false;
  Info info(target->createMCSubtargetInfo(triple, cpu, ""));
  return triple.getArch() != llvm::Triple::x86_64 ||
         info->checkFeatures("+64bit");
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CpuOptions &target, std::string &error,
              llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Aggressive) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  llvm::Triple triple(target.triple);
  const llvm::Target *known = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!known) {
    error = "cannot generate code for " + target.triple + ": " + error;
    return nullptr;
  }
  return std::unique_ptr<llvm::TargetMachine>(known->createTargetMachine(
      triple, target.cpu, target.features, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, level));
}

/// Excludes a pass that looks for values that loops carry through memory.
/// Kernels have none, and the pass takes half of LLVM's time to prove that.
static bool isWorthwhile(llvm::StringRef pass) {
  return pass != "LoopLoadEliminationPass";
}

void dtc::optimizeModule(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef pass, const llvm::Any &) {
        return isWorthwhile(pass);
      });
  llvm::PassBuilder builder(&machine, {}, {}, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Writes a module's code, optimized unless the level is None. Returns the
/// error, or an empty string.
static std::string
compile(llvm::Module &module, const CpuOptions &options, StringRef path,
        llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Aggressive) {
  std::string message;
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(options, message, level);
  if (!machine)
    return message;
  if (level != llvm::CodeGenOptLevel::None)
    optimizeModule(module, *machine);

  std::error_code code;
  // Opens the existing file only, so a file that a signal has removed is not
  // created again.
  llvm::raw_fd_ostream stream(path, code, llvm::sys::fs::CD_OpenExisting);
  if (code)
    return ("cannot write " + path + ": " + code.message()).str();
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return "no object files for " + options.triple;
  passes.run(module);
  stream.flush();
  if (std::error_code error = stream.error()) {
    stream.clear_error(); // an unchecked error would abort the process
    return ("cannot write " + path + ": " + error.message()).str();
  }
  return "";
}

/// A single block of more instructions than this is a list of calls.
/// Optimization and good register allocation take more than linear time on it,
/// and gain nothing.
constexpr size_t maxOptimizedBlock = 4096;

static bool isLongList(const llvm::Function &function) {
  return function.size() == 1 && function.front().size() > maxOptimizedBlock;
}

namespace {

/// A part of a module. It is compiled in an LLVM context of its own, so it is
/// passed as bitcode.
struct Part {
  Part(const llvm::Module &module, llvm::CodeGenOptLevel level) : level(level) {
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(module, stream);
  }

  llvm::CodeGenOptLevel level;
  llvm::SmallString<0> bitcode;
};

} // namespace

/// Moves functions with long lists of calls out of a module into a second one.
/// Both modules refer to functions of the other. Returns none if there are no
/// such functions.
static std::optional<Part> takeLongLists(llvm::Module &module) {
  if (llvm::none_of(module, isLongList))
    return std::nullopt;
  for (llvm::GlobalObject &object : module.global_objects())
    if (object.hasLocalLinkage()) {
      object.setLinkage(llvm::GlobalValue::ExternalLinkage);
      object.setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
  llvm::ValueToValueMapTy map;
  Part lists(*llvm::CloneModule(module, map,
                                [](const llvm::GlobalValue *value) {
                                  const auto *function =
                                      dyn_cast<llvm::Function>(value);
                                  return function && isLongList(*function);
                                }),
             llvm::CodeGenOptLevel::None);
  for (llvm::Function &function : module)
    if (isLongList(function))
      function.deleteBody();
  return lists;
}

/// Compiles a module in threads, one for each file. Functions are assigned in
/// turn, except those that are not optimized, which share one file.
static std::string compileParts(llvm::Module &module, const CpuOptions &options,
                                ArrayRef<std::string> paths) {
  std::vector<Part> parts;
  if (std::optional<Part> lists = takeLongLists(module))
    parts.push_back(std::move(*lists));
  llvm::SplitModule(
      module, paths.size() - parts.size(),
      [&](std::unique_ptr<llvm::Module> part) {
        parts.emplace_back(*part, llvm::CodeGenOptLevel::Aggressive);
      },
      /*PreserveLocals=*/false, /*RoundRobin=*/true);
  std::vector<std::string> messages(paths.size());
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(paths.size()));
  for (size_t i = 0; i < paths.size(); ++i)
    pool.async([&, i] {
      llvm::LLVMContext context;
      auto part = llvm::cantFail(llvm::parseBitcodeFile(
          llvm::MemoryBufferRef(parts[i].bitcode, paths[i]), context));
      messages[i] = compile(*part, options, paths[i], parts[i].level);
    });
  pool.wait();
  auto wrong = llvm::find_if(messages, [](StringRef m) { return !m.empty(); });
  return wrong == messages.end() ? "" : *wrong;
}

LogicalResult dtc::emitHostObjects(ModuleOp module, const CpuOptions &options,
                                   ArrayRef<std::string> paths) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return failure();
  std::string message;
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(options, message);
  if (!machine)
    return module.emitError(message);
  llvmModule->setDataLayout(machine->createDataLayout());
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setPICLevel(llvm::PICLevel::BigPIC);
  std::string width = std::to_string(options.vectorBytes * 8);
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("target-cpu", options.cpu);
    function.addFnAttr("target-features", options.features);
    if (isLongList(function)) {
      function.addFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::OptimizeNone);
    }
  }
  message = paths.size() > 1 ? compileParts(*llvmModule, options, paths)
                             : compile(*llvmModule, options, paths.front());
  return message.empty() ? success() : module.emitError(message);
}
