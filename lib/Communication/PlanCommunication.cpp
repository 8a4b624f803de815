//===- PlanCommunication.cpp - event lists of plans -----------------------===//
//
// Reads each function once and numbers its values. For each run of a function,
// copies its events and replaces its arguments with the caller's buffers.
//
//===----------------------------------------------------------------------===//

#include "dtc/Communication/PlanCommunication.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Slots.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtc;

static int64_t getLocalElements(Type type) {
  return getLocalBytes(type) /
         llvm::divideCeil(getElementTypeOrSelf(type).getIntOrFloatBitWidth(),
                          8);
}

namespace {

/// Location of a value in a function: bytes of a buffer, and the number of the
/// value among all values that the buffer has held. A view has the number of
/// its operand.
struct Place {
  int32_t buffer = -1, value = -1;
  int64_t offset = 0;
};

/// The event of one op, in the function's own numbers.
struct Item {
  Event event;
  SmallVector<Access, 4> accesses;
  /// The function of a run, and the locations of its arguments and results.
  func::FuncOp callee;
  SmallVector<Place> arguments, results;
};

/// Events of one run of a function.
struct FunctionEvents {
  std::vector<Item> items;
  SmallVector<Place> arguments, results;
  int32_t numBuffers = 0, numValues = 0;
};

class Extraction {
public:
  explicit Extraction(PlanCommunication &result) : result(result) {}

  void addPlan(func::FuncOp plan, int64_t stage);

private:
  const FunctionEvents &read(func::FuncOp function);
  void run(const FunctionEvents &function, ArrayRef<Place> arguments,
           SmallVectorImpl<Place> &results);
  Event describe(Operation *op);
  void describe(CollectiveOpInterface op, Event &event);
  int32_t getPermutation(ArrayRef<int64_t> sources);
  int32_t getGroup(Attribute axes);
  int32_t getType(TypeRange types);

  PlanCommunication &result;
  CommunicationProgram *program = nullptr;
  Slots slots;
  std::map<Operation *, FunctionEvents> functions;
  llvm::DenseMap<Attribute, int32_t> groups;
  llvm::DenseMap<Type, int32_t> types;
};

/// Reads one function.
class FunctionReader {
public:
  FunctionReader(func::FuncOp function, FunctionEvents &events)
      : events(events), classes(function.front()) {
    for (BlockArgument argument : function.getArguments())
      events.arguments.push_back(places[argument] = makeNew());
  }

  Place makeNew() { return {events.numBuffers++, events.numValues++, 0}; }
  Place getPlace(Value value) const { return places.lookup(value); }
  Access access(Value value, bool writes) const {
    Place place = getPlace(value);
    return {place.buffer, place.offset,
            place.offset + getLocalBytes(value.getType()), place.value, writes};
  }
  void define(Operation *op);

private:
  FunctionEvents &events;
  AliasClasses classes;
  llvm::DenseMap<Value, Place> places;
};

} // namespace

void FunctionReader::define(Operation *op) {
  for (OpResult value : op->getResults()) {
    std::optional<Alias> alias; // a run states its results itself
    if (!isa<RunOp>(op))
      alias = getAlias(value);
    if (!alias) {
      places[value] = makeNew();
      continue;
    }
    Value operand = op->getOperand(alias->operand);
    Place place = getPlace(operand);
    place.offset += classes.getOffset(value) - classes.getOffset(operand);
    if (alias->kind == AliasKind::Update)
      place.value = events.numValues++;
    places[value] = place;
  }
}

int32_t Extraction::getGroup(Attribute axes) {
  CommunicationSystem &system = result.system;
  auto [it, isNew] = groups.try_emplace(axes, system.groups.size());
  if (isNew) {
    std::vector<int32_t> &positions = system.groups.emplace_back();
    for (StringRef name : cast<ArrayAttr>(axes).getAsValueRange<StringAttr>())
      for (auto [i, axis] : llvm::enumerate(system.axes))
        if (axis.name == name)
          positions.push_back(i);
  }
  return it->second;
}

int32_t Extraction::getPermutation(ArrayRef<int64_t> sources) {
  std::vector<std::vector<int64_t>> &all = result.system.permutations;
  std::vector<int64_t> permutation(sources.begin(), sources.end());
  auto found = llvm::find(all, permutation);
  if (found != all.end())
    return found - all.begin();
  all.push_back(std::move(permutation));
  return all.size() - 1;
}

/// Number of a type, or of a tuple of several types.
int32_t Extraction::getType(TypeRange list) {
  Type type = list.size() == 1
                  ? list.front()
                  : TupleType::get(list.front().getContext(), list);
  auto [it, isNew] = types.try_emplace(type, result.system.types.size());
  if (isNew)
    llvm::raw_string_ostream(result.system.types.emplace_back()) << type;
  return it->second;
}

Event Extraction::describe(Operation *op) {
  Event event;
  event.source = result.sources.size();
  result.sources.push_back(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case<SendOp>([&](SendOp send) {
        event.kind = EventKind::Send;
        event.stage = send.getStage();
        event.tag = send.getTag();
        event.slot = slots.get(send);
        event.dtype = getElementType(send.getX().getType()).code;
        event.count = getLocalElements(send.getX().getType());
        event.type = getType(send.getX().getType());
      })
      .Case<RecvOp>([&](RecvOp recv) {
        event.kind = EventKind::Recv;
        event.stage = recv.getStage();
        event.tag = recv.getTag();
        event.slot = slots.get(recv);
        event.dtype = getElementType(recv.getType()).code;
        event.count = getLocalElements(recv.getType());
        event.type = getType(recv.getType());
      })
      .Case<WaitOp>([&](WaitOp wait) {
        event.kind = EventKind::Wait;
        event.slot = slots.get(wait);
      })
      .Case<CollectiveOpInterface>([&](CollectiveOpInterface collective) {
        event.kind = EventKind::Collective;
        describe(collective, event);
      });
  return event;
}

void Extraction::describe(CollectiveOpInterface op, Event &event) {
  event.collective = op.getCollectiveKind();
  const CollectiveTraits &traits = op.getTraits();
  if (std::optional<Reduction> reduction = op.getCombiner())
    event.reduction = static_cast<int8_t>(*reduction);
  for (Value operand : op->getOperands())
    event.count += getLocalElements(operand.getType());
  event.count /= countShares(traits.input, op.getNumMembers());
  event.inputBlocks = op.getInputBlocks();
  event.outputBlocks = op.getOutputBlocks();
  if (traits.permutes)
    event.permutation = getPermutation(op.getSources());
  event.dtype = getElementType(op->getOperand(0).getType()).code;
  event.group = getGroup(op.getAxes());
  event.type = getType(op->getOperandTypes());
  // Stages run different programs: the number identifies the common value.
  if (auto number = op->getAttrOfType<IntegerAttr>(attr::value))
    event.subject = number.getInt();
  event.slot = slots.get(op);
}

const FunctionEvents &Extraction::read(func::FuncOp function) {
  auto [it, isNew] = functions.try_emplace(function);
  FunctionEvents &events = it->second;
  if (!isNew)
    return events;
  FunctionReader reader(function, events);
  for (Operation &op : function.front()) {
    reader.define(&op);
    if (!isa<RunOp>(op) && isView(&op)) // touches no memory
      continue;
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value value : op.getOperands())
        events.results.push_back(reader.getPlace(value));
      continue;
    }
    Item item;
    item.event = describe(&op);
    if (auto run = dyn_cast<RunOp>(op)) {
      item.callee = getCallee(run);
      for (Value value : run.getInputs())
        item.arguments.push_back(reader.getPlace(value));
      for (Value value : run.getOutputs())
        item.results.push_back(reader.getPlace(value));
    } else {
      for (Value operand : op.getOperands())
        item.accesses.push_back(reader.access(operand, /*writes=*/false));
      if (!isa<SendOp>(op)) // a send's result is its operand
        for (Value value : op.getResults())
          item.accesses.push_back(reader.access(value, /*writes=*/true));
    }
    events.items.push_back(std::move(item));
  }
  return events;
}

void Extraction::run(const FunctionEvents &function, ArrayRef<Place> arguments,
                     SmallVectorImpl<Place> &results) {
  // Map the function's numbers to the program's. A buffer of the function may
  // be part of one of the caller's.
  std::vector<Place> buffers(function.numBuffers);
  std::vector<int32_t> values(function.numValues, -1);
  auto bind = [&](const Place &own, const Place &outside) {
    buffers[own.buffer] = outside;
    values[own.value] = outside.value;
  };
  auto translate = [&](Place place) {
    if (buffers[place.buffer].buffer < 0)
      buffers[place.buffer] = {program->numBuffers++, -1, 0};
    if (values[place.value] < 0)
      values[place.value] = program->numValues++;
    return Place{buffers[place.buffer].buffer, values[place.value],
                 buffers[place.buffer].offset + place.offset};
  };
  for (auto [own, outside] : llvm::zip_equal(function.arguments, arguments))
    bind(own, outside);
  SmallVector<Access> accesses;
  SmallVector<Place> given, returned;
  for (const Item &item : function.items) {
    if (item.callee) {
      given.clear();
      for (const Place &place : item.arguments)
        given.push_back(translate(place));
      SmallVector<Place> inner;
      run(read(item.callee), given, inner);
      for (auto [own, place] : llvm::zip_equal(item.results, inner))
        bind(own, place);
      continue;
    }
    accesses.clear();
    for (Access access : item.accesses) {
      Place place = translate({access.buffer, access.value, access.begin});
      access.end += place.offset - access.begin;
      access.begin = place.offset;
      access.buffer = place.buffer;
      access.value = place.value;
      accesses.push_back(access);
    }
    program->add(item.event, accesses);
  }
  for (const Place &place : function.results)
    results.push_back(translate(place));
}

void Extraction::addPlan(func::FuncOp plan, int64_t stage) {
  program = &result.system.programs.emplace_back();
  program->stage = stage;
  slots.add(plan->getParentOfType<ModuleOp>());
  const FunctionEvents &events = read(plan);
  // The plan's arguments have content when it begins.
  SmallVector<Place> arguments, results;
  SmallVector<Access> accesses;
  for (BlockArgument argument : plan.getArguments()) {
    arguments.push_back({program->numBuffers++, program->numValues++, 0});
    accesses.push_back({arguments.back().buffer, 0,
                        getLocalBytes(argument.getType()),
                        arguments.back().value, /*writes=*/true});
  }
  Event start;
  start.source = result.sources.size();
  result.sources.push_back(plan);
  program->add(start, accesses);
  run(events, arguments, results);
  // The results must have their content when the plan ends.
  accesses.clear();
  Operation *end = plan.front().getTerminator();
  for (auto [value, place] : llvm::zip_equal(end->getOperands(), results))
    accesses.push_back({place.buffer, place.offset,
                        place.offset + getLocalBytes(value.getType()),
                        place.value, /*writes=*/false});
  Event finish;
  finish.source = result.sources.size();
  result.sources.push_back(end);
  program->add(finish, accesses);
}

FailureOr<PlanCommunication> dtc::getPlanCommunication(ModuleOp module,
                                                       const Stages &stages) {
  PlanCommunication result;
  FailureOr<SmallVector<func::FuncOp>> plans = getScheduledPlans(stages);
  if (failed(plans))
    return failure();
  MeshAttr mesh;
  for (func::FuncOp plan : *plans)
    if (!mesh)
      mesh = getMesh(plan);
  if (!mesh)
    return result; // nothing is distributed
  if (mesh.getSize(stageAxis) != static_cast<int64_t>(plans->size()))
    return module.emitError("has ")
           << plans->size() << " stages, expected " << mesh.getSize(stageAxis)
           << ", the size of mesh axis " << stageAxis;
  for (const MeshAxis &axis : mesh.getAxes())
    if (axis.name != MeshAttr::timeAxis)
      result.system.axes.push_back({axis.name.getValue().str(), axis.size});
  result.system.numMessageSlots = DTC_MAX_MESSAGE_SLOTS;
  result.system.numSlots = endCollectiveSlot;
  result.system.assignPrograms();
  Extraction extraction(result);
  for (auto [stage, plan] : llvm::enumerate(*plans))
    extraction.addPlan(plan, stage);
  return result;
}

LogicalResult dtc::verify(const PlanCommunication &communication,
                          ModuleOp module, EmitError emitError) {
  const CommunicationSystem &system = communication.system;
  std::optional<CommunicationError> error = verifyCommunication(system);
  if (!error)
    return success();
  auto getSource = [&](const CommunicationError::Place &place) -> Operation * {
    if (place.event < 0)
      return module;
    return communication
        .sources[system.programs[place.program].events[place.event].source];
  };
  InFlightDiagnostic diagnostic = emitError(getSource(error->culprit));
  diagnostic << error->culprit.message;
  for (const CommunicationError::Place &note : error->notes)
    diagnostic.attachNote(getSource(note)->getLoc()) << note.message;
  return failure();
}
