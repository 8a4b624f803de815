//===- CudaTarget.cpp - lowering for NVIDIA GPUs --------------------------===//
//
// Kernels are host functions that launch device functions, and the arena is
// memory of the device. So every action of a plan is a call of the runtime.
//
//===----------------------------------------------------------------------===//

#include "dtc/Target/CUDA/CudaTarget.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Runtime/DeviceReserve.h"
#include "dtc/Target/CUDA/Passes.h"

using namespace mlir;
using namespace dtc;

// PTX 8.0 supports Hopper, and 8.6 Blackwell.
ArrayRef<CudaArchitecture> CudaArchitecture::getAll() {
  static const CudaArchitecture all[] = {
      {"sm_80", "+ptx80", false}, {"sm_86", "+ptx80", false},
      {"sm_89", "+ptx80", false}, {"sm_90", "+ptx80", true},
      {"sm_100", "+ptx86", true}, {"sm_120", "+ptx87", true}};
  return all;
}

const CudaArchitecture *CudaArchitecture::find(StringRef name) {
  for (const CudaArchitecture &architecture : getAll())
    if (architecture.name == name)
      return &architecture;
  return nullptr;
}

void CudaTarget::addKernelPasses(OpPassManager &manager) const {
  // The library may lack epilogues on the GPU at run time. Runs before kernels
  // are compiled.
  manager.addPass(createAddEpilogueKernels());
  CompileDeviceKernelsOptions options;
  options.isEmulated = isEmulated();
  manager.addPass(createCompileDeviceKernels(options));
}

bool CudaTarget::computes(LibraryFunction function) const {
  switch (function) {
  case LibraryFunction::MatMulEpilogue:
    return isEmulated() || CudaArchitecture::find(architecture)->hasEpilogues;
  case LibraryFunction::GroupedMatMul:
  case LibraryFunction::Pooling:
  case LibraryFunction::Compression:
    return false;
  case LibraryFunction::MatMul:
  case LibraryFunction::Attention:
  case LibraryFunction::PackedAttention:
  case LibraryFunction::Convolution:
    return true;
  }
  llvm_unreachable("all functions are listed");
}

// Limits of cuDNN's attention that hold on all architectures.
AttentionLimits CudaTarget::getAttentionLimits() const {
  AttentionLimits limits;
  limits.boundsMasks = true;
  limits.onlyNarrow = true;
  limits.maxWidth = 128;
  limits.widthMultiple = 8;
  limits.maxScores = scoreBudgetOf(workspace);
  return limits;
}

// 128 bytes of 16-bit numbers. If rows are not aligned, the library uses
// kernels without the tensor memory accelerator, which read element by element.
int64_t CudaTarget::getColumnMultiple() const { return 64; }

static Value createInteger(Target::Place at, int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(at.builder, at.loc,
                                  at.builder.getIntegerType(bits), value);
}

/// Calls a function of the runtime, which is declared once in the module.
static LLVM::CallOp createCall(Target::Place at, StringRef name,
                               TypeRange results, ValueRange operands) {
  Operation *here = at.builder.getBlock()->getParentOp();
  auto module = here->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
    Type result = results.empty() ? LLVM::LLVMVoidType::get(module.getContext())
                                  : results.front();
    callee = LLVM::LLVMFuncOp::create(
        end, at.loc, name,
        LLVM::LLVMFunctionType::get(result,
                                    llvm::to_vector(operands.getTypes())));
  }
  return LLVM::CallOp::create(at.builder, at.loc, callee, operands);
}

void CudaTarget::createLaunch(Place at, LLVM::LLVMFuncOp kernel,
                              ValueRange buffers) const {
  SmallVector<Value> operands(buffers);
  operands.push_back(at.context);
  LLVM::CallOp::create(at.builder, at.loc, TypeRange(), kernel.getSymName(),
                       operands);
}

void CudaTarget::createCopy(Place at, Value to, Value from,
                            int64_t bytes) const {
  createCall(at, "dtcrt_copy", {},
             {at.context, to, from, createInteger(at, bytes, 64)});
}

void CudaTarget::createFill(Place at, Value to, uint8_t byte,
                            int64_t bytes) const {
  createCall(at, "dtcrt_fill", {},
             {at.context, to, createInteger(at, byte, 32),
              createInteger(at, bytes, 64)});
}

/// Constants are in host memory; the runtime copies them to the device.
Value CudaTarget::createConstant(Place at, ModuleOp module, StringRef name,
                                 DenseElementsAttr data) const {
  int64_t number = -1, count = 0;
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global->hasAttr(constantAttrName)) {
      if (global.getSymName() == name)
        number = count;
      ++count;
    }
  if (number < 0) {
    number = count;
    OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
    auto flat =
        RankedTensorType::get({data.getNumElements()}, data.getElementType());
    auto global = LLVM::GlobalOp::create(
        end, at.loc,
        LLVM::LLVMArrayType::get(flat.getElementType(), flat.getNumElements()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name, data.reshape(flat),
        /*alignment=*/64);
    global->setAttr(constantAttrName, end.getUnitAttr());
  }
  return createCall(at, "dtcrt_constant",
                    LLVM::LLVMPointerType::get(module.getContext()),
                    {at.context, createInteger(at, number, 64)})
      .getResult();
}
