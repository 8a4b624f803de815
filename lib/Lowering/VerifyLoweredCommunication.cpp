//===- VerifyLoweredCommunication.cpp - the proof, of what is embedded ----===//
//
// Reads events from the calls that a program will make, with the groups of its
// manifest, and leaves the proof to Communication.h. Shares nothing with
// LowerPlan but the ABI.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/Passes.h"
#include "dtc/Lowering/Program.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Schedule/PlanCommunication.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtc {
#define GEN_PASS_DEF_VERIFYLOWEREDCOMMUNICATION
#include "dtc/Lowering/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// What a value of a function is known to be.
struct Known {
  enum Kind { Unknown, Integer, Pointer } kind = Unknown;
  /// Of a pointer: the argument of the function that it is based on; -1 for a
  /// constant of the program.
  int32_t base = -1;
  /// An integer, or how far from its base a pointer is, in bytes.
  int64_t number = 0;
};

/// What one op of a function does; buffers are arguments of the function.
struct Item {
  Event event;
  SmallVector<Access, 4> accesses;
  LLVM::LLVMFuncOp callee;   ///< of a stage's function that is called
  SmallVector<Known> passed; ///< its arguments
};

using FunctionEvents = std::vector<Item>;

/// Whether a kernel writes to an argument. What is done with an address that is
/// not plainly a load counts as a write.
bool isWritten(BlockArgument argument) {
  SmallVector<Value> worklist = {argument};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      // A buffer is an address in a struct.
      if (isa<LLVM::GEPOp, LLVM::InsertValueOp, LLVM::ExtractValueOp>(user))
        worklist.push_back(user->getResult(0));
      else if (!isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(
                   user))
        return true;
    }
  return false;
}

class Extraction {
public:
  Extraction(ModuleOp module, PlanCommunication &result)
      : symbols(module), result(result) {}

  LogicalResult addPlan(LLVM::LLVMFuncOp plan, int64_t stage);

private:
  LogicalResult read(LLVM::LLVMFuncOp function);
  LogicalResult readCall(LLVM::CallOp call, Item &item);
  LogicalResult readRuntimeCall(LLVM::CallOp call, Item &item);
  LogicalResult readKernelCall(LLVM::CallOp call, LLVM::LLVMFuncOp kernel,
                               Item &item);
  void run(LLVM::LLVMFuncOp function, ArrayRef<Known> arguments);

  Known evaluate(Value value) const { return known.lookup(value); }
  void touch(Item &item, Value pointer, int64_t bytes, bool writes) {
    if (Known place = evaluate(pointer); place.base >= 0 && bytes > 0)
      item.accesses.push_back(
          {place.base, place.number, place.number + bytes, -1, writes});
  }

  SymbolTable symbols;
  PlanCommunication &result;
  llvm::DenseMap<Value, Known> known;
  std::map<Operation *, FunctionEvents> functions;
  llvm::DenseSet<Operation *> open; ///< functions that are being read
  std::map<Operation *, SmallVector<bool>> writtenByKernel;
};

} // namespace

LogicalResult Extraction::readKernelCall(LLVM::CallOp call,
                                         LLVM::LLVMFuncOp kernel, Item &item) {
  auto bytes = kernel->getAttrOfType<DenseI64ArrayAttr>(argumentBytesAttrName);
  if (!bytes || bytes.size() != static_cast<int64_t>(call.getNumOperands()))
    return call.emitError("calls kernel @")
           << kernel.getSymName() << " without '" << argumentBytesAttrName
           << "' of its " << call.getNumOperands() << " arguments";
  auto [written, isNew] = writtenByKernel.try_emplace(kernel);
  if (isNew)
    for (unsigned i = 0; i < call.getNumOperands(); ++i)
      written->second.push_back(kernel.isExternal() ||
                                isWritten(kernel.getArgument(i)));
  for (auto [operand, size, writes] :
       llvm::zip_equal(call.getOperands(), bytes.asArrayRef(), written->second))
    touch(item, operand, size, writes);
  return success();
}

LogicalResult Extraction::readRuntimeCall(LLVM::CallOp call, Item &item) {
  StringRef name = *call.getCallee();
  Operation::operand_range operands = call.getArgOperands();
  Event &event = item.event;
  // Every number is a constant.
  for (Value operand : operands)
    if (isa<IntegerType>(operand.getType()) &&
        evaluate(operand).kind != Known::Integer)
      return call.emitError("calls @")
             << name << " with a number that is no constant";
  auto number = [&](unsigned i) { return evaluate(operands[i]).number; };
  auto hasOperands = [&](unsigned count) {
    return operands.size() == count
               ? success()
               : LogicalResult(call.emitError("calls @")
                               << name << " with " << operands.size()
                               << " arguments, expected " << count);
  };
  auto elementBytes = [](int64_t dtype) {
    return dtype == DTC_BOOL ? 1 : dtype == DTC_F32 || dtype == DTC_I32 ? 4 : 8;
  };
  // How many ranks are in the group of a call.
  auto setGroup = [&]() -> FailureOr<int64_t> {
    event.group = number(1);
    const CommunicationSystem &system = result.system;
    if (event.group < 0 ||
        event.group >= static_cast<int32_t>(system.groups.size()))
      return call.emitError("calls @") << name << " over group " << event.group
                                       << " of " << system.groups.size();
    int64_t members = 1;
    for (int32_t axis : system.groups[event.group])
      members *= system.axes[axis].size;
    return members;
  };

  if (name == "dtcrt_send" || name == "dtcrt_recv") {
    bool isSend = name == "dtcrt_send";
    if (failed(hasOperands(isSend ? 6 : 5)))
      return failure();
    event.kind = isSend ? EventKind::Send : EventKind::Recv;
    event.stage = number(1);
    event.tag = number(2);
    if (isSend)
      event.slot = number(3);
    event.count = number(operands.size() - 1);
    touch(item, operands[operands.size() - 2], event.count, !isSend);
    return success();
  }
  if (name == "dtcrt_wait") {
    event.kind = EventKind::Wait;
    event.slot = number(1);
    return hasOperands(2);
  }
  if (name == "dtcrt_matmul") {
    if (failed(hasOperands(12)))
      return failure();
    int64_t bytes = elementBytes(number(1)) * number(5);
    int64_t m = number(6), n = number(7), k = number(8);
    touch(item, operands[9], bytes * m * k, false);
    touch(item, operands[10], bytes * k * n, false);
    if (number(4))
      touch(item, operands[11], bytes * m * n, false);
    touch(item, operands[11], bytes * m * n, true);
    return success();
  }
  if (name == "dtcrt_conv2d") {
    if (failed(hasOperands(24)))
      return failure();
    int64_t bytes = elementBytes(number(1)), role = number(2);
    int64_t n = number(4), h = number(5), w = number(6), c = number(7);
    int64_t oh = number(8), ow = number(9), kh = number(10), kw = number(11);
    int64_t filters = number(18), groups = number(19);
    if (role < DTC_CONV_FORWARD || role > DTC_CONV_WEIGHT_GRAD)
      return call.emitError("calls @") << name << " with role " << role
                                       << ", which the runtime does not have";
    if (groups < 1 || c % groups || filters % groups)
      return call.emitError("calls @")
             << name << " with " << groups << " groups of " << c
             << " channels and " << filters
             << " filters, expected a divisor of both";
    // Scratch is used by nothing else meanwhile.
    const std::pair<unsigned, int64_t> buffers[] = {
        {20, n * h * w * c},
        {21, filters * kh * kw * (c / groups)},
        {22, n * oh * ow * filters}};
    unsigned result = role == DTC_CONV_FORWARD      ? 22
                      : role == DTC_CONV_INPUT_GRAD ? 20
                                                    : 21;
    for (auto [operand, count] : buffers) {
      if (operand != result || number(3))
        touch(item, operands[operand], bytes * count, false);
      if (operand == result)
        touch(item, operands[operand], bytes * count, true);
    }
    return success();
  }
  if (name == "dtcrt_pool2d") {
    if (failed(hasOperands(20)))
      return failure();
    int64_t bytes = elementBytes(number(1)), role = number(2);
    int64_t n = number(3), h = number(4), w = number(5), c = number(6);
    int64_t oh = number(7), ow = number(8);
    if (role < DTC_POOL_MAX || role > DTC_POOL_SUM_GRAD)
      return call.emitError("calls @") << name << " with role " << role
                                       << ", which the runtime does not have";
    bool isGrad = role == DTC_POOL_MAX_GRAD || role == DTC_POOL_SUM_GRAD;
    if (role != DTC_POOL_SUM_GRAD)
      touch(item, operands[17], bytes * n * h * w * c, false);
    touch(item, operands[18], bytes * n * oh * ow * c, !isGrad);
    if (isGrad)
      touch(item, operands[19], bytes * n * h * w * c, true);
    return success();
  }
  // Where a phase begins and ends, for who watches.
  if (name == "dtcrt_run_begin" || name == "dtcrt_run_end")
    return success();
  if (name == "dtcrt_local_slice") {
    FailureOr<int64_t> members = setGroup();
    if (failed(members) || failed(hasOperands(6)))
      return failure();
    event.group = -1;
    touch(item, operands[2], *members * number(4) * number(5), false);
    touch(item, operands[3], number(4) * number(5), true);
    return success();
  }

  // A collective, or its start, which has a slot after the group and no blocks.
  StringRef whole = name;
  bool isStart = whole.consume_back("_start");
  auto kind = llvm::StringSwitch<EventKind>(whole)
                  .Case("dtcrt_all_reduce", EventKind::AllReduce)
                  .Case("dtcrt_all_gather", EventKind::AllGather)
                  .Case("dtcrt_reduce_scatter", EventKind::ReduceScatter)
                  .Default(EventKind::Local);
  if (kind == EventKind::Local)
    return call.emitError("calls @") << name << ", which is not known";
  unsigned expected = kind == EventKind::AllReduce   ? 6
                      : kind == EventKind::AllGather ? 7
                                                     : 9;
  if (isStart)
    expected += kind == EventKind::AllReduce ? 1 : -1;
  if (failed(hasOperands(expected)))
    return failure();
  FailureOr<int64_t> members = setGroup();
  if (failed(members))
    return failure();
  event.kind = kind;
  unsigned next = 2;
  if (isStart)
    event.slot = number(next++);
  int64_t size = 1; // of an element; gathers count bytes
  if (kind != EventKind::AllGather) {
    int64_t dtype = number(next++), reduction = number(next++);
    if (dtype < DTC_F32 || dtype > DTC_BOOL)
      return call.emitError("calls @") << name << " with element type " << dtype
                                       << ", which the runtime does not have";
    if (reduction != DTC_SUM && reduction != DTC_MAX)
      return call.emitError("calls @")
             << name << " with reduction " << reduction
             << ", which the runtime does not have";
    event.dtype = dtype;
    event.reduction = reduction;
    size = elementBytes(event.dtype);
  }
  Value input = operands[next++];
  Value output = kind == EventKind::AllReduce ? input : operands[next++];
  if (!isStart && kind != EventKind::AllReduce) {
    ++next; // scratch, which nothing else uses meanwhile
    event.blocks = number(next++);
  }
  event.count = number(next);
  if (auto value = call->getAttrOfType<IntegerAttr>(attr::value))
    event.subject = value.getInt();
  int64_t bytes = event.count * event.blocks * size;
  touch(item, input,
        kind == EventKind::ReduceScatter ? bytes * *members : bytes, false);
  touch(item, output, kind == EventKind::AllGather ? bytes * *members : bytes,
        true);
  return success();
}

LogicalResult Extraction::readCall(LLVM::CallOp call, Item &item) {
  if (!call.getCallee())
    return call.emitError("calls a function that is not named");
  auto callee = symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee());
  if (!callee)
    return call.emitError("calls @") << *call.getCallee() << ", expected one "
                                     << "of the module";
  if (callee.getSymName().starts_with("dtcrt_"))
    return readRuntimeCall(call, item);
  if (callee.getSymName().starts_with("kernel_"))
    return readKernelCall(call, callee, item);
  for (Value operand : call.getArgOperands())
    item.passed.push_back(evaluate(operand));
  item.callee = callee;
  if (open.contains(callee))
    return call.emitError("calls @")
           << callee.getSymName() << ", which is running already";
  return read(callee);
}

LogicalResult Extraction::read(LLVM::LLVMFuncOp function) {
  auto [it, isNew] = functions.try_emplace(function);
  if (!isNew)
    return success();
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitError("has no straight list of calls");
  FunctionEvents &events = it->second;
  open.insert(function);
  for (BlockArgument argument : function.getArguments())
    known[argument] = {Known::Pointer,
                       static_cast<int32_t>(argument.getArgNumber()), 0};
  for (Operation &op : function.getBody().front()) {
    Item item;
    LogicalResult read =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<LLVM::ReturnOp>([](auto) { return success(); })
            .Case<LLVM::ConstantOp>([&](LLVM::ConstantOp constant) {
              auto number = dyn_cast<IntegerAttr>(constant.getValue());
              if (number)
                known[constant] = {Known::Integer, -1, number.getInt()};
              return success(number != nullptr);
            })
            // What a call has no use for.
            .Case<LLVM::ZeroOp>([](auto) { return success(); })
            .Case<LLVM::AddressOfOp>([&](LLVM::AddressOfOp address) {
              known[address] = {Known::Pointer, -1, 0};
              return success();
            })
            .Case<LLVM::GEPOp>([&](LLVM::GEPOp step) {
              Known place = evaluate(step.getBase());
              if (step.getDynamicIndices().size() != 1 ||
                  step.getRawConstantIndices().size() != 1 ||
                  !step.getElemType().isInteger(8))
                return failure();
              Known offset = evaluate(step.getDynamicIndices()[0]);
              place.number += offset.number;
              known[step] = place;
              return success(offset.kind == Known::Integer);
            })
            .Case<LLVM::MemcpyOp>([&](LLVM::MemcpyOp copy) {
              Known length = evaluate(copy.getLen());
              touch(item, copy.getSrc(), length.number, false);
              touch(item, copy.getDst(), length.number, true);
              return success(length.kind == Known::Integer);
            })
            .Case<LLVM::MemsetOp>([&](LLVM::MemsetOp set) {
              Known length = evaluate(set.getLen());
              touch(item, set.getDst(), length.number, true);
              return success(length.kind == Known::Integer);
            })
            .Case<LLVM::CallOp>(
                [&](LLVM::CallOp call) { return readCall(call, item); })
            .Default([](Operation *) { return failure(); });
    if (failed(read))
      return isa<LLVM::CallOp>(op)
                 ? failure()
                 : LogicalResult(op.emitError("is not what a plan is made of"));
    if (!item.callee && item.accesses.empty() &&
        item.event.kind == EventKind::Local)
      continue;
    item.event.source = result.sources.size();
    result.sources.push_back(&op);
    events.push_back(std::move(item));
  }
  open.erase(function);
  return success();
}

void Extraction::run(LLVM::LLVMFuncOp function, ArrayRef<Known> arguments) {
  CommunicationProgram &program = result.system.programs.back();
  SmallVector<Access> accesses;
  for (const Item &item : functions.at(function)) {
    if (item.callee) {
      SmallVector<Known> passed(item.passed);
      for (Known &place : passed)
        if (place.base >= 0) {
          Known outside = arguments[place.base];
          place = {outside.kind, outside.base, outside.number + place.number};
        }
      run(item.callee, passed);
      continue;
    }
    accesses.clear();
    for (Access access : item.accesses) {
      const Known &outside = arguments[access.buffer];
      if (outside.base < 0)
        continue; // a constant
      access.buffer = outside.base;
      access.begin += outside.number;
      access.end += outside.number;
      accesses.push_back(access);
    }
    program.add(item.event, accesses);
  }
}

LogicalResult Extraction::addPlan(LLVM::LLVMFuncOp plan, int64_t stage) {
  if (plan.getNumArguments() != 2)
    return plan.emitError("has ")
           << plan.getNumArguments() << " arguments, expected a context and "
           << "an arena";
  if (failed(read(plan)))
    return failure();
  CommunicationProgram &program = result.system.programs.emplace_back();
  program.stage = stage;
  program.numBuffers = 2;
  run(plan, {{Known::Pointer, 0, 0}, {Known::Pointer, 1, 0}});
  return success();
}

/// Mesh and groups as the runtime reads them from the manifest.
static LogicalResult readManifest(ModuleOp module,
                                  CommunicationSystem &system) {
  auto text = module->getAttrOfType<StringAttr>(manifestAttrName);
  if (!text)
    return module.emitError("has no '")
           << manifestAttrName << "'; lower plans first";
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text.getValue());
  if (!parsed)
    return module.emitError("bad '")
           << manifestAttrName << "': " << llvm::toString(parsed.takeError());
  const llvm::json::Object *manifest = parsed->getAsObject();
  const llvm::json::Array *mesh =
      manifest ? manifest->getArray("mesh") : nullptr;
  const llvm::json::Array *groups =
      manifest ? manifest->getArray("groups") : nullptr;
  if (!mesh || !groups)
    return module.emitError("'")
           << manifestAttrName << "' has no mesh or no groups";
  llvm::StringMap<int32_t> positions;
  for (const llvm::json::Value &value : *mesh) {
    const llvm::json::Object *axis = value.getAsObject();
    std::optional<StringRef> name =
        axis ? axis->getString("name") : std::nullopt;
    std::optional<int64_t> size =
        axis ? axis->getInteger("size") : std::nullopt;
    if (!name || size.value_or(0) < 1)
      return module.emitError("'")
             << manifestAttrName << "' has an axis without name or size";
    positions[*name] = system.axes.size();
    system.axes.push_back({name->str(), *size});
  }
  for (const llvm::json::Value &group : *groups) {
    system.groups.emplace_back();
    if (const llvm::json::Array *names = group.getAsArray())
      for (const llvm::json::Value &value : *names) {
        auto axis = positions.find(value.getAsString().value_or(""));
        if (axis == positions.end())
          return module.emitError("'")
                 << manifestAttrName
                 << "' has a group over an axis that is not in the mesh";
        system.groups.back().push_back(axis->second);
      }
  }
  system.numSendSlots = DTC_MAX_SEND_SLOTS;
  system.numSlots = endCollectiveSlot;
  system.assignPrograms();
  return success();
}

namespace {

struct VerifyLoweredCommunication
    : dtc::impl::VerifyLoweredCommunicationBase<VerifyLoweredCommunication> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verifyPlans("stage")) || failed(verifyPlans("eval")))
      signalPassFailure();
  }

  /// The plans `PREFIX0_plan`, `PREFIX1_plan`, ... of all stages.
  LogicalResult verifyPlans(StringRef prefix) {
    ModuleOp module = getOperation();
    PlanCommunication communication;
    CommunicationSystem &system = communication.system;
    if (failed(readManifest(module, system)))
      return failure();
    Extraction extraction(module, communication);
    for (int64_t stage = 0;; ++stage) {
      auto plan = module.lookupSymbol<LLVM::LLVMFuncOp>(
          (prefix + Twine(stage) + "_plan").str());
      if (!plan)
        break;
      if (failed(extraction.addPlan(plan, stage)))
        return failure();
    }
    if (system.programs.empty())
      return success();
    int32_t axis = system.getStageAxis();
    int64_t stages = axis < 0 ? 1 : system.axes[axis].size;
    if (stages != static_cast<int64_t>(system.programs.size()))
      return module.emitError("has ")
             << system.programs.size() << " plans @" << prefix
             << "N_plan, expected " << stages << ", one for each stage";
    return dtc::verify(communication, module, [](Operation *op) {
      InFlightDiagnostic error = op->emitError();
      if (auto call = dyn_cast<LLVM::CallOp>(op))
        error << "call of @" << *call.getCallee() << " ";
      return error;
    });
  }
};

} // namespace
