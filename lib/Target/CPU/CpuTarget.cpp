//===- CpuTarget.cpp - lowering for CPUs ----------------------------------===//
//
// Kernels are functions and the arena is host memory, so launches are calls.
// This file lists the passes that compile kernels in order. The comment on each
// pass says what holds after it and why it runs at that place.
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

// Epilogues gain nothing: a kernel finds the matmul's result in the cache.
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
  // Kernels are loops on buffers. No tensors are left.
  manager.addPass(createLowerKernels(options));
  // Index arithmetic and constants of adjacent chunks are shared.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Random numbers and rounding to bf16 are integer arithmetic, and vector code
  // of f32 calls no library. Processors have an instruction that rounds to
  // bf16, but LLVM 22 has no pattern for some shuffles that it leads to, and a
  // step would not be faster.
  manager.addPass(createExpandMath());
  // Each loop that threads share is a function of its own.
  manager.addPass(createOutlineLoops());
}

void dtc::buildLowerToLLVMPipeline(OpPassManager &manager) {
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createSCFToControlFlowPass());
  // Math functions are instructions, or calls of libm for each lane (f64 only).
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
  // No value has the type bf16: it is i16. Runs after all passes that create
  // bf16 values.
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
