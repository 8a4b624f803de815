//===- LowerKernels.cpp - kernels on tensors become loops on buffers ------===//
//
// The signature of a lowered kernel and its memory; the loops themselves are
// planned and emitted by RowLoops*.cpp.
//
//===----------------------------------------------------------------------===//

#include "RowLoops.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Schedule/KernelOps.h"
#include "dtc/Target/CPU/Passes.h"
#include "dtc/Target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "dtc/Target/CPU/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

class KernelLowering {
public:
  KernelLowering(func::FuncOp function, unsigned vectorBits)
      : function(function), loc(function.getLoc()), vectorBits(vectorBits) {}

  LogicalResult run();

private:
  void createFunction();
  void assignResults(const RowLoopsPlan &plan);
  void addConstants(OpBuilder &b);
  Value addConstant(OpBuilder &b, ElementsAttr elements);
  Value allocate(OpBuilder &b, Type element, int64_t size);
  unsigned getLanes();

  func::FuncOp function, lowered;
  Location loc;
  unsigned vectorBits;
  KernelBuffers buffers;
  /// The memref of each result.
  SmallVector<Value> results;
  BlockArgument scratch;
  int64_t scratchBytes = 0;
};

} // namespace

static MemRefType getFlatType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getNumElements(), getMemoryType(type));
}

/// Creates the function on buffers: arguments, results that do not overwrite
/// an argument, scratch.
void KernelLowering::createFunction() {
  OpBuilder b(function);
  lowered = func::FuncOp::create(b, loc, function.getName(),
                                 b.getFunctionType({}, {}));
  lowered.setVisibility(function.getVisibility());
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    lowered->setAttr(attribute.getName(), attribute.getValue());
  Block *entry = lowered.addEntryBlock();
  results.resize(function.getNumResults());
  for (BlockArgument argument : function.getArguments()) {
    Value memref = entry->addArgument(getFlatType(argument.getType()), loc);
    buffers.tensors[argument] = memref;
    if (auto update = function.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), attr::update))
      results[update.getInt()] = memref;
  }
  for (auto [type, memref] : llvm::zip(function.getResultTypes(), results))
    if (!memref)
      memref = entry->addArgument(getFlatType(type), loc);
  scratch = entry->addArgument(MemRefType::get(1, b.getI8Type()), loc);
}

void KernelLowering::assignResults(const RowLoopsPlan &plan) {
  for (auto [statement, memref] : llvm::zip(plan.getResults(), results)) {
    if (statement->result)
      buffers.tensors[statement->result] = memref;
    else
      buffers.copies[statement] = memref;
  }
}

/// A global with these elements in the kernel's module; equal ones are shared.
Value KernelLowering::addConstant(OpBuilder &b, ElementsAttr elements) {
  MemRefType type = getFlatType(elements.getType());
  auto flat = RankedTensorType::get(type.getShape(), type.getElementType());
  TypedAttr value;
  if (auto dense = dyn_cast<DenseIntElementsAttr>(elements);
      dense && dense.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes(dense.value_begin<bool>(),
                              dense.value_end<bool>());
    value = DenseElementsAttr::get(flat, ArrayRef(bytes));
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    value = DenseResourceElementsAttr::get(flat, resource.getRawHandle());
  } else {
    value = cast<DenseElementsAttr>(elements).reshape(flat);
  }

  Operation *module = function->getParentOp();
  for (auto global : module->getRegion(0).getOps<memref::GlobalOp>())
    if (global.getInitialValueAttr() == value && global.getType() == type)
      return memref::GetGlobalOp::create(b, loc, type, global.getSymName());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(lowered);
  auto global = memref::GlobalOp::create(
      b, loc, "constant", b.getStringAttr("private"), type, value,
      /*constant=*/true, b.getI64IntegerAttr(64));
  SymbolTable(module).insert(global, lowered->getIterator());
  b.setInsertionPointToStart(&lowered.front());
  return memref::GetGlobalOp::create(b, loc, type, global.getSymName());
}

/// Whether something reads the tensor at positions that are data.
static bool isLookedUp(Value tensor) {
  return llvm::any_of(tensor.getUsers(), llvm::IsaPred<tensor::ExtractOp>);
}

void KernelLowering::addConstants(OpBuilder &b) {
  for (auto constant : function.getOps<arith::ConstantOp>())
    if (auto elements = dyn_cast<ElementsAttr>(constant.getValue()))
      if (!elements.isSplat() || isLookedUp(constant))
        buffers.tensors[constant.getResult()] = addConstant(b, elements);
}

/// A part of the scratch buffer.
Value KernelLowering::allocate(OpBuilder &b, Type element, int64_t size) {
  constexpr int64_t alignment = 64;
  Value offset = arith::ConstantIndexOp::create(b, loc, scratchBytes);
  scratchBytes += llvm::alignTo(
      size * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8), alignment);
  return memref::ViewOp::create(b, loc, MemRefType::get(size, element), scratch,
                                offset, ValueRange());
}

/// How many elements of the narrowest kind of number fill a vector register.
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
  createFunction();
  OpBuilder b = OpBuilder::atBlockEnd(&lowered.front());
  b.setInsertionPoint(func::ReturnOp::create(b, loc));
  assignResults(*plan);
  addConstants(b);
  plan->forEachStored([&](Statement &statement) {
    if (!statement.result)
      return;
    Value tensor = statement.result;
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!buffers.tensors.count(tensor))
      buffers.tensors[tensor] =
          allocate(b, getMemoryType(type), type.getNumElements());
  });
  emitRowLoops(
      b, loc, *plan, buffers, getLanes(),
      [&](Type element, int64_t size) { return allocate(b, element, size); });

  Block &entry = lowered.front();
  if (scratchBytes == 0) {
    entry.eraseArgument(scratch.getArgNumber());
  } else {
    scratch.setType(MemRefType::get(scratchBytes, b.getI8Type()));
    lowered->setAttr(scratchAttrName, b.getI64IntegerAttr(scratchBytes));
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
      if (failed(KernelLowering(kernel, vectorBits).run()))
        signalPassFailure();
  }
};

} // namespace
