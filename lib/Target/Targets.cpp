//===- Targets.cpp - all targets ------------------------------------------===//

#include "dtc/Target/Targets.h"
#include "dtc/Target/CPU/CpuTarget.h"
#include "dtc/Target/CPU/Passes.h"
#include "dtc/Target/CUDA/CudaTarget.h"
#include "dtc/Target/CUDA/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Program.h"

using namespace dtc;

llvm::ArrayRef<llvm::StringRef> dtc::getTargetKinds() {
  static const llvm::StringRef kinds[] = {"cpu", "cuda"};
  return kinds;
}

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// NVIDIA's assembler, where a toolkit has it; empty if nowhere.
static std::string findPtxas() {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  if (!found)
    found = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
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
    return std::make_shared<CudaTarget>(architecture, host, "");
  if (!CudaArchitecture::find(architecture)) {
    std::string known;
    for (const CudaArchitecture &other : CudaArchitecture::getAll())
      known += (other.name + ", ").str();
    return fail("--arch is '" + architecture + "', expected one of " +
                llvm::StringRef(known).drop_back(2));
  }
  return std::make_shared<CudaTarget>(architecture, host, findPtxas());
}

bool dtc::computes(const TargetOptions &options, llvm::StringRef opName) {
  llvm::Expected<std::shared_ptr<const Target>> target = getTarget(options);
  if (target)
    return (*target)->computes(opName);
  llvm::consumeError(target.takeError()); // who lowers plans says it
  return false;
}

void dtc::registerTargetPasses() {
  registerDTCTargetCPUPasses();
  registerDTCTargetCUDAPasses();
}
