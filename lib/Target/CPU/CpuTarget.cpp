//===- CpuTarget.cpp - what lowering asks about CPUs ----------------------===//
//
// Kernels are functions and the arena is memory: launches are calls. The passes
// that compile kernels in order, with what holds after each and why it is here.
//
//===----------------------------------------------------------------------===//

#include "dtc/Target/CPU/CpuTarget.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Target/CPU/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace dtc;

// A kernel finds a product's result in the cache.
bool CpuTarget::computes(LibraryFunction function) const {
  return function != LibraryFunction::MatMulEpilogue &&
         function != LibraryFunction::PackedAttention;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void CpuTarget::addKernelPasses(OpPassManager &manager) const {
  CompileKernelsOptions compile;
  compile.vectorBits = options.vectorBytes * 8;
  manager.addPass(createCompileKernels(compile));
}

void dtc::buildKernelLoopsPipeline(OpPassManager &manager,
                                   const LowerKernelsOptions &options) {
  // Kernels are linalg ops on tensors.
  manager.addPass(createLowerToLinalg());
  // A loss and its gradient compute the same softmax once.
  manager.addPass(createCSEPass());
  // Kernels are loops on buffers; nothing is a tensor.
  manager.addPass(createLowerKernels(options));
  // Index arithmetic and constants of neighbouring chunks are shared.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Random numbers are integer arithmetic, and so is rounding to bf16, though
  // processors have an instruction: LLVM 22 has no pattern for some shuffles of
  // what that makes, and a step takes as long. No library call in vector code
  // of f32.
  manager.addPass(createExpandMath());
  // What threads share is a function of its own.
  manager.addPass(createOutlineLoops());
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
  // No register holds bf16. After all that makes values of it.
  manager.addPass(createLowerBFloat16());
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static Value createSize(Target::Place at, int64_t bytes) {
  return LLVM::ConstantOp::create(at.builder, at.loc,
                                  at.builder.getI64IntegerAttr(bytes));
}

void CpuTarget::createLaunch(Place at, LLVM::LLVMFuncOp kernel,
                             ValueRange buffers) const {
  SmallVector<Value> operands(buffers);
  if (kernel.getNumArguments() > buffers.size()) // it divides its work
    operands.push_back(at.context);
  LLVM::CallOp::create(at.builder, at.loc, TypeRange(), kernel.getSymName(),
                       operands);
}

void CpuTarget::createCopy(Place at, Value to, Value from,
                           int64_t bytes) const {
  LLVM::MemcpyOp::create(at.builder, at.loc, to, from, createSize(at, bytes),
                         /*isVolatile=*/false);
}

void CpuTarget::createFill(Place at, Value to, uint8_t byte,
                           int64_t bytes) const {
  Value value = LLVM::ConstantOp::create(at.builder, at.loc,
                                         at.builder.getI8IntegerAttr(byte));
  LLVM::MemsetOp::create(at.builder, at.loc, to, value, createSize(at, bytes),
                         /*isVolatile=*/false);
}

/// Read-only data of the program.
Value CpuTarget::createConstant(Place at, ModuleOp module, StringRef name,
                                DenseElementsAttr data) const {
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(at.builder);
    at.builder.setInsertionPointToStart(module.getBody());
    auto type =
        RankedTensorType::get({data.getNumElements()}, data.getElementType());
    LLVM::GlobalOp::create(
        at.builder, at.loc,
        LLVM::LLVMArrayType::get(type.getElementType(), type.getNumElements()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name, data.reshape(type),
        /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(
      at.builder, at.loc, LLVM::LLVMPointerType::get(module.getContext()),
      name);
}
