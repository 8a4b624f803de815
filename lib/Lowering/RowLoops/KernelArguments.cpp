//===- KernelArguments.cpp - a kernel's tensors as flat buffers -----------===//

#include "dtc/Lowering/RowLoops/KernelArguments.h"
#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace dtc;

MemRefType dtc::getFlatType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getNumElements(), getMemoryType(type));
}

KernelArguments::KernelArguments(func::FuncOp kernel, Block &block)
    : results(kernel.getNumResults()) {
  Location loc = kernel.getLoc();
  for (BlockArgument argument : kernel.getArguments()) {
    Value memref = block.addArgument(getFlatType(argument.getType()), loc);
    buffers.tensors[argument] = memref;
    if (auto update = kernel.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), attr::update))
      results[update.getInt()] = memref;
  }
  for (auto [type, memref] : llvm::zip(kernel.getResultTypes(), results))
    if (!memref)
      memref = block.addArgument(getFlatType(type), loc);
  Type byte = IntegerType::get(kernel.getContext(), 8);
  scratch = block.addArgument(MemRefType::get(1, byte), loc);
}

void KernelArguments::assignResults(const RowLoopsPlan &plan) {
  for (auto [statement, memref] : llvm::zip(plan.getResults(), results)) {
    if (statement->result)
      buffers.tensors[statement->result] = memref;
    else
      buffers.copies[statement] = memref;
  }
}

/// The elements of a constant, as its buffer stores them.
static TypedAttr getFlatElements(ElementsAttr elements, MemRefType type) {
  auto flat = RankedTensorType::get(type.getShape(), type.getElementType());
  if (auto dense = dyn_cast<DenseIntElementsAttr>(elements);
      dense && dense.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes(dense.value_begin<bool>(),
                              dense.value_end<bool>());
    return DenseElementsAttr::get(flat, ArrayRef(bytes));
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return DenseResourceElementsAttr::get(flat, resource.getRawHandle());
  return cast<DenseElementsAttr>(elements).reshape(flat);
}

static Value addConstant(OpBuilder &b, Location loc, ElementsAttr elements) {
  MemRefType type = getFlatType(elements.getType());
  TypedAttr value = getFlatElements(elements, type);
  Operation *function = b.getBlock()->getParentOp();
  Operation *module = function->getParentOp();
  for (auto global : module->getRegion(0).getOps<memref::GlobalOp>())
    if (global.getInitialValueAttr() == value && global.getType() == type)
      return memref::GetGlobalOp::create(b, loc, type, global.getSymName());
  OpBuilder before(function);
  auto global = memref::GlobalOp::create(
      before, loc, "constant", b.getStringAttr("private"), type, value,
      /*constant=*/true, b.getI64IntegerAttr(64));
  SymbolTable(module).insert(global, function->getIterator());
  return memref::GetGlobalOp::create(b, loc, type, global.getSymName());
}

/// Whether an op reads the tensor at positions that are data.
static bool isLookedUp(Value tensor) {
  return llvm::any_of(tensor.getUsers(), llvm::IsaPred<tensor::ExtractOp>);
}

void KernelArguments::addConstants(OpBuilder &b, func::FuncOp kernel) {
  for (auto constant : kernel.getOps<arith::ConstantOp>())
    if (auto elements = dyn_cast<ElementsAttr>(constant.getValue()))
      if (!elements.isSplat() || isLookedUp(constant))
        buffers.tensors[constant.getResult()] =
            addConstant(b, constant.getLoc(), elements);
}

Value KernelArguments::viewScratch(OpBuilder &b, Location loc, Type element,
                                   int64_t size, int64_t offset) const {
  return viewScratch(b, loc, element, size,
                     arith::ConstantIndexOp::create(b, loc, offset));
}

Value KernelArguments::viewScratch(OpBuilder &b, Location loc, Type element,
                                   int64_t size, Value offset) const {
  return memref::ViewOp::create(b, loc, MemRefType::get(size, element), scratch,
                                offset, ValueRange());
}

int64_t ScratchLayout::getStride(Type element, int64_t size) {
  constexpr int64_t alignment = 64;
  return llvm::alignTo(
      size * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8), alignment);
}

int64_t ScratchLayout::add(Type element, int64_t size, int64_t count) {
  int64_t offset = bytes;
  bytes += getStride(element, size) * count;
  return offset;
}
