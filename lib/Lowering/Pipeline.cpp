//===- Pipeline.cpp - the passes of the lower phase in order --------------===//
//
// What holds after each pass, and why it is here.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace dtc;

void dtc::buildLowerKernelsPipeline(OpPassManager &manager,
                                    const TargetOptions &target) {
  CompileKernelsOptions options;
  options.vectorBits = target.vectorBytes * 8;
  options.hasBf16 = target.hasBf16;
  manager.addPass(createCompileKernels(options));
}

void dtc::buildKernelLoopsPipeline(OpPassManager &manager, unsigned vectorBits,
                                   bool hasBf16) {
  // Kernels are linalg ops on tensors.
  manager.addPass(createLowerToLinalg());
  // A loss and its gradient compute the same softmax once.
  manager.addPass(createCSEPass());
  // Kernels are loops on buffers; nothing is a tensor.
  LowerKernelsOptions options;
  options.vectorBits = vectorBits;
  manager.addPass(createLowerKernels(options));
  // Index arithmetic and constants of neighbouring chunks are shared.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Random numbers are integer arithmetic; no library call in vector code of
  // f32.
  ExpandMathOptions math;
  math.hasBf16 = hasBf16;
  manager.addPass(createExpandMath(math));
}

void dtc::buildLowerToLLVMPipeline(OpPassManager &manager) {
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createSCFToControlFlowPass());
  // Instructions where there are; for the rest, in f64, libm lane by lane.
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  // Buffers are bare pointers: their shapes are static.
  FinalizeMemRefToLLVMConversionPassOptions memref;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memref));
  ConvertFuncToLLVMPassOptions function;
  function.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(function));
  manager.addPass(createReconcileUnrealizedCastsPass());
}
