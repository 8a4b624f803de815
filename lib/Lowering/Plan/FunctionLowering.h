//===- FunctionLowering.h - lowering of one function to calls ---*- C++ -*-===//
//
// Shared by the files that lower stage functions and plans: addresses of
// tensors, and calls of the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_LOWERING_PLAN_FUNCTIONLOWERING_H
#define DTC_LIB_LOWERING_PLAN_FUNCTIONLOWERING_H

#include "PlanManifest.h"
#include "RuntimeFunctions.h"
#include "dtc/Lowering/Program.h"
#include "dtc/Lowering/Target.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Slots.h"
#include "dtc/Runtime/ABI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace dtc {

/// The place of a tensor: a base pointer and an offset.
struct Address {
  mlir::Value base;
  int64_t offset = 0;

  bool operator==(const Address &other) const {
    return base == other.base && offset == other.offset;
  }
};

/// State shared by all functions of a module.
struct ModuleContext {
  ModuleContext(mlir::ModuleOp module, const Target &target)
      : module(module), target(target), manifest(module) {}

  mlir::ModuleOp module;
  const Target &target;
  PlanManifest manifest;
  Slots slots;
  /// The largest scratch, in bytes, of any kernel or collective.
  int64_t scratchBytes = 0;

  /// Declares a function of the runtime, once.
  mlir::LLVM::LLVMFuncOp getRuntime(llvm::StringRef name,
                                    mlir::TypeRange arguments) {
    if (auto found = module.lookupSymbol<mlir::LLVM::LLVMFuncOp>(name))
      return found;
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
    return mlir::LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), name,
        mlir::LLVM::LLVMFunctionType::get(
            mlir::LLVM::LLVMVoidType::get(module.getContext()),
            llvm::to_vector(arguments)));
  }
};

/// Lowers one function. A stage function becomes
///   void stageN_name(ctx, frame, scratch, arguments..., results...)
/// without the results that overwrite an argument. A plan becomes
///   void stageN_plan(ctx, arena, host).
class FunctionLowering {
public:
  FunctionLowering(ModuleContext &shared, mlir::func::FuncOp source)
      : shared(shared), source(source), isPlan(source.getSymName() == planName),
        classes(source.front()), homes(source, classes),
        builder(mlir::OpBuilder::atBlockEnd(shared.module.getBody())),
        pointer(mlir::LLVM::LLVMPointerType::get(builder.getContext())) {}

  llvm::LogicalResult run();

  // Operations that library calls are built with.

  /// The runtime's context, and memory that is free during a call.
  mlir::Value getContext() const { return context; }
  mlir::Value getScratch() const { return scratch; }
  void needScratch(int64_t bytes) {
    shared.scratchBytes = std::max(shared.scratchBytes, bytes);
  }
  /// The address of a product's result, and a set of dtc_result flags. If the
  /// product is only accumulated, it is added to the accumulator directly.
  std::pair<mlir::Value, int32_t> getDestination(mlir::OpResult product);
  mlir::Value pointerTo(Address address);
  mlir::Value pointerTo(mlir::Value value) {
    return pointerTo(addressOf(value));
  }
  mlir::Value integer(int64_t value, unsigned bits = 32) {
    return mlir::LLVM::ConstantOp::create(
        builder, loc, builder.getIntegerType(bits),
        builder.getIntegerAttr(builder.getIntegerType(bits), value));
  }
  mlir::Value number(mlir::FloatAttr value) {
    return mlir::LLVM::ConstantOp::create(builder, loc, value.getType(), value);
  }
  mlir::Value null() {
    return mlir::LLVM::ZeroOp::create(builder, loc, pointer);
  }
  mlir::Value pointerToSymbol(llvm::StringRef symbol) {
    return mlir::LLVM::AddressOfOp::create(builder, loc, pointer, symbol);
  }
  mlir::LLVM::CallOp call(llvm::StringRef name,
                          llvm::ArrayRef<mlir::Value> arguments) {
    auto callee =
        shared.getRuntime(name, mlir::ValueRange(arguments).getTypes());
    return mlir::LLVM::CallOp::create(builder, loc, callee, arguments);
  }

private:
  Address getRootAddress(mlir::Value root);
  llvm::LogicalResult lower(mlir::Operation *op);
  /// Tell the runtime that a launch or library call begins or ends.
  void beginOp(mlir::Operation *op);
  void endOp(mlir::Operation *op);
  /// Fails if a started collective would have to reorder blocks: it has no
  /// scratch.
  llvm::LogicalResult checkStart(mlir::Operation *op);
  llvm::LogicalResult finish(mlir::func::ReturnOp op);

  llvm::LogicalResult emit(mlir::Operation *op);
  void emit(LaunchOp op);
  void emit(RunOp op);
  void emit(CollectiveOpInterface op);
  void emit(LocalSliceOp op);
  void emit(SendOp op);
  void emit(RecvOp op);
  void emit(WaitOp op);
  void emit(RecordOp op);
  void emit(ZeroOp op);
  void emit(CopyOp op);
  void emit(PoisonOp op);
  mlir::Value getConstant(ConstantOp op);

  Address addressOf(mlir::Value value);
  /// Translates an offset that PlanMemory gave an argument of a plan to an
  /// address.
  Address getPlanAddress(int64_t offset);
  int64_t getPlanOffset(Address address);
  /// Calls a function of the table. `get` returns each argument except the
  /// context.
  void callCommunication(const RuntimeFunction &function,
                         llvm::function_ref<mlir::Value(CallArgument)> get,
                         mlir::Operation *op);
  template <typename Op>
  void emitMessage(EventKind kind, Op op, CallArgument buffer,
                   mlir::Value data);
  Target::Place here() { return {builder, loc, context}; }
  void fill(Address address, uint8_t byte, int64_t bytes);
  void copy(Address from, Address to, int64_t bytes) {
    shared.target.createCopy(here(), pointerTo(to), pointerTo(from), bytes);
  }

  ModuleContext &shared;
  mlir::func::FuncOp source;
  bool isPlan;
  AliasClasses classes;
  MemoryHomes homes;
  mlir::OpBuilder builder;
  mlir::Type pointer;
  mlir::Location loc = source.getLoc();
  mlir::LLVM::LLVMFuncOp target;
  mlir::Value context, frame, scratch;
  mlir::Value host; ///< a plan's memory of the host
  llvm::DenseMap<mlir::Operation *, size_t> constants;
  /// The caller's memory for arguments and for results.
  llvm::SmallVector<Address> argumentAddresses, resultAddresses;
};

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_FUNCTIONLOWERING_H
