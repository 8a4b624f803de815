//===- VerifyLoweredCommunication.cpp - proof of lowered code -------------===//
//
// Reads events from the calls that a program makes, with the groups of its
// manifest. Communication.h has the proof. Shares only the ABI with LowerPlan.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCall.h"
#include "dtc/Communication/PlanCommunication.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Lowering/MayStore.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Lowering/Program.h"
#include "dtc/Lowering/Verify.h"
#include "dtc/Runtime/ABI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtc;

namespace {

/// The known facts about a value of a function.
struct Known {
  enum Kind { Unknown, Integer, Pointer } kind = Unknown;
  /// The argument that a pointer is based on; -1 for a constant of the program.
  int32_t base = -1;
  /// An integer, or the offset of a pointer from its base in bytes.
  int64_t number = 0;
};

/// The effect of one op of a function. Buffers are arguments of the function.
struct Item {
  Event event;
  SmallVector<Access, 4> accesses;
  LLVM::LLVMFuncOp callee;   ///< stage function that is called
  SmallVector<Known> passed; ///< its arguments
};

using FunctionEvents = std::vector<Item>;

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
  llvm::DenseSet<Operation *> open; ///< functions being read now
  std::map<Operation *, SmallVector<bool>> writtenByKernel;
};

} // namespace

LogicalResult Extraction::readKernelCall(LLVM::CallOp call,
                                         LLVM::LLVMFuncOp kernel, Item &item) {
  auto bytes = kernel->getAttrOfType<DenseI64ArrayAttr>(argumentBytesAttrName);
  // A kernel that calls the runtime takes the context after its buffers. Its
  // attributes say which buffers it only reads.
  unsigned numBuffers = bytes ? bytes.size() : 0;
  unsigned numOperands = call.getNumOperands();
  if (!bytes || (numOperands != numBuffers && numOperands != numBuffers + 1))
    return call.emitError("calls kernel @")
           << kernel.getSymName() << " without '" << argumentBytesAttrName
           << "' of its " << numOperands << " arguments";
  auto [written, isNew] = writtenByKernel.try_emplace(kernel);
  if (isNew)
    for (unsigned i = 0; i < numBuffers; ++i)
      written->second.push_back(
          !kernel.getArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName()) &&
          (kernel.isExternal() || mayStoreAt(kernel.getArgument(i), symbols)));
  for (auto [operand, size, writes] :
       llvm::zip_equal(call.getOperands().take_front(numBuffers),
                       bytes.asArrayRef(), written->second))
    touch(item, operand, size, writes);
  return success();
}

LogicalResult Extraction::readRuntimeCall(LLVM::CallOp call, Item &item) {
  SmallVector<int64_t> numbers;
  for (Value operand : call.getArgOperands()) {
    Known known = evaluate(operand);
    if (isa<IntegerType>(operand.getType()) && known.kind != Known::Integer)
      return call.emitError("calls @")
             << *call.getCallee() << " with a number that is no constant";
    numbers.push_back(known.number);
  }
  RuntimeCall runtimeCall(call, numbers, result.system);
  if (failed(runtimeCall.read()))
    return failure();
  item.event = runtimeCall.event;
  for (const RuntimeCall::Touched &place : runtimeCall.touched)
    touch(item, call.getArgOperands()[place.argument], place.bytes,
          place.writes);
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
              // Only library calls compute with floats.
              return success(number || isa<FloatAttr>(constant.getValue()));
            })
            // A null pointer: the call ignores the argument.
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
            .Case<LLVM::CallOp>([&](LLVM::CallOp call) {
              // The result of the call is the address of a constant.
              if (call.getNumResults() == 1)
                known[call.getResult()] = {Known::Pointer, -1, 0};
              return readCall(call, item);
            })
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
  if (plan.getNumArguments() != 3)
    return plan.emitError("has ")
           << plan.getNumArguments() << " arguments, expected a context, an "
           << "arena and memory of the host";
  if (failed(read(plan)))
    return failure();
  CommunicationProgram &program = result.system.programs.emplace_back();
  program.stage = stage;
  program.numBuffers = 3;
  run(plan,
      {{Known::Pointer, 0, 0}, {Known::Pointer, 1, 0}, {Known::Pointer, 2, 0}});
  return success();
}

/// Reads mesh and groups from the manifest, like the runtime.
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
  if (const llvm::json::Array *permutations =
          manifest->getArray("permutations"))
    for (const llvm::json::Value &permutation : *permutations) {
      system.permutations.emplace_back();
      if (const llvm::json::Array *sources = permutation.getAsArray())
        for (const llvm::json::Value &source : *sources)
          system.permutations.back().push_back(
              source.getAsInteger().value_or(-1));
    }
  system.numMessageSlots = DTC_MAX_MESSAGE_SLOTS;
  system.numSlots = endCollectiveSlot;
  system.assignPrograms();
  return success();
}

/// Checks the plans of all stages of a program, "" for the step.
static LogicalResult verifyPlans(ModuleOp module, StringRef program) {
  PlanCommunication communication;
  CommunicationSystem &system = communication.system;
  if (failed(readManifest(module, system)))
    return failure();
  Extraction extraction(module, communication);
  for (int64_t stage = 0;; ++stage) {
    auto plan = module.lookupSymbol<LLVM::LLVMFuncOp>(
        getStageName(stage, program) + "_plan");
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
           << system.programs.size() << " plans @"
           << (program.empty() ? "stage" : program) << "N_plan, expected "
           << stages << ", one for each stage";
  return dtc::verify(communication, module, [](Operation *op) {
    InFlightDiagnostic error = op->emitError();
    if (auto call = dyn_cast<LLVM::CallOp>(op))
      error << "call of @" << *call.getCallee() << " ";
    return error;
  });
}

LogicalResult dtc::verifyLoweredCommunication(ModuleOp module) {
  if (failed(verifyPlans(module, "")) || failed(verifyPlans(module, evalName)))
    return failure();
  FailureOr<SmallVector<std::string>> others = listPrograms(module);
  if (failed(others))
    return failure();
  for (StringRef program : *others)
    if (failed(verifyPlans(module, program)))
      return failure();
  return success();
}
