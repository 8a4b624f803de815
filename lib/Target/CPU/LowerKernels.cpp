//===- LowerKernels.cpp - lowering of kernels to loops on buffers ---------===//
//
// Builds the signature and the memory of a lowered kernel.
// lib/Lowering/RowLoops plans its loops, and RowLoopsEmitter emits them.
//
//===----------------------------------------------------------------------===//

#include "RowLoopsEmit.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/RowLoops/KernelArguments.h"
#include "dtc/Lowering/RowLoops/Verify.h"
#include "dtc/Lowering/Target.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "dtc/Target/CPU/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

class KernelLowering {
public:
  KernelLowering(func::FuncOp function, unsigned vectorBits, int64_t leastWork)
      : function(function), loc(function.getLoc()), vectorBits(vectorBits),
        leastWork(leastWork) {}

  LogicalResult run();

private:
  unsigned getLanes();

  func::FuncOp function;
  Location loc;
  unsigned vectorBits;
  int64_t leastWork;
};

} // namespace

/// The number of elements of the kernel's narrowest number type that fill a
/// vector register.
unsigned KernelLowering::getLanes() {
  unsigned bits = 64;
  auto narrow = [&](Type type) {
    unsigned width =
        getComputeType(getElementTypeOrSelf(type)).getIntOrFloatBitWidth();
    if (width >= 32)
      bits = std::min(bits, width);
  };
  llvm::for_each(function.getArgumentTypes(), narrow);
  llvm::for_each(function.getResultTypes(), narrow);
  return vectorBits / bits;
}

LogicalResult KernelLowering::run() {
  FailureOr<RowLoopsPlan> plan = RowLoopsPlan::create(function);
  if (failed(plan) || failed(verifyUpdates(function, *plan)))
    return failure();
  OpBuilder b(function);
  auto lowered = func::FuncOp::create(b, loc, function.getName(),
                                      b.getFunctionType({}, {}));
  lowered.setVisibility(function.getVisibility());
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    lowered->setAttr(attribute.getName(), attribute.getValue());
  Block &entry = *lowered.addEntryBlock();
  KernelArguments arguments(function, entry);
  b.setInsertionPointToStart(&entry);
  b.setInsertionPoint(func::ReturnOp::create(b, loc));
  arguments.assignResults(*plan);
  arguments.addConstants(b, function);

  ScratchLayout layout;
  plan->forEachStored([&](Statement &statement) {
    if (!statement.result)
      return;
    auto type = cast<RankedTensorType>(statement.result.getType());
    Value &memref = arguments.buffers.tensors[statement.result];
    if (memref)
      return;
    Type element = getMemoryType(type);
    int64_t size = type.getNumElements();
    memref =
        arguments.viewScratch(b, loc, element, size, layout.add(element, size));
  });
  emitRowLoops(b, loc, *plan, arguments, layout, getLanes(), leastWork);

  if (layout.getBytes() == 0) {
    entry.eraseArgument(arguments.scratch.getArgNumber());
  } else {
    arguments.scratch.setType(
        MemRefType::get(layout.getBytes(), b.getI8Type()));
    lowered->setAttr(scratchAttrName, b.getI64IntegerAttr(layout.getBytes()));
  }
  lowered.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      lowered.setArgAttrs(i, attributes);
  function.erase();
  return success();
}

namespace {

struct LowerKernels : dtc::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp function) {
      if (function->hasAttr(attr::kernel) &&
          llvm::any_of(function.getResultTypes(),
                       llvm::IsaPred<RankedTensorType>))
        kernels.push_back(function);
    });
    for (func::FuncOp kernel : kernels)
      if (failed(KernelLowering(kernel, vectorBits, leastWork).run()))
        signalPassFailure();
  }
};

} // namespace
