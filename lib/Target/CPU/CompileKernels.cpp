//===- CompileKernels.cpp - compilation of modules of kernels -------------===//
//
// Restricts the lowering of kernels to the modules that contain them.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/LinalgLowering.h"
#include "dtc/Lowering/Target.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Target/CPU/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"

namespace dtc {
#define GEN_PASS_DEF_COMPILEKERNELS
#include "dtc/Target/CPU/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct CompileKernels : dtc::impl::CompileKernelsBase<CompileKernels> {
  using CompileKernelsBase::CompileKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    CompileKernelsBase::getDependentDialects(registry);
    registerLinalgLoweringModels(registry);
    registerKernelOpModels(registry);
  }

  void runOnOperation() override {
    OpPassManager passes(ModuleOp::getOperationName());
    LowerKernelsOptions options;
    options.vectorBits = vectorBits;
    buildKernelLoopsPipeline(passes, options);
    buildLowerToLLVMPipeline(passes);
    // The runtime calls outlined functions on its threads.
    passes.addPass(createDivideCalls());
    for (auto module : getOperation().getOps<ModuleOp>()) {
      auto isKernel = [](func::FuncOp function) {
        return function->hasAttr(attr::kernel);
      };
      bool hasKernels = llvm::any_of(module.getOps<func::FuncOp>(), isKernel);
      if (hasKernels && failed(runPipeline(passes, module)))
        return signalPassFailure();
    }
  }
};

} // namespace
