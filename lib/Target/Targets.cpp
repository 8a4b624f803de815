//===- Targets.cpp - all targets ------------------------------------------===//

#include "dtc/Target/Targets.h"
#include "dtc/Target/CPU/CpuTarget.h"
#include "dtc/Target/CPU/Passes.h"
#include "dtc/Target/CUDA/CudaTarget.h"
#include "dtc/Target/CUDA/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace dtc;

llvm::ArrayRef<llvm::StringRef> dtc::getTargetKinds() {
  static const llvm::StringRef kinds[] = {"cpu", "cuda"};
  return kinds;
}

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// The path of NVIDIA's assembler: from PATH, from a toolkit, or the one that
/// dtc was built with. Empty if there is none.
static std::string findPtxas() {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  if (!found)
    found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
#ifdef DTC_PTXAS
  if (!found && llvm::sys::fs::can_execute(DTC_PTXAS))
    return DTC_PTXAS;
#endif
  return found ? *found : std::string();
}

llvm::Expected<std::shared_ptr<const Target>>
dtc::getTarget(const TargetOptions &options) {
  if (options.cpu != "native" && !CpuOptions::isUsable(options.cpu))
    return fail("--target-cpu is '" + options.cpu +
                "', expected native or a 64-bit CPU that 'llc -mcpu=help' "
                "lists");
  CpuOptions host = CpuOptions::get(options.cpu);
  if (options.kind == "cpu")
    return std::make_shared<CpuTarget>(host);
  if (options.kind != "cuda")
    return fail("--target is '" + options.kind + "', expected " +
                llvm::join(getTargetKinds(), " or "));
  llvm::StringRef architecture = options.architecture;
  if (architecture == CudaTarget::emulated)
    return std::make_shared<CudaTarget>(architecture, options.workspace, host,
                                        "");
  if (!CudaArchitecture::find(architecture)) {
    std::string known;
    for (const CudaArchitecture &other : CudaArchitecture::getAll())
      known += (other.name + ", ").str();
    return fail("--arch is '" + architecture + "', expected one of " +
                llvm::StringRef(known).drop_back(2));
  }
  return std::make_shared<CudaTarget>(architecture, options.workspace, host,
                                      findPtxas());
}

/// Asks a target. Returns the default answer if the options are wrong:
/// LowerPlan reports the error.
template <typename Answer, typename Question>
static Answer ask(const TargetOptions &options, Question question) {
  llvm::Expected<std::shared_ptr<const Target>> target = getTarget(options);
  if (target)
    return question(**target);
  llvm::consumeError(target.takeError());
  return {};
}

bool dtc::computes(const TargetOptions &options, LibraryFunction function) {
  return ask<bool>(
      options, [&](const Target &target) { return target.computes(function); });
}

bool dtc::joinsKernels(const TargetOptions &options) {
  return ask<bool>(options,
                   [](const Target &target) { return target.joinsKernels(); });
}

int64_t dtc::getColumnMultiple(const TargetOptions &options) {
  return std::max<int64_t>(1, ask<int64_t>(options, [](const Target &target) {
                             return target.getColumnMultiple();
                           }));
}

int64_t dtc::getReservedBytes(const TargetOptions &options,
                              mlir::ModuleOp module) {
  return ask<int64_t>(options, [&](const Target &target) {
    return target.getReservedBytes(module);
  });
}

AttentionLimits dtc::getAttentionLimits(const TargetOptions &options,
                                        llvm::StringRef precision) {
  return ask<AttentionLimits>(options, [&](const Target &target) {
    AttentionLimits limits = target.getAttentionLimits();
    bool isNarrow = precision == "bf16" || precision == "fp16";
    if (!target.computes(LibraryFunction::Attention) ||
        (limits.onlyNarrow && !isNarrow)) {
      limits.maxWidth = 0;
      limits.boundsMasks = false;
    }
    return limits;
  });
}

void dtc::registerTargetPasses() {
  registerDTCTargetCPUPasses();
  registerDTCTargetCUDAPasses();
}
