//===- CompileDeviceKernels.cpp - compilation of kernels for GPUs ---------===//
//
// Lists the passes in order. The comment on each says what holds after it and
// why it runs at that place. One pass restricts them to the modules of kernels.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/LinalgLowering.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Target/CPU/Passes.h"
#include "dtc/Target/CUDA/Alignments.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_COMPILEDEVICEKERNELS
#include "dtc/Target/CUDA/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

void dtc::buildDeviceFunctionsPipeline(OpPassManager &manager) {
  // Kernels are linalg ops on tensors.
  manager.addPass(createLowerToLinalg());
  // A loss and its gradient compute the same softmax once.
  manager.addPass(createCSEPass());
  // Kernels are launches of device functions on buffers. No tensors are left.
  manager.addPass(createLowerKernelsToGpu());
  // Index arithmetic and constants of adjacent chunks are shared.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Work that is the same for many tensors, such as the update, is one launch.
  // Runs after the cleanup, which makes equal code equal.
  manager.addPass(createMergeLaunches());
  // Launches are calls of the runtime. Runs while memory accesses of device
  // functions are simple, so that the pass can find arguments that a kernel
  // only reads.
  manager.addPass(createLowerLaunches());
}

/// Expands math functions to arithmetic: device code calls no library.
static std::unique_ptr<Pass> createDeviceMath(bool hasBf16) {
  ExpandMathOptions options;
  options.hasBf16 = hasBf16;
  options.hasExp2 = true;
  options.expandDouble = true;
  return createExpandMath(options);
}

void dtc::buildEmulatedKernelsPipeline(OpPassManager &manager) {
  buildDeviceFunctionsPipeline(manager);
  manager.addPass(createEmulateDevice());
  manager.addPass(createDeviceMath(/*hasBf16=*/false));
  buildLowerToLLVMPipeline(manager);
}

/// Whether 32 bits can number all elements of buffers and all items of work,
/// plus the step of a loop over these.
static bool hasSmallIndices(gpu::GPUModuleOp device) {
  bool isSmall = true;
  device.walk([&](arith::ConstantOp constant) {
    if (constant.getType().isIndex())
      isSmall &=
          cast<IntegerAttr>(constant.getValue()).getInt() < (int64_t(1) << 30);
  });
  device.walk([&](gpu::GPUFuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (auto type = dyn_cast<MemRefType>(argument.getType()))
        isSmall &= type.getNumElements() < (int64_t(1) << 31);
  });
  return isSmall;
}

namespace {

/// The hardware's 2^x, with a relative error below 2^-22. Subnormal results
/// become zero.
struct LowerExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Location loc = op.getLoc();
    auto compute = [&](Value x) -> Value {
      return LLVM::CallIntrinsicOp::create(
                 rewriter, loc, rewriter.getF32Type(),
                 rewriter.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"),
                 ValueRange(x))
          .getResult(0);
    };
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector) {
      rewriter.replaceOp(op, compute(op.getOperand()));
      return success();
    }
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane)
      lanes.push_back(compute(
          vector::ExtractOp::create(rewriter, loc, op.getOperand(), lane)));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, lanes);
    return success();
  }
};

} // namespace

/// Lowers vectors to LLVM vectors. Ops that exist for scalars only, such as
/// 2^x, are applied to each element.
static LogicalResult lowerVectors(gpu::GPUModuleOp device) {
  RewritePatternSet patterns(device.getContext());
  patterns.add<LowerExp2>(device.getContext());
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  return applyPatternsGreedily(device, std::move(patterns));
}

/// Lowers to NVVM like the upstream pass, but without calls of NVIDIA's math
/// library: ops without an instruction were expanded to arithmetic before.
static LogicalResult lowerToNvvm(gpu::GPUModuleOp device) {
  MLIRContext *context = device.getContext();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  options.overrideIndexBitwidth(hasSmallIndices(device) ? 32 : 64);
  LLVMTypeConverter converter(context, options);
  configureGpuToNVVMTypeConverter(converter);
  RewritePatternSet patterns(context);
  constexpr unsigned preferred = 2;
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false, preferred);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect<NVVM::NVVMDialect>();
  target.addIllegalDialect<gpu::GPUDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  return applyFullConversion(device, target, std::move(patterns));
}

namespace {

struct CompileDeviceKernels
    : dtc::impl::CompileDeviceKernelsBase<CompileDeviceKernels> {
  using CompileDeviceKernelsBase::CompileDeviceKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    CompileDeviceKernelsBase::getDependentDialects(registry);
    registerLinalgLoweringModels(registry);
    registerKernelOpModels(registry);
  }

  LogicalResult compile(ModuleOp module);

  void runOnOperation() override {
    annotateAlignments(getOperation());
    for (auto module : getOperation().getOps<ModuleOp>()) {
      auto isKernel = [](func::FuncOp function) {
        return function->hasAttr(attr::kernel);
      };
      if (llvm::any_of(module.getOps<func::FuncOp>(), isKernel) &&
          failed(compile(module)))
        return signalPassFailure();
    }
  }
};

} // namespace

LogicalResult CompileDeviceKernels::compile(ModuleOp module) {
  OpPassManager manager(ModuleOp::getOperationName());
  if (isEmulated) {
    buildEmulatedKernelsPipeline(manager);
    return runPipeline(manager, module);
  }
  buildDeviceFunctionsPipeline(manager);
  OpPassManager &device = manager.nest<gpu::GPUModuleOp>();
  device.addPass(createDeviceMath(/*hasBf16=*/true));
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createSCFToControlFlowPass());
  if (failed(runPipeline(manager, module)))
    return failure();
  for (auto device : module.getOps<gpu::GPUModuleOp>())
    if (failed(lowerVectors(device)) || failed(lowerToNvvm(device)))
      return failure();
  return success();
}
