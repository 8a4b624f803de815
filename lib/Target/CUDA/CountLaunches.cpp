//===- CountLaunches.cpp - numbers of launches of kernels -----------------===//
//
// Lowers a copy of the kernels to launches, with the first passes of
// CompileDeviceKernels.
//
//===----------------------------------------------------------------------===//

#include "dtc/Target/CUDA/CountLaunches.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Target/CUDA/Alignments.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace dtc;

FailureOr<llvm::StringMap<int64_t>> dtc::countLaunches(ModuleOp module) {
  llvm::StringMap<int64_t> counts;
  OwningOpRef<ModuleOp> copy = module.clone();
  annotateAlignments(*copy);
  auto kernels = copy->lookupSymbol<ModuleOp>(kernelsName);
  if (!kernels)
    return counts;
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  buildDeviceFunctionsPipeline(manager);
  if (failed(manager.run(kernels)))
    return failure();
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal())
      kernel.walk([&](LLVM::CallOp call) {
        counts[kernel.getSymName()] += call.getCallee() == "dtcrt_launch";
      });
  return counts;
}
