//===- CompileDeviceKernels.cpp - kernels become launches and device code -===//
//
// The passes in order, with what holds after each and why it is here, and the
// pass that confines them to the modules of kernels.
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
  // Kernels are launches of device functions on buffers; nothing is a tensor.
  manager.addPass(createLowerKernelsToGpu());
  // Index arithmetic and constants of neighbouring chunks are shared.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // What many tensors have in common, such as an update, is one launch. After
  // the cleanup, which makes equal code equal.
  manager.addPass(createMergeLaunches());
  // Launches are calls of the runtime. While memory accesses of device
  // functions are plain: what a kernel only reads is noted.
  manager.addPass(createLowerLaunches());
}

/// Polynomials and integer arithmetic: device code calls no library.
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
/// with room for the step of a loop over these.
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

/// The hardware's 2^x, whose relative error is below 2^-22. Subnormal results
/// are zero.
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

/// Vectors are those of LLVM: what takes them apart, such as 2^x, is made of
/// single elements.
static LogicalResult lowerVectors(gpu::GPUModuleOp device) {
  RewritePatternSet patterns(device.getContext());
  patterns.add<LowerExp2>(device.getContext());
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  return applyPatternsGreedily(device, std::move(patterns));
}

/// What upstream's pass does, but for its calls of NVIDIA's library: what the
/// hardware has no instruction for has become arithmetic before.
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
