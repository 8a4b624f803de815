//===- FunctionLowering.h - a function becomes a list of calls --*- C++ -*-===//
//
// What the files share that lower a stage's functions and plans: where tensors
// are, and how a call of the runtime is written.
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

/// Where a tensor is.
struct Address {
  mlir::Value base;
  int64_t offset = 0;

  bool operator==(const Address &other) const {
    return base == other.base && offset == other.offset;
  }
};

/// What all functions of a module share.
struct ModuleContext {
  ModuleContext(mlir::ModuleOp module, const Target &target)
      : module(module), target(target), manifest(module) {}

  mlir::ModuleOp module;
  const Target &target;
  PlanManifest manifest;
  Slots slots;
  /// Bytes of scratch that the hungriest kernel or collective needs.
  int64_t scratchBytes = 0;

  /// Declares a function of the runtime once.
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

/// Lowers one function. A stage's function becomes
///   void stageN_name(ctx, frame, scratch, arguments..., results...)
/// without the results that overwrite an argument, and a plan
///   void stageN_plan(ctx, arena, host).
class FunctionLowering {
public:
  FunctionLowering(ModuleContext &shared, mlir::func::FuncOp source)
      : shared(shared), source(source), isPlan(source.getSymName() == planName),
        classes(source.front()), homes(source, classes),
        builder(mlir::OpBuilder::atBlockEnd(shared.module.getBody())),
        pointer(mlir::LLVM::LLVMPointerType::get(builder.getContext())) {}

  llvm::LogicalResult run();

  // What a library call is written with.

  /// The runtime's context, and memory that is free during a call.
  mlir::Value getContext() const { return context; }
  mlir::Value getScratch() const { return scratch; }
  void needScratch(int64_t bytes) {
    shared.scratchBytes = std::max(shared.scratchBytes, bytes);
  }
  /// Where a product goes, and how (a set of dtc_result): one that is only
  /// accumulated is added where it belongs.
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
  /// Tells the runtime of a launch or library call, before and after.
  void beginOp(mlir::Operation *op);
  void endOp(mlir::Operation *op);
  /// What starts has no scratch to put blocks in order.
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
  /// Between an offset that PlanMemory gave an argument of a plan and where
  /// that is.
  Address getPlanAddress(int64_t offset);
  int64_t getPlanOffset(Address address);
  /// Calls a function of the table, with what `get` says of its arguments but
  /// the context.
  void callCommunication(const RuntimeFunction &function,
                         llvm::function_ref<mlir::Value(CallArgument)> get,
                         mlir::Operation *op);
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
  mlir::Value host; ///< of a plan: its memory of the host
  llvm::DenseMap<mlir::Operation *, size_t> constants;
  /// The caller's memory for arguments and results.
  llvm::SmallVector<Address> argumentAddresses, resultAddresses;
};

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_FUNCTIONLOWERING_H
