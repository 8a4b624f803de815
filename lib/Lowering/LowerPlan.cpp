//===- LowerPlan.cpp - stage functions and plans become lists of calls ----===//
//
// Every tensor is an address: the start of an arena, a frame or an argument,
// plus a constant. Kernels have been lowered before.
//
//===----------------------------------------------------------------------===//

#include "PlanManifest.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Lowering/Program.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Schedule/MemoryPlan.h"
#include "dtc/Schedule/Skeleton.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERPLAN
#include "dtc/Lowering/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Where a tensor is.
struct Address {
  Value base;
  int64_t offset = 0;

  bool operator==(const Address &other) const {
    return base == other.base && offset == other.offset;
  }
};

/// What all functions of a module share.
struct ModuleContext {
  ModuleOp module;
  PlanManifest manifest;
  /// Bytes of scratch that the hungriest kernel or collective needs.
  int64_t scratchBytes = 0;

  /// Declares a function of the runtime once.
  LLVM::LLVMFuncOp getRuntime(StringRef name, TypeRange arguments) {
    if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return found;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    return LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(module.getContext()),
            llvm::to_vector(arguments)));
  }
};

/// The name of a stage's function in the flat LLVM module.
std::string getLoweredName(func::FuncOp function) {
  auto stage = cast<ModuleOp>(function->getParentOp());
  return (*stage.getSymName() + "_" + function.getSymName()).str();
}

/// A prefix keeps a kernel's name, such as `exp`, apart from libm's.
std::string getLoweredName(LLVM::LLVMFuncOp kernel) {
  return ("kernel_" + kernel.getSymName()).str();
}

/// Which result each argument of a function becomes; -1 for none.
SmallVector<int64_t> getUpdates(FunctionOpInterface function) {
  SmallVector<int64_t> updates(function.getNumArguments(), -1);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto result = function.getArgAttrOfType<IntegerAttr>(i, attr::update))
      updates[i] = result.getInt();
  return updates;
}

/// Lowers one function. A stage's function becomes
///   void stageN_name(ctx, frame, scratch, arguments..., results...)
/// without the results that overwrite an argument, and a plan
///   void stageN_plan(ctx, arena).
class FunctionLowering {
public:
  FunctionLowering(ModuleContext &shared, func::FuncOp source)
      : shared(shared), source(source), isPlan(source.getSymName() == planName),
        classes(source.front()), homes(source, classes),
        builder(OpBuilder::atBlockEnd(shared.module.getBody())),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

  LogicalResult run();

private:
  Address getRootAddress(Value root);
  LogicalResult lower(Operation *op);
  LogicalResult finish(func::ReturnOp op);

  void emit(LaunchOp op);
  void emit(RunOp op);
  void emit(MatMulOp op);
  void emit(Conv2DOp op);
  void emit(Conv2DInputGradOp op);
  void emit(Conv2DFilterGradOp op);
  void emit(MaxPool2DOp op);
  void emit(MaxPool2DGradOp op);
  void emit(SumPool2DOp op);
  void emit(SumPool2DGradOp op);
  void emit(AllReduceOp op);
  void emit(AllGatherOp op);
  void emit(ReduceScatterOp op);
  void emit(LocalSliceOp op);
  void emit(SendOp op);
  void emit(RecvOp op);
  void emit(WaitOp op);
  void emit(ZeroOp op);
  Value getConstant(ConstantOp op);

  std::pair<Value, bool> getDestination(OpResult product);
  void callConvolution(Operation *op, dtc_conv_role role, const Window &window,
                       Value x, Value filters, Value y);
  void callPooling(Operation *op, dtc_pool_role role, const Window &window,
                   Value x, Value y, Value dx);
  Address addressOf(Value value);
  Value pointerTo(Address address);
  Value pointerTo(Value value) { return pointerTo(addressOf(value)); }
  Value integer(int64_t value, unsigned bits = 32) {
    return LLVM::ConstantOp::create(
        builder, loc, builder.getIntegerType(bits),
        builder.getIntegerAttr(builder.getIntegerType(bits), value));
  }
  LLVM::CallOp call(StringRef name, ArrayRef<Value> arguments) {
    auto callee = shared.getRuntime(name, ValueRange(arguments).getTypes());
    return LLVM::CallOp::create(builder, loc, callee, arguments);
  }
  /// Calls the function, or, where the op has a slot, the one that starts it.
  template <typename Op>
  void callCollective(const Twine &name, Op op, ArrayRef<Value> rest) {
    SmallVector<Value> arguments = {
        context, integer(shared.manifest.getGroup(op.getAxes()))};
    auto slot = op->template getAttrOfType<IntegerAttr>(attr::slot);
    if (slot)
      arguments.push_back(integer(slot.getInt()));
    arguments.append(rest.begin(), rest.end());
    LLVM::CallOp made = call((name + (slot ? "_start" : "")).str(), arguments);
    if (Attribute number = op->getAttr(attr::value))
      made->setAttr(attr::value, number);
  }
  void needScratch(int64_t bytes) {
    shared.scratchBytes = std::max(shared.scratchBytes, bytes);
  }
  void copy(Address from, Address to, int64_t bytes) {
    LLVM::MemcpyOp::create(builder, loc, pointerTo(to), pointerTo(from),
                           integer(bytes, 64), /*isVolatile=*/false);
  }

  ModuleContext &shared;
  func::FuncOp source;
  bool isPlan;
  AliasClasses classes;
  MemoryHomes homes;
  OpBuilder builder;
  Type pointer;
  Location loc = source.getLoc();
  LLVM::LLVMFuncOp target;
  Value context, frame, scratch;
  llvm::DenseMap<Operation *, size_t> constants;
  /// The caller's memory for arguments and results.
  SmallVector<Address> argumentAddresses, resultAddresses;
};

} // namespace

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
  unsigned numPointers = isPlan ? 2
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
    for (unsigned i = 0; i < source.getNumArguments(); ++i)
      argumentAddresses.push_back(
          {frame,
           source.getArgAttrOfType<IntegerAttr>(i, attr::offset).getInt()});
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

Address FunctionLowering::addressOf(Value value) {
  Address address = getRootAddress(classes.getRoot(value));
  address.offset += classes.getOffset(value);
  return address;
}

/// The read-only data of a constant.
Value FunctionLowering::getConstant(ConstantOp op) {
  auto type = withLayout(op.getResult().getType(), {});
  std::string name =
      (target.getSymName() + "_constant" +
       Twine(constants.try_emplace(op, constants.size()).first->second))
          .str();
  if (!shared.module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(shared.module.getBody());
    LLVM::GlobalOp::create(
        builder, op.getLoc(),
        LLVM::LLVMArrayType::get(type.getElementType(), type.getNumElements()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        cast<DenseElementsAttr>(op.getValue())
            .reshape(RankedTensorType::get({type.getNumElements()},
                                           type.getElementType())),
        /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(builder, loc, pointer, name);
}

/// How often a block of each rank's part of a dimension comes in the whole, and
/// how many elements it has.
static std::pair<int64_t, int64_t> getBlocks(Value part, int64_t dim) {
  ArrayRef<int64_t> shape = getLocalType(part.getType()).getShape();
  return {llvm::product_of(shape.take_front(dim)),
          llvm::product_of(shape.drop_front(dim))};
}

/// What starts has no scratch to put blocks in order.
static LogicalResult checkStart(Operation *op) {
  if (!op->hasAttr(attr::slot))
    return success();
  Value part;
  uint64_t dim = 0;
  if (auto gather = dyn_cast<AllGatherOp>(op))
    part = gather.getX(), dim = gather.getDim();
  else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    part = scatter.getY(), dim = scatter.getDim();
  if (!part || getBlocks(part, dim).first == 1)
    return success();
  return op->emitOpError("starts along dimension ")
         << dim << " of " << part.getType()
         << ", expected the first that is not 1";
}

LogicalResult FunctionLowering::lower(Operation *op) {
  loc = op->getLoc();
  if (failed(checkStart(op)))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LaunchOp, RunOp, MatMulOp, Conv2DOp, Conv2DInputGradOp,
            Conv2DFilterGradOp, MaxPool2DOp, MaxPool2DGradOp, SumPool2DOp,
            SumPool2DGradOp, AllReduceOp, AllGatherOp, ReduceScatterOp,
            LocalSliceOp, SendOp, RecvOp, WaitOp, ZeroOp>([&](auto concrete) {
        emit(concrete);
        return success();
      })
      .Case<func::ReturnOp>([&](auto returned) { return finish(returned); })
      // Constants are data; a sum that FormKernels left is that of a product,
      // which the product makes.
      .Case<ConstantOp, AccumulateOp>([](auto) { return success(); })
      .Default([](Operation *other) -> LogicalResult {
        if (isView(other)) // an address
          return success();
        return other->emitOpError("has no lowering for CPUs");
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
  }
  kernel->setAttr(argumentBytesAttrName,
                  builder.getDenseI64ArrayAttr(argumentBytes));
  LLVM::CallOp::create(builder, loc, TypeRange(), getLoweredName(kernel),
                       arguments);
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
  call("dtcrt_run_begin",
       {context, integer(shared.manifest.getPhase(op.getCallee())),
        integer(op.getMicrobatch().value_or(-1))});
  LLVM::CallOp::create(builder, loc, TypeRange(), getLoweredName(callee),
                       arguments);
  call("dtcrt_run_end", {context});
}

/// Where a product goes, and whether it is added to what is there: one that is
/// only accumulated is added where it belongs.
std::pair<Value, bool> FunctionLowering::getDestination(OpResult product) {
  if (product.hasOneUse())
    if (auto sum = dyn_cast<AccumulateOp>(*product.user_begin());
        sum && sum.getX() == product)
      return {sum.getAccumulator(), true};
  return {product, false};
}

void FunctionLowering::emit(MatMulOp op) {
  auto [destination, accumulates] = getDestination(op->getResult(0));
  RankedTensorType lhs = getLocalType(op.getLhs().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  int64_t rank = result.getRank();
  int64_t batch = 1;
  for (int64_t size : result.getShape().drop_back(2))
    batch *= size;
  call("dtcrt_matmul",
       {context, integer(getDtypeCode(result.getElementType())),
        integer(op.getTransposeLhs()), integer(op.getTransposeRhs()),
        integer(accumulates), integer(batch, 64),
        integer(result.getDimSize(rank - 2), 64),
        integer(result.getDimSize(rank - 1), 64),
        integer(lhs.getDimSize(rank - (op.getTransposeLhs() ? 2 : 1)), 64),
        pointerTo(op.getLhs()), pointerTo(op.getRhs()),
        pointerTo(destination)});
}

/// The numbers that all calls with a window have.
static std::array<int64_t, 14> getSizes(const Window &w) {
  return {w.batch,          w.height,       w.width,        w.channels,
          w.rows,           w.columns,      w.kernelHeight, w.kernelWidth,
          w.strideHeight,   w.strideWidth,  w.top,          w.left,
          w.dilationHeight, w.dilationWidth};
}

void FunctionLowering::callConvolution(Operation *op, dtc_conv_role role,
                                       const Window &window, Value x,
                                       Value filters, Value y) {
  auto [destination, accumulates] = getDestination(op->getResult(0));
  SmallVector<Value> arguments = {
      context, integer(getDtypeCode(getElementTypeOrSelf(x))), integer(role),
      integer(accumulates)};
  for (int64_t size : getSizes(window))
    arguments.push_back(integer(size, 64));
  ArrayRef<int64_t> shape = getLocalType(filters.getType()).getShape();
  arguments.push_back(integer(shape[0], 64));
  arguments.push_back(integer(window.channels / shape[3], 64));
  for (Value value : {x, filters, y})
    arguments.push_back(
        pointerTo(value == op->getResult(0) ? destination : value));
  arguments.push_back(scratch);
  needScratch(DTC_CONV_SCRATCH_BYTES);
  call("dtcrt_conv2d", arguments);
}

void FunctionLowering::emit(Conv2DOp op) {
  callConvolution(op, DTC_CONV_FORWARD, op.getWindow(), op.getX(),
                  op.getFilters(), op.getY());
}

void FunctionLowering::emit(Conv2DInputGradOp op) {
  callConvolution(op, DTC_CONV_INPUT_GRAD, op.getWindow(), op.getDx(),
                  op.getFilters(), op.getDy());
}

void FunctionLowering::emit(Conv2DFilterGradOp op) {
  callConvolution(op, DTC_CONV_WEIGHT_GRAD, op.getWindow(), op.getX(),
                  op.getDfilters(), op.getDy());
}

/// What a role does not use is null.
void FunctionLowering::callPooling(Operation *op, dtc_pool_role role,
                                   const Window &window, Value x, Value y,
                                   Value dx) {
  SmallVector<Value> arguments = {
      context, integer(getDtypeCode(getElementTypeOrSelf(y))), integer(role)};
  for (int64_t size : getSizes(window))
    arguments.push_back(integer(size, 64));
  for (Value value : {x, y, dx})
    arguments.push_back(
        value ? pointerTo(value)
              : LLVM::ZeroOp::create(builder, loc, pointer).getResult());
  call("dtcrt_pool2d", arguments);
}

void FunctionLowering::emit(MaxPool2DOp op) {
  callPooling(op, DTC_POOL_MAX, op.getWindow(), op.getX(), op.getY(), {});
}

void FunctionLowering::emit(MaxPool2DGradOp op) {
  callPooling(op, DTC_POOL_MAX_GRAD, op.getWindow(), op.getX(), op.getDy(),
              op.getDx());
}

void FunctionLowering::emit(SumPool2DOp op) {
  callPooling(op, DTC_POOL_SUM, op.getWindow(), op.getX(), op.getY(), {});
}

void FunctionLowering::emit(SumPool2DGradOp op) {
  callPooling(op, DTC_POOL_SUM_GRAD, op.getWindow(), {}, op.getDy(),
              op.getDx());
}

void FunctionLowering::emit(AllReduceOp op) {
  // The memory plan puts the operands of a bucket side by side.
  Type element = getElementTypeOrSelf(op.getX().front());
  int64_t bytes = getBucketBytes(op.getX());
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  callCollective("dtcrt_all_reduce", op,
                 {integer(getDtypeCode(element)),
                  integer(static_cast<int64_t>(op.getReduction())),
                  pointerTo(op.getX().front()),
                  integer(bytes / elementBytes, 64)});
}

static int64_t getElementBytes(Value value) {
  unsigned bits = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8);
}

void FunctionLowering::emit(AllGatherOp op) {
  auto [outer, count] = getBlocks(op.getX(), op.getDim());
  Value bytes = integer(count * getElementBytes(op.getX()), 64);
  if (op->hasAttr(attr::slot))
    return callCollective("dtcrt_all_gather", op,
                          {pointerTo(op.getX()), pointerTo(op.getY()), bytes});
  if (outer > 1)
    needScratch(getLocalBytes(op.getY().getType()));
  callCollective("dtcrt_all_gather", op,
                 {pointerTo(op.getX()), pointerTo(op.getY()), scratch,
                  integer(outer, 64), bytes});
}

void FunctionLowering::emit(ReduceScatterOp op) {
  auto [outer, count] = getBlocks(op.getY(), op.getDim());
  SmallVector<Value> arguments = {
      integer(getDtypeCode(getElementTypeOrSelf(op.getX()))),
      integer(static_cast<int64_t>(op.getReduction())), pointerTo(op.getX()),
      pointerTo(op.getY())};
  if (!op->hasAttr(attr::slot)) {
    if (outer > 1)
      needScratch(getLocalBytes(op.getX().getType()));
    arguments.append({scratch, integer(outer, 64)});
  }
  arguments.push_back(integer(count, 64));
  callCollective("dtcrt_reduce_scatter", op, arguments);
}

void FunctionLowering::emit(LocalSliceOp op) {
  auto [outer, count] = getBlocks(op.getY(), op.getDim());
  call("dtcrt_local_slice",
       {context, integer(shared.manifest.getGroup(op.getAxes())),
        pointerTo(op.getX()), pointerTo(op.getY()), integer(outer, 64),
        integer(count * getElementBytes(op.getX()), 64)});
}

void FunctionLowering::emit(SendOp op) {
  call("dtcrt_send", {context, integer(op.getStage()), integer(op.getTag()),
                      integer(op.getSlot()), pointerTo(op.getX()),
                      integer(getLocalBytes(op.getX().getType()), 64)});
}

void FunctionLowering::emit(RecvOp op) {
  call("dtcrt_recv",
       {context, integer(op.getStage()), integer(op.getTag()),
        pointerTo(op.getY()), integer(getLocalBytes(op.getY().getType()), 64)});
}

void FunctionLowering::emit(WaitOp op) {
  call("dtcrt_wait", {context, integer(op.getSlot())});
}

void FunctionLowering::emit(ZeroOp op) {
  LLVM::MemsetOp::create(builder, loc, pointerTo(op.getY()), integer(0, 8),
                         integer(getLocalBytes(op.getY().getType()), 64),
                         /*isVolatile=*/false);
}

LogicalResult FunctionLowering::finish(func::ReturnOp op) {
  if (!isPlan) {
    for (auto [value, address] : llvm::zip(op.getOperands(), resultAddresses))
      if (!(addressOf(value) == address))
        copy(addressOf(value), address, getLocalBytes(value.getType()));
    return success();
  }

  // What is kept from step to step goes back to where it came from.
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
    results.push_back(address.offset);
  }
  int64_t arenaBytes =
      source->getAttrOfType<IntegerAttr>(attr::arenaBytes).getInt() +
      shared.scratchBytes;
  auto stage = cast<ModuleOp>(source->getParentOp());
  if (stage->hasAttr(attr::eval))
    return shared.manifest.addEval(source, results);
  SmallVector<int64_t> arguments;
  for (const Address &address : argumentAddresses)
    arguments.push_back(address.offset);
  return shared.manifest.addStage(source, arenaBytes, arguments, results);
}

namespace {

struct LowerPlan : public dtc::impl::LowerPlanBase<LowerPlan> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ModuleContext shared{module, {}, 0};
    auto kernels = module.lookupSymbol<ModuleOp>(kernelsName);
    SmallVector<ModuleOp> stages;
    for (ModuleOp stage : module.getOps<ModuleOp>())
      if (stage->hasAttr(attr::stage))
        stages.push_back(stage);

    // Plans last: only then is the scratch of all kernels known.
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
        if (auto kernel = dyn_cast<LLVM::LLVMFuncOp>(op);
            kernel && !kernel.isExternal()) {
          kernel.setSymName(getLoweredName(kernel));
          // Calls have been made by them; LLVM does not know them.
          kernel.removeArgAttrsAttr();
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
