//===- LowerPlan.cpp - lowering of stage functions and plans to calls -----===//
//
// Every tensor becomes an address: the start of an arena, of host memory, of a
// frame or of an argument, plus a constant. Kernels have been lowered before.
//
//===----------------------------------------------------------------------===//

#include "FunctionLowering.h"
#include "dtc/Lowering/LibraryCall.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Plan/KernelOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERPLAN
#include "dtc/Lowering/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The name of a stage's function in the flat LLVM module.
static std::string getLoweredName(func::FuncOp function) {
  auto stage = cast<ModuleOp>(function->getParentOp());
  return (*stage.getSymName() + "_" + function.getSymName()).str();
}

/// The result that overwrites each argument of a function; -1 if none does.
static SmallVector<int64_t> getUpdates(FunctionOpInterface function) {
  SmallVector<int64_t> updates(function.getNumArguments(), -1);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto result = function.getArgAttrOfType<IntegerAttr>(i, attr::update))
      updates[i] = result.getInt();
  return updates;
}

Value FunctionLowering::pointerTo(Address address) {
  if (address.offset == 0)
    return address.base;
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                             address.base,
                             LLVM::GEPArg(integer(address.offset, 64)));
}

LogicalResult FunctionLowering::run() {
  SmallVector<int64_t> updates = getUpdates(source);
  unsigned numUpdates =
      llvm::count_if(updates, [](int64_t i) { return i >= 0; });
  unsigned numPointers = isPlan ? 3
                                : 3 + source.getNumArguments() +
                                      source.getNumResults() - numUpdates;
  target = LLVM::LLVMFuncOp::create(
      builder, source.getLoc(), getLoweredName(source),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  SmallVector<Type>(numPointers, pointer)));
  if (!isPlan)
    target.setLinkage(LLVM::Linkage::Internal);
  Block *entry = target.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  context = entry->getArgument(0);
  frame = entry->getArgument(1);

  if (isPlan) {
    auto bytes = source->getAttrOfType<IntegerAttr>(attr::arenaBytes);
    if (!bytes)
      return source.emitError("has no memory plan; run dtc-plan-memory first");
    host = entry->getArgument(2);
    for (unsigned i = 0; i < source.getNumArguments(); ++i)
      argumentAddresses.push_back(getPlanAddress(
          source.getArgAttrOfType<IntegerAttr>(i, attr::offset).getInt()));
    scratch = pointerTo(Address{frame, bytes.getInt()});
  } else {
    scratch = entry->getArgument(2);
    unsigned next = 3;
    for (unsigned i = 0; i < source.getNumArguments(); ++i)
      argumentAddresses.push_back({entry->getArgument(next++)});
    resultAddresses.resize(source.getNumResults());
    for (auto [argument, result] : llvm::enumerate(updates))
      if (result >= 0)
        resultAddresses[result] = argumentAddresses[argument];
    for (Address &address : resultAddresses)
      if (!address.base)
        address.base = entry->getArgument(next++);
  }

  for (Operation &op : source.getBody().front())
    if (failed(lower(&op)))
      return failure();
  LLVM::ReturnOp::create(builder, source.getLoc(), ValueRange());
  return success();
}

Address FunctionLowering::getRootAddress(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return argumentAddresses[argument.getArgNumber()];
  if (auto constant = root.getDefiningOp<ConstantOp>())
    return {getConstant(constant)};
  MemoryHome home = homes.get(root);
  if (home.kind == MemoryHome::Result)
    return resultAddresses[home.index];
  auto offsets =
      root.getDefiningOp()->getAttrOfType<DenseI64ArrayAttr>(attr::offsets);
  return {frame, offsets[cast<OpResult>(root).getResultNumber()]};
}

Address FunctionLowering::getPlanAddress(int64_t offset) {
  if (isInHostMemory(offset))
    return {host, offset - hostMemory};
  return {frame, offset};
}

int64_t FunctionLowering::getPlanOffset(Address address) {
  return address.base == host ? hostMemory + address.offset : address.offset;
}

Address FunctionLowering::addressOf(Value value) {
  Address address = getRootAddress(classes.getRoot(value));
  address.offset += classes.getOffset(value);
  return address;
}

Value FunctionLowering::getConstant(ConstantOp op) {
  std::string name =
      (target.getSymName() + "_constant" +
       Twine(constants.try_emplace(op, constants.size()).first->second))
          .str();
  return shared.target.createConstant(here(), shared.module, name,
                                      cast<DenseElementsAttr>(op.getValue()));
}

std::pair<Value, int32_t> FunctionLowering::getDestination(OpResult product) {
  Type from = product.getOwner()->getOperand(0).getType();
  int32_t flags = getElementTypeOrSelf(from) == getElementTypeOrSelf(product)
                      ? 0
                      : DTC_RESULT_SUMS;
  AccumulateOp sum = getAccumulation(product.getOwner());
  if (sum && product == sum.getX())
    return {sum.getAccumulator(), flags | DTC_RESULT_ADDED};
  return {product, flags};
}

void FunctionLowering::beginOp(Operation *op) {
  call("dtcrt_op_begin", {context, integer(shared.manifest.addOp(op))});
}

void FunctionLowering::endOp(Operation *op) {
  for (OpResult result : op->getResults()) {
    Value written =
        isa<LibraryCallInterface>(op) ? getDestination(result).first : result;
    RankedTensorType type = getLocalType(written.getType());
    if (isa<FloatType>(type.getElementType()))
      call("dtcrt_op_result",
           {context, integer(getElementType(type).code), pointerTo(written),
            integer(type.getNumElements(), 64)});
  }
  call("dtcrt_op_end", {context});
}

LogicalResult FunctionLowering::lower(Operation *op) {
  loc = op->getLoc();
  if (failed(checkStart(op)))
    return failure();
  // The runtime profiles steps only.
  bool isObserved = (isa<LaunchOp>(op) || isa<LibraryCallInterface>(op)) &&
                    isOfStep(cast<ModuleOp>(source->getParentOp()));
  if (isObserved)
    beginOp(op);
  LogicalResult lowered = emit(op);
  if (isObserved)
    endOp(op);
  return lowered;
}

LogicalResult FunctionLowering::emit(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LaunchOp, RunOp, CollectiveOpInterface, LocalSliceOp, SendOp,
            RecvOp, WaitOp, RecordOp, ZeroOp, CopyOp, PoisonOp>(
          [&](auto concrete) {
            emit(concrete);
            return success();
          })
      .Case<LibraryCallInterface>([&](LibraryCallInterface library) {
        library.buildCall(*this);
        return success();
      })
      .Case<func::ReturnOp>([&](auto returned) { return finish(returned); })
      .Default([](Operation *other) -> LogicalResult {
        // No call: a constant, another address, or a sum that the matmul has
        // computed.
        if (isa<ConstantOp>(other) || isView(other) || isMadeByProduct(other))
          return success();
        return other->emitOpError("has no lowering");
      });
}

void FunctionLowering::emit(LaunchOp op) {
  auto kernel = cast<LLVM::LLVMFuncOp>(op.getFunction());
  SmallVector<Value> arguments;
  SmallVector<int64_t> argumentBytes;
  auto add = [&](Value value) {
    arguments.push_back(pointerTo(value));
    argumentBytes.push_back(getLocalBytes(value.getType()));
  };
  for (Value input : op.getInputs())
    add(input);
  for (OpResult result : op->getResults())
    if (!classes.isUpdate(result))
      add(result);
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(scratchAttrName)) {
    arguments.push_back(scratch);
    argumentBytes.push_back(bytes.getInt());
    needScratch(bytes.getInt());
    if (op->hasAttr(attr::poisonScratch))
      fill({scratch}, 0xff, bytes.getInt());
  }
  kernel->setAttr(argumentBytesAttrName,
                  builder.getDenseI64ArrayAttr(argumentBytes));
  shared.target.createLaunch(here(), kernel, arguments);
}

void FunctionLowering::emit(RunOp op) {
  func::FuncOp callee = getCallee(op);
  int64_t offset = op->getAttrOfType<IntegerAttr>(attr::frameOffset).getInt();
  SmallVector<Value> arguments = {context, pointerTo(Address{frame, offset}),
                                  scratch};
  for (Value input : op.getInputs())
    arguments.push_back(pointerTo(input));
  for (OpResult result : op->getResults())
    if (!classes.isUpdate(result))
      arguments.push_back(pointerTo(result));
  call("dtcrt_run_begin", {context, integer(shared.manifest.getPhase(callee)),
                           integer(op.getMicrobatch().value_or(-1))});
  LLVM::CallOp::create(builder, loc, TypeRange(), getLoweredName(callee),
                       arguments);
  call("dtcrt_run_end", {context});
}

void FunctionLowering::emit(RecordOp op) {
  call("dtcrt_record",
       {context, integer(op.getMicrobatch()), pointerTo(op.getX()),
        integer(getLocalBytes(op.getX().getType()), 64)});
}

void FunctionLowering::emit(ZeroOp op) {
  fill(addressOf(op.getY()), 0, getLocalBytes(op.getY().getType()));
}

void FunctionLowering::fill(Address address, uint8_t byte, int64_t bytes) {
  shared.target.createFill(here(), pointerTo(address), byte, bytes);
}

void FunctionLowering::emit(PoisonOp op) {
  fill({frame, static_cast<int64_t>(op.getOffset())}, 0xff, op.getBytes());
}

void FunctionLowering::emit(CopyOp op) {
  copy(addressOf(op.getX()), addressOf(op.getY()),
       getLocalBytes(op.getX().getType()));
}

LogicalResult FunctionLowering::finish(func::ReturnOp op) {
  if (!isPlan) {
    for (auto [value, address] : llvm::zip(op.getOperands(), resultAddresses))
      if (!(addressOf(value) == address))
        copy(addressOf(value), address, getLocalBytes(value.getType()));
    return success();
  }

  // State that lives across steps is copied back to its place.
  llvm::StringMap<Address> kept;
  for (BlockArgument argument : source.getArguments())
    for (StringRef key : {attr::parameter, attr::state})
      if (auto name =
              source.getArgAttrOfType<StringAttr>(argument.getArgNumber(), key))
        kept[name] = addressOf(argument);
  SmallVector<int64_t> results;
  for (OpOperand &operand : op->getOpOperands()) {
    Address address = addressOf(operand.get());
    for (StringRef key : {attr::parameter, attr::state})
      if (auto name = source.getResultAttrOfType<StringAttr>(
              operand.getOperandNumber(), key))
        if (auto found = kept.find(name);
            found != kept.end() && !(found->second == address)) {
          copy(address, found->second, getLocalBytes(operand.get().getType()));
          address = found->second;
        }
    results.push_back(getPlanOffset(address));
  }
  int64_t arenaBytes =
      source->getAttrOfType<IntegerAttr>(attr::arenaBytes).getInt() +
      shared.scratchBytes;
  auto stage = cast<ModuleOp>(source->getParentOp());
  if (isOfEvaluation(stage))
    return shared.manifest.addEval(source, results);
  if (!isOfStep(stage)) {
    shared.manifest.addProgram(stage);
    return success();
  }
  SmallVector<int64_t> arguments;
  for (const Address &address : argumentAddresses)
    arguments.push_back(getPlanOffset(address));
  return shared.manifest.addStage(source, arenaBytes, arguments, results);
}

/// Reports library calls that the target does not support, once for each kind
/// of op.
static LogicalResult checkLibraryCalls(ArrayRef<ModuleOp> stages,
                                       const Target &target) {
  llvm::SmallDenseSet<OperationName> reported;
  for (ModuleOp stage : stages)
    stage.walk([&](LibraryCallInterface op) {
      bool isComputed = target.computes(op.getLibraryFunction()) &&
                        op.isWithin(target.getAttentionLimits());
      if (!isComputed && reported.insert(op->getName()).second)
        op->emitError("has no implementation on target ")
            << target.getName() << ": '" << op->getName()
            << "'; compile with --target cpu";
    });
  return success(reported.empty());
}

/// Fails unless all kernels that plans launch are compiled.
static LogicalResult checkKernels(ArrayRef<ModuleOp> stages) {
  for (ModuleOp stage : stages) {
    WalkResult walk = ModuleOp(stage).walk([](LaunchOp op) {
      if (isa_and_nonnull<LLVM::LLVMFuncOp>(op.getFunction()))
        return WalkResult::advance();
      op.emitOpError("launches a kernel that is no function of LLVM's "
                     "dialect: expected IR after the target compiled kernels");
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}

namespace {

struct LowerPlanPass : public dtc::impl::LowerPlanBase<LowerPlanPass> {
  std::shared_ptr<const Target> target;

  void getDependentDialects(DialectRegistry &registry) const override {
    LowerPlanBase::getDependentDialects(registry);
    registerLibraryCallModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ModuleContext shared(module, *target);
    auto kernels = module.lookupSymbol<ModuleOp>(kernelsName);
    SmallVector<ModuleOp> stages;
    for (ModuleOp stage : module.getOps<ModuleOp>())
      if (stage->hasAttr(attr::stage))
        stages.push_back(stage);
    if (stages.empty()) {
      module.emitError("has no module with '")
          << attr::stage << "': expected plans, as the schedule phase writes";
      return signalPassFailure();
    }

    if (failed(checkLibraryCalls(stages, *target)) ||
        failed(checkKernels(stages)))
      return signalPassFailure();
    for (ModuleOp stage : stages)
      shared.slots.add(stage);
    // Lowers plans last, when the scratch size of all functions is known.
    for (bool isPlan : {false, true})
      for (ModuleOp stage : stages)
        for (auto function : stage.getOps<func::FuncOp>())
          if ((function.getSymName() == planName) == isPlan)
            if (failed(FunctionLowering(shared, function).run()))
              return signalPassFailure();

    for (ModuleOp stage : stages)
      stage.erase();
    if (kernels) {
      for (Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
        // Plans may call the runtime functions that kernels have declared.
        if (auto declared = dyn_cast<LLVM::LLVMFuncOp>(op);
            declared && declared.isExternal() &&
            module.lookupSymbol(declared.getSymName())) {
          declared.erase();
          continue;
        }
        if (auto kernel = dyn_cast<LLVM::LLVMFuncOp>(op);
            kernel && !kernel.isExternal()) {
          // Removes the attributes, which LLVM does not know, after all calls
          // are built.
          for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
            if (DictionaryAttr attributes = kernel.getArgAttrDict(i))
              for (NamedAttribute attribute : attributes)
                if (isa_and_nonnull<DTCDialect>(attribute.getNameDialect()))
                  kernel.removeArgAttr(i, attribute.getName());
          kernel.setLinkage(LLVM::Linkage::Internal);
        }
        op.moveBefore(module.getBody(), module.getBody()->end());
      }
      kernels.erase();
    }
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::json::Value(shared.manifest.finish());
    module->setAttr(manifestAttrName, StringAttr::get(&getContext(), text));
  }
};

} // namespace

std::unique_ptr<Pass>
dtc::createLowerPlan(std::shared_ptr<const Target> target) {
  auto pass = std::make_unique<LowerPlanPass>();
  pass->target = std::move(target);
  return pass;
}
