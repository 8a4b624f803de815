//===- PlanManifest.cpp - manifest of the plans for the runtime -----------===//
//
// See PlanManifest.h.
//
//===----------------------------------------------------------------------===//

#include "PlanManifest.h"
#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Plan/Work.h"
#include "dtc/Runtime/ABI.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

PlanManifest::PlanManifest(ModuleOp module) {
  if (auto flops = module->getAttrOfType<IntegerAttr>(attr::modelFlops))
    modelFlops = flops.getInt();
  hasServer = dtc::hasServer(module);
}

int32_t PlanManifest::getGroup(ArrayAttr axes) {
  auto found = llvm::find(groups, axes);
  if (found != groups.end())
    return found - groups.begin();
  groups.push_back(axes);
  return groups.size() - 1;
}

/// The name of a task in profiles, by the letters of pipeline schedules: "F",
/// or "F.1" for chunk 1.
static std::string getPhaseTitle(func::FuncOp function) {
  std::optional<Phase> phase = dtc::getPhase(function);
  if (!phase || !phase->isChunked())
    return function.getName().str();
  std::string title(1, "FBW"[phase->kind - Phase::Forward]);
  if (phase->level > 0)
    title += "." + std::to_string(phase->level);
  return title;
}

int32_t PlanManifest::getPermutation(ArrayRef<int64_t> sources) {
  std::vector<int64_t> permutation(sources.begin(), sources.end());
  auto found = llvm::find(permutations, permutation);
  if (found != permutations.end())
    return found - permutations.begin();
  permutations.push_back(std::move(permutation));
  return permutations.size() - 1;
}

int32_t PlanManifest::getPhase(func::FuncOp function) {
  std::string title = getPhaseTitle(function);
  auto found = llvm::find(phases, title);
  if (found != phases.end())
    return found - phases.begin();
  phases.push_back(std::move(title));
  return phases.size() - 1;
}

/// The name of a kernel, or an op with its operands: "matmul(16x10,10x5) f32".
static std::string getOpTitle(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return launch.getKernel().getLeafReference().str();
  std::string title;
  llvm::raw_string_ostream os(title);
  os << op->getName().stripDialect() << "(";
  llvm::interleave(
      op->getOperandTypes(), os,
      [&](Type type) {
        llvm::interleave(getLocalType(type).getShape(), os, "x");
      },
      ",");
  os << ") " << getElementType(getLocalType(op->getOperand(0).getType())).name;
  return title;
}

int32_t PlanManifest::addOp(Operation *op) {
  json::Object entry{{"name", getOpTitle(op)}};
  auto work = op->getAttrOfType<DenseI64ArrayAttr>(attr::work);
  entry["flops"] = work ? work[0] : 0;
  entry["bytes"] = work ? work[1] : 0;
  ops.push_back(std::move(entry));
  return ops.size() - 1;
}

static json::Object describe(StringRef name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return json::Object{{"name", name},
                      {"dtype", getElementType(tensor).name},
                      {"shape", json::Array(tensor.getShape())}};
}

/// The axis whose positions have values of their own; null if there is none.
static StringAttr findEach(Type type) {
  if (LayoutAttr layout = getLayout(type))
    for (const AxisLayout &entry : layout.getEntries())
      if (entry.isEach() && layout.getMesh().getSize(entry.axis.getValue()) > 1)
        return entry.axis;
  return {};
}

int64_t PlanManifest::addInput(func::FuncOp plan, unsigned argument) {
  StringRef name = plan.getArgAttrOfType<StringAttr>(argument, attr::input);
  auto [it, isNew] = inputs.try_emplace(name);
  if (isNew) {
    auto type = cast<RankedTensorType>(plan.getArgumentTypes()[argument]);
    // The shape is that of the whole batch.
    if (StringAttr axis = findEach(type)) {
      workers = axis;
      SmallVector<int64_t> shape(type.getShape());
      int64_t positions = getLayout(type).getMesh().getSize(axis.getValue());
      shape.front() *= hasServer ? positions - 1 : positions;
      type = type.clone(shape);
    }
    json::Object input = describe(name, type);
    input["kind"] =
        plan.getArgAttrOfType<StringAttr>(argument, attr::kind).getValue();
    if (auto bound =
            plan.getArgAttrOfType<DenseI64ArrayAttr>(argument, attr::bound))
      input["bound"] = json::Array(bound.asArrayRef());
    if (auto ignored =
            plan.getArgAttrOfType<IntegerAttr>(argument, attr::ignore))
      input["ignore_index"] = ignored.getInt();
    LayoutAttr layout = getLayout(type);
    SmallVector<StringAttr> axes =
        layout ? layout.getAxesOfDim(0) : SmallVector<StringAttr>();
    llvm::erase(axes, StringRef(MeshAttr::timeAxis));
    if (StringAttr axis = findEach(type))
      axes.insert(axes.begin(), axis);
    if (batchAxes.size() < axes.size())
      batchAxes = axes;
    it->second = std::move(input);
  }
  return it - inputs.begin();
}

static json::Array describeSplits(Type type) {
  json::Array splits;
  if (LayoutAttr layout = getLayout(type))
    for (const AxisLayout &entry : layout.getEntries())
      if (entry.hasDim())
        splits.push_back(
            json::Object{{"axis", entry.axis.getValue()}, {"dim", entry.dim}});
  return splits;
}

int64_t PlanManifest::addParameter(StringRef name, Type type,
                                   DictionaryAttr part, bool isTrained) {
  auto [it, isNew] = parameters.try_emplace(name);
  if (!isNew)
    return it - parameters.begin();
  json::Object parameter = describe(name, type);
  parameter["trainable"] = isTrained;
  parameter["splits"] = describeSplits(type);
  json::Object tensor = describe(name, type);
  SmallVector<int64_t> start(cast<RankedTensorType>(type).getRank(), 0);
  if (part) {
    tensor["name"] = part.getAs<StringAttr>("tensor").getValue();
    tensor["shape"] =
        json::Array(part.getAs<DenseI64ArrayAttr>("shape").asArrayRef());
    start[part.getAs<IntegerAttr>("dim").getInt()] =
        part.getAs<IntegerAttr>("start").getInt();
  }
  tensor["start"] = json::Array(start);
  parameter["tensor"] = std::move(tensor);
  it->second = std::move(parameter);
  return it - parameters.begin();
}

namespace {

/// A parameter, state or gradient of a plan: its parameter's name and its
/// place, or those of each member of a flat parameter.
struct Stored {
  StringRef name;
  Type type;
  DictionaryAttr part;
  json::Object place;
};

} // namespace

/// `attributes` belong to the argument or result, and contain its name under
/// `key`.
static SmallVector<Stored> getStored(DictionaryAttr attributes, StringRef key,
                                     Type type, int64_t offset) {
  auto members = attributes.getAs<ArrayAttr>(attr::members);
  StringAttr worker = findEach(type);
  if (!members) {
    StringRef name = attributes.getAs<StringAttr>(key).getValue();
    json::Object place{{"offset", offset}};
    if (worker)
      place["each"] = worker.getValue();
    return {{key == attr::state ? name.rsplit('.').first : name, type,
             attributes.getAs<DictionaryAttr>(attr::part), std::move(place)}};
  }
  // Axes split the rows that contain the members.
  int64_t dim = cast<ShapedType>(type).getRank() - 1;
  SmallVector<StringAttr> axes = getLayout(type).getAxesOfDim(dim);
  int64_t length = cast<ShapedType>(type).getDimSize(dim);
  SmallVector<Stored> list;
  for (auto member : members.getAsRange<DictionaryAttr>()) {
    json::Array names;
    for (StringAttr axis : axes)
      names.push_back(axis.getValue());
    json::Object shard{{"axes", std::move(names)},
                       {"start", member.getAs<IntegerAttr>("start").getInt()},
                       {"length", length}};
    json::Object place{{"offset", offset}, {"shard", std::move(shard)}};
    if (worker)
      place["each"] = worker.getValue();
    if (auto each = member.getAs<StringAttr>("each"))
      place["terms"] = each.getValue();
    if (member.contains("own")) {
      auto own =
          cast<RankedTensorType>(member.getAs<TypeAttr>("type").getValue());
      place["tensor"] = json::Object{{"shape", json::Array(own.getShape())},
                                     {"splits", describeSplits(own)}};
    }
    list.push_back({member.getAs<StringAttr>("name"),
                    member.getAs<TypeAttr>("type").getValue(),
                    member.getAs<DictionaryAttr>("part"), std::move(place)});
  }
  return list;
}

LogicalResult PlanManifest::addStage(func::FuncOp plan, int64_t arenaBytes,
                                     ArrayRef<int64_t> arguments,
                                     ArrayRef<int64_t> results) {
  // Gradients and states, by the name of their parameter.
  llvm::StringMap<json::Object> gradients;
  llvm::StringMap<json::Array> states;
  json::Object stage{{"arena_bytes", arenaBytes}};
  if (int64_t bytes = getHostBytes(plan))
    stage["host_bytes"] = bytes;
  for (auto [i, offset] : llvm::enumerate(results)) {
    DictionaryAttr attributes = plan.getResultAttrDict(i);
    if (plan.getResultAttr(i, attr::gradient))
      for (Stored &stored : getStored(attributes, attr::gradient,
                                      plan.getResultTypes()[i], offset))
        gradients[stored.name] = std::move(stored.place);
    if (auto name = plan.getResultAttrOfType<StringAttr>(i, attr::output))
      stage[name.getValue()] = offset;
  }
  for (auto [i, offset] : llvm::enumerate(arguments))
    if (auto name = plan.getArgAttrOfType<StringAttr>(i, attr::state))
      for (Stored &stored : getStored(plan.getArgAttrDict(i), attr::state,
                                      plan.getArgumentTypes()[i], offset)) {
        stored.place["name"] = name.getValue().rsplit('.').second;
        if (plan.getArgAttr(i, attr::optional))
          stored.place["optional"] = true;
        if (plan.getArgAttr(i, attr::transient))
          stored.place["transient"] = true;
        states[stored.name].push_back(std::move(stored.place));
      }

  json::Array stageInputs, stageParameters;
  for (auto [i, offset] : llvm::enumerate(arguments)) {
    if (!mesh)
      if (LayoutAttr layout = getLayout(plan.getArgumentTypes()[i]))
        mesh = layout.getMesh();
    if (plan.getArgAttr(i, attr::input)) {
      stageInputs.push_back(
          json::Object{{"index", addInput(plan, i)}, {"offset", offset}});
    } else if (plan.getArgAttr(i, attr::parameter)) {
      for (Stored &stored : getStored(plan.getArgAttrDict(i), attr::parameter,
                                      plan.getArgumentTypes()[i], offset)) {
        stored.place["index"] =
            addParameter(stored.name, stored.type, stored.part,
                         !plan.getArgAttr(i, attr::frozen));
        if (auto it = gradients.find(stored.name); it != gradients.end())
          stored.place["gradient"] = std::move(it->second);
        stored.place["state"] = std::move(states[stored.name]);
        stageParameters.push_back(std::move(stored.place));
      }
    } else if (!plan.getArgAttr(i, attr::state)) {
      return plan.emitError("argument ")
             << i << " of the plan is no input, parameter or state";
    }
  }
  stage["inputs"] = std::move(stageInputs);
  stage["parameters"] = std::move(stageParameters);
  stages.push_back(std::move(stage));
  return success();
}

LogicalResult PlanManifest::addEval(func::FuncOp plan,
                                    ArrayRef<int64_t> results) {
  auto number = plan->getParentOp()->getAttrOfType<IntegerAttr>(attr::stage);
  if (!number || number.getInt() >= static_cast<int64_t>(stages.size()))
    return plan.emitError("evaluates a stage that has no training step");
  json::Object &stage = *stages[number.getInt()].getAsObject();
  for (auto [i, offset] : llvm::enumerate(results)) {
    if (auto name = plan.getResultAttrOfType<StringAttr>(i, attr::output))
      stage[name.getValue()] = offset;
    auto sums = plan.getResultAttrOfType<ArrayAttr>(i, attr::sums);
    if (!sums)
      continue;
    evalSums = json::Array();
    for (auto sum : sums.getAsRange<DictionaryAttr>())
      evalSums.push_back(
          json::Object{{"name", sum.getAs<StringAttr>("name").getValue()},
                       {"size", sum.getAs<IntegerAttr>("size").getInt()}});
    isLanguageModel = bool(plan.getResultAttr(i, attr::languageModel));
    mixesSamples = bool(plan.getResultAttr(i, attr::mixesSamples));
  }
  if (auto records = plan->getAttrOfType<ArrayAttr>(attr::records))
    addRecord(cast<DictionaryAttr>(records[0]), number.getInt());
  return success();
}

void PlanManifest::addProgram(ModuleOp stage) {
  if (stage->getAttrOfType<IntegerAttr>(attr::stage).getInt() != 0)
    return; // every stage has each program
  json::Object program{{"name", getProgram(stage)}};
  if (auto turn = stage->getAttrOfType<DenseI64ArrayAttr>(attr::turn)) {
    program["period"] = turn[0];
    program["turn"] = turn[1];
  }
  programs.push_back(std::move(program));
}

void PlanManifest::addRecord(DictionaryAttr entry, int64_t stage) {
  auto type = cast<RankedTensorType>(entry.getAs<TypeAttr>("type").getValue());
  // The shape of one sample, without the first dimension, the batch.
  ArrayRef<int64_t> unpadded = type.getShape();
  if (auto shape = entry.getAs<DenseI64ArrayAttr>(attr::unpadded))
    unpadded = shape.asArrayRef();
  json::Array splits;
  LayoutAttr layout = getLayout(type);
  for (const AxisLayout &split : layout.getEntries())
    // The only micro-batch may be at any position of the batch.
    if (split.hasDim() && split.dim > 0 &&
        layout.getMesh().getSize(split.axis.getValue()) > 1)
      splits.push_back(json::Object{{"axis", split.axis.getValue()},
                                    {"dim", split.dim - 1}});
  record = json::Object{{"dtype", getElementType(type).name},
                        {"shape", json::Array(type.getShape().drop_front())},
                        {"unpadded", json::Array(unpadded.drop_front())},
                        {"splits", std::move(splits)},
                        {"stage", stage}};
}

json::Object PlanManifest::finish() {
  json::Object manifest;
  json::Array axes, groupList, inputList, parameterList;
  int64_t microbatches = 1;
  if (mesh) {
    microbatches = mesh.getSize(MeshAttr::timeAxis);
    for (const MeshAxis &axis : mesh.getAxes())
      if (axis.name != MeshAttr::timeAxis)
        axes.push_back(
            json::Object{{"name", axis.name.getValue()}, {"size", axis.size}});
  }
  for (ArrayAttr group : groups)
    groupList.push_back(
        json::Array(llvm::to_vector(group.getAsValueRange<StringAttr>())));
  for (auto &[name, input] : inputs)
    inputList.push_back(std::move(input));
  for (auto &[name, parameter] : parameters)
    parameterList.push_back(std::move(parameter));
  json::Array batch;
  for (StringAttr axis : batchAxes)
    batch.push_back(axis.getValue());
  manifest["mesh"] = std::move(axes);
  manifest["batch_axes"] = std::move(batch);
  manifest["microbatches"] = microbatches;
  manifest["groups"] = std::move(groupList);
  json::Array permutationList;
  for (const std::vector<int64_t> &permutation : permutations)
    permutationList.push_back(json::Array(permutation));
  manifest["permutations"] = std::move(permutationList);
  manifest["phases"] = json::Array(phases);
  if (modelFlops > 0)
    manifest["model_flops"] = modelFlops;
  if (!programs.empty())
    manifest["programs"] = std::move(programs);
  if (workers)
    manifest["worker_axis"] = workers.getValue();
  if (!evalSums.empty())
    manifest["eval_sums"] = std::move(evalSums);
  if (isLanguageModel)
    manifest["language_model"] = true;
  if (mixesSamples)
    manifest["mixes_samples"] = true;
  if (record)
    manifest["record"] = std::move(*record);
  manifest["ops"] = std::move(ops);
  manifest["inputs"] = std::move(inputList);
  manifest["parameters"] = std::move(parameterList);
  manifest["stages"] = std::move(stages);
  return manifest;
}
