//===- EmulateDevice.cpp - emulation of device functions ------------------===//
//
// Emits the code of one thread. Operations of the device are calls through
// `dtc_emulated_thread` (include/dtc/Runtime/DeviceABI.h), which also counts
// the iterations of loops.
//
//===----------------------------------------------------------------------===//

#include "dtc/Target/CUDA/CudaTarget.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace dtc {
#define GEN_PASS_DEF_EMULATEDEVICE
#include "dtc/Target/CUDA/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Fields of dtc_emulated_thread.
enum class Field : int32_t {
  Thread,
  Block,
  Shared,
  Barrier,
  Shuffle,
  Iterations
};

class Emulation {
public:
  Emulation(gpu::GPUFuncOp source, OpBuilder &b)
      : source(source), b(b), loc(source.getLoc()),
        pointer(LLVM::LLVMPointerType::get(b.getContext())),
        thread(LLVM::LLVMStructType::getLiteral(
            b.getContext(), {b.getI32Type(), b.getI32Type(), pointer, pointer,
                             pointer, b.getI64Type()})) {}

  LogicalResult run();

private:
  Value addressOf(Field field);
  Value load(Type type, Field field);
  Value makeMemref(MemRefType type, Value address);
  void passArguments();
  LogicalResult replace(Operation *op);
  void countIteration(Block &body);

  gpu::GPUFuncOp source;
  OpBuilder &b;
  Location loc;
  Type pointer, thread;
  func::FuncOp lowered;
  Value self;
};

} // namespace

Value Emulation::addressOf(Field field) {
  return LLVM::GEPOp::create(
      b, loc, pointer, thread, self,
      ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(field)});
}

Value Emulation::load(Type type, Field field) {
  return LLVM::LoadOp::create(b, loc, type, addressOf(field));
}

/// Builds a memref for the buffer at an address.
Value Emulation::makeMemref(MemRefType type, Value address) {
  Type i64 = b.getI64Type();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto structure = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {pointer, pointer, i64, array, array});
  Value descriptor = LLVM::PoisonOp::create(b, loc, structure);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(b, loc, descriptor, value, position);
  };
  auto integer = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, i64, value);
  };
  insert(address, 0);
  insert(address, 1);
  insert(integer(0), 2);
  insert(integer(type.getNumElements()), {3, 0});
  insert(integer(1), {4, 0});
  return UnrealizedConversionCastOp::create(b, loc, type, descriptor)
      .getResult(0);
}

/// Replaces arguments by buffers of the address array and of shared memory.
void Emulation::passArguments() {
  Value addresses = lowered.getArgument(1);
  SmallVector<int64_t> places;
  for (BlockArgument argument : source.getArguments().take_front(
           source.getFunctionType().getNumInputs())) {
    auto type = cast<MemRefType>(argument.getType());
    int64_t size = type.getNumElements() *
                   llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    places.push_back(isWritten(argument) ? -size : size);
    Value slot = LLVM::GEPOp::create(
        b, loc, pointer, pointer, addresses,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(argument.getArgNumber())});
    argument.replaceAllUsesWith(
        makeMemref(type, LLVM::LoadOp::create(b, loc, pointer, slot)));
  }
  int64_t bytes = 0;
  for (BlockArgument buffer : source.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    Value address = LLVM::GEPOp::create(
        b, loc, pointer, b.getI8Type(), load(pointer, Field::Shared),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
    bytes = llvm::alignTo(
        bytes + type.getNumElements() *
                    llvm::divideCeil(type.getElementTypeBitWidth(), 8),
        16);
    buffer.replaceAllUsesWith(makeMemref(
        MemRefType::get(type.getShape(), type.getElementType()), address));
  }
  lowered->setAttr(sharedBytesAttrName, b.getI64IntegerAttr(bytes));
  lowered->setAttr(placesAttrName, b.getDenseI64ArrayAttr(places));
}

LogicalResult Emulation::replace(Operation *op) {
  b.setInsertionPoint(op);
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp>(op)) {
    Value number =
        load(b.getI32Type(),
             isa<gpu::ThreadIdOp>(op) ? Field::Thread : Field::Block);
    op->replaceAllUsesWith(
        arith::IndexCastOp::create(b, loc, b.getIndexType(), number));
  } else if (isa<gpu::BarrierOp>(op)) {
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(b.getContext()), {pointer});
    LLVM::CallOp::create(b, loc, type,
                         ValueRange{load(pointer, Field::Barrier), self});
  } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    if (shuffle.getMode() != gpu::ShuffleMode::XOR)
      return op->emitOpError("expected the mode xor");
    Type i32 = b.getI32Type();
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i32, i32});
    Value word = b.createOrFold<arith::BitcastOp>(loc, i32, shuffle.getValue());
    Value got =
        LLVM::CallOp::create(b, loc, type,
                             ValueRange{load(pointer, Field::Shuffle), self,
                                        word, shuffle.getOffset()})
            .getResult();
    shuffle.getShuffleResult().replaceAllUsesWith(
        b.createOrFold<arith::BitcastOp>(loc, shuffle.getValue().getType(),
                                         got));
  } else if (isa<gpu::ReturnOp>(op)) {
    func::ReturnOp::create(b, loc);
  } else {
    return op->emitOpError("has no emulation");
  }
  op->erase();
  return success();
}

void Emulation::countIteration(Block &body) {
  b.setInsertionPointToStart(&body);
  Type i64 = b.getI64Type();
  Value one = LLVM::ConstantOp::create(b, loc, i64, 1);
  Value sum = LLVM::AddOp::create(b, loc, load(i64, Field::Iterations), one);
  LLVM::StoreOp::create(b, loc, sum, addressOf(Field::Iterations));
}

LogicalResult Emulation::run() {
  lowered =
      func::FuncOp::create(b, loc, (emulatedPrefix + source.getName()).str(),
                           b.getFunctionType({pointer, pointer}, {}));
  lowered.setPrivate();
  OpBuilder::InsertionGuard guard(b);
  Block *entry = lowered.addEntryBlock();
  self = entry->getArgument(0);
  b.setInsertionPointToStart(entry);
  passArguments();
  entry->getOperations().splice(entry->end(), source.front().getOperations());
  SmallVector<Operation *> ops;
  lowered.walk([&](Operation *op) {
    if (isa<gpu::GPUDialect>(op->getDialect()))
      ops.push_back(op);
  });
  if (llvm::any_of(ops, llvm::IsaPred<gpu::BarrierOp, gpu::ShuffleOp>))
    lowered->setAttr(meetsAttrName, b.getUnitAttr());
  for (Operation *op : ops)
    if (failed(replace(op)))
      return failure();
  lowered.walk([&](LoopLikeOpInterface loop) {
    countIteration(loop.getLoopRegions().back()->front());
  });
  return success();
}

namespace {

struct EmulateDevice : dtc::impl::EmulateDeviceBase<EmulateDevice> {
  using EmulateDeviceBase::EmulateDeviceBase;

  void runOnOperation() override {
    for (auto device :
         llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>())) {
      OpBuilder b(device);
      for (Operation &op :
           llvm::make_early_inc_range(device.getBody()->without_terminator())) {
        auto function = dyn_cast<gpu::GPUFuncOp>(op);
        if (!function) // skip constants
          op.moveBefore(device);
        else if (failed(Emulation(function, b).run()))
          return signalPassFailure();
      }
      device.erase();
    }
    getOperation()->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};

} // namespace
