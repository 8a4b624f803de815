//===- LowerLaunches.cpp - lowering of launches to runtime calls ----------===//
//
// A lowered kernel is an `llvm.func` on the host. It takes the kernel's buffers
// and the context, and calls the runtime for each launch.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Runtime/DeviceABI.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERLAUNCHES
#include "dtc/Target/CUDA/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

class LauncherLowering {
public:
  LauncherLowering(func::FuncOp source,
                   const llvm::StringMap<int64_t> &functions)
      : source(source), functions(functions), loc(source.getLoc()), b(source),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  LogicalResult run();

private:
  LogicalResult lower(Operation *op);
  LogicalResult lower(gpu::LaunchFuncOp launch);
  LogicalResult lower(gpu::MemsetOp fill);
  Value integer(int64_t value, unsigned bits) {
    return LLVM::ConstantOp::create(b, loc, b.getIntegerType(bits), value);
  }
  void call(StringRef name, ArrayRef<Value> arguments);
  Value addressOf(Value memref);

  func::FuncOp source;
  const llvm::StringMap<int64_t> &functions;
  Location loc;
  OpBuilder b;
  Type pointer;
  LLVM::LLVMFuncOp lowered;
  Value context;
  Value arguments; ///< array for the addresses of a launch
};

} // namespace

/// Declares the runtime's function once in the module.
void LauncherLowering::call(StringRef name, ArrayRef<Value> operands) {
  auto module = source->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
    callee = LLVM::LLVMFuncOp::create(
        end, loc, name,
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(b.getContext()),
            llvm::to_vector(ValueRange(operands).getTypes())));
  }
  LLVM::CallOp::create(b, loc, callee, operands);
}

/// The address of a buffer: an argument, or a part of scratch.
Value LauncherLowering::addressOf(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return lowered.getArgument(argument.getArgNumber());
  auto view = memref.getDefiningOp<memref::ViewOp>();
  APInt offset;
  bool isConstant = matchPattern(view.getByteShift(), m_ConstantInt(&offset));
  assert(isConstant && "parts of scratch begin at constants");
  (void)isConstant;
  return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(),
                             addressOf(view.getSource()),
                             LLVM::GEPArg(integer(offset.getSExtValue(), 64)));
}

LogicalResult LauncherLowering::lower(gpu::LaunchFuncOp launch) {
  auto found = functions.find(launch.getKernelName().getValue());
  APInt blocks, threads;
  if (found == functions.end() ||
      !matchPattern(launch.getGridSizeX(), m_ConstantInt(&blocks)) ||
      !matchPattern(launch.getBlockSizeX(), m_ConstantInt(&threads)))
    return launch.emitOpError(
        "expected a function of @device and constant sizes");
  if (launch.getNumKernelOperands() > DTC_MAX_DEVICE_ARGUMENTS)
    return launch.emitOpError("takes ")
           << launch.getNumKernelOperands() << " buffers, expected at most "
           << DTC_MAX_DEVICE_ARGUMENTS
           << "; compile with a smaller --bucket-mb";
  for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands())) {
    Value slot =
        LLVM::GEPOp::create(b, loc, pointer, pointer, arguments,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(b, loc, addressOf(operand), slot);
  }
  call("dtcrt_launch",
       {context, integer(found->second, 32), integer(blocks.getSExtValue(), 64),
        integer(threads.getSExtValue(), 32), arguments});
  return success();
}

LogicalResult LauncherLowering::lower(gpu::MemsetOp fill) {
  auto type = cast<MemRefType>(fill.getDst().getType());
  if (!matchPattern(fill.getValue(), m_AnyZeroFloat()) &&
      !matchPattern(fill.getValue(), m_Zero()))
    return fill.emitOpError("expected zero");
  int64_t bytes = type.getNumElements() *
                  llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  call("dtcrt_fill",
       {context, addressOf(fill.getDst()), integer(0, 32), integer(bytes, 64)});
  return success();
}

LogicalResult LauncherLowering::lower(Operation *op) {
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return lower(launch);
  if (auto fill = dyn_cast<gpu::MemsetOp>(op))
    return lower(fill);
  if (isa<arith::ConstantOp, memref::ViewOp, func::ReturnOp>(op))
    return success();
  return op->emitOpError("is no launch");
}

LogicalResult LauncherLowering::run() {
  SmallVector<Type> types(source.getNumArguments() + 1, pointer);
  lowered = LLVM::LLVMFuncOp::create(
      b, loc, source.getName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  types));
  for (NamedAttribute attribute : source->getDiscardableAttrs())
    lowered->setAttr(attribute.getName(), attribute.getValue());
  b.setInsertionPointToStart(lowered.addEntryBlock(b));
  context = lowered.getArguments().back();
  size_t most = 1;
  for (auto launch : source.getOps<gpu::LaunchFuncOp>())
    most = std::max<size_t>(most, launch.getNumKernelOperands());
  arguments =
      LLVM::AllocaOp::create(b, loc, pointer, pointer, integer(most, 32));
  for (Operation &op : source.front())
    if (failed(lower(&op)))
      return failure();
  LLVM::ReturnOp::create(b, loc, ValueRange());
  for (unsigned i = 0; i < source.getNumArguments(); ++i)
    if (DictionaryAttr attributes = source.getArgAttrDict(i))
      lowered.setArgAttrs(i, attributes);
  source.erase();
  return success();
}

bool dtc::isWritten(Value memref) {
  return llvm::any_of(memref.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<memref::ViewOp, memref::CastOp>(user))
      return isWritten(user->getResult(0));
    // A buffer that a block has selected (MergeLaunches).
    if (isa<scf::YieldOp>(user))
      return isWritten(user->getParentOp()->getResult(use.getOperandNumber()));
    return !isa<memref::LoadOp, vector::LoadOp>(user);
  });
}

/// Marks arguments of launchers that no launch writes to.
static void annotateReadOnly(func::FuncOp launcher, gpu::GPUModuleOp device) {
  for (BlockArgument argument : launcher.getArguments()) {
    auto isRead = [&](OpOperand &use) {
      auto launch = dyn_cast<gpu::LaunchFuncOp>(use.getOwner());
      if (!launch)
        return false;
      auto function =
          device.lookupSymbol<gpu::GPUFuncOp>(launch.getKernelName());
      unsigned number = use.getOperandNumber() -
                        launch.getKernelOperands().getBeginOperandIndex();
      return function && !isWritten(function.getArgument(number));
    };
    if (llvm::all_of(argument.getUses(), isRead))
      launcher.setArgAttr(argument.getArgNumber(),
                          LLVM::LLVMDialect::getReadonlyAttrName(),
                          UnitAttr::get(launcher.getContext()));
  }
}

namespace {

struct LowerLaunches : dtc::impl::LowerLaunchesBase<LowerLaunches> {
  using LowerLaunchesBase::LowerLaunchesBase;

  void runOnOperation() override {
    for (auto device :
         llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>())) {
      llvm::StringMap<int64_t> functions;
      for (auto function : device.getOps<gpu::GPUFuncOp>())
        functions.try_emplace(function.getName(), functions.size());
      for (auto launcher :
           llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
        if (!launcher->hasAttr(attr::kernel))
          continue;
        annotateReadOnly(launcher, device);
        if (failed(LauncherLowering(launcher, functions).run()))
          return signalPassFailure();
      }
    }
  }
};

} // namespace
