//===- Profile.cpp - measured durations of a plan's tasks -----------------===//
//
// See Profile.h; lib/Runtime/Metrics/Trace.cpp writes the file.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/Profile.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Support/ParseJson.h"
#include "dtc/Support/ReadFile.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <algorithm>
#include <set>

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The names of F, B and W.
static constexpr char kindNames[] = "FBW";

namespace {

struct Axis {
  std::string name;
  int64_t size = 0;
};

struct Event {
  std::string kind;
  int64_t rank = 0;
  double microseconds = 0;
  std::optional<std::string> category;
  int64_t chunk = 0;
};

/// A trace file.
struct Trace {
  Profile profile;
  std::vector<Axis> mesh;
  std::vector<Event> events;
};

// LLVM finds these by argument-dependent lookup.

bool fromJSON(const json::Value &value, Axis &axis, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", axis.name) && map.map("size", axis.size);
}

bool fromJSON(const json::Value &value, Event &event, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("ph", event.kind) || !map.map("pid", event.rank) ||
      !map.map("cat", event.category) ||
      !map.mapOptional("dur", event.microseconds))
    return false;
  const json::Object *arguments = value.getAsObject()->getObject("args");
  event.chunk = arguments ? arguments->getInteger("chunk").value_or(0) : 0;
  return true;
}

} // namespace

namespace dtc {

static bool fromJSON(const json::Value &value, Profile::Stage &stage,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("parameters", stage.parameters);
}

} // namespace dtc

namespace {

bool fromJSON(const json::Value &value, Trace &trace, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("traceEvents", trace.events))
    return false;
  // Not a copy: the mapper keeps a reference to it.
  static const json::Value nothing = nullptr;
  const json::Value *other = value.getAsObject()->get("otherData");
  json::ObjectMapper plan(other ? *other : nothing, path.field("otherData"));
  Profile &profile = trace.profile;
  return plan && plan.map("model", profile.model) &&
         plan.map("dtype", profile.dtype) && plan.map("mesh", trace.mesh) &&
         plan.map("rows", profile.rows) && plan.map("stages", profile.stages);
}

} // namespace

static double getMedian(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2)
    return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

llvm::Expected<Profile> Profile::read(StringRef path) {
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError(path + " " + message);
  };
  auto file = readFile(path, /*isText=*/true);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  llvm::Expected<json::Value> root = parseJson((*file)->getBuffer());
  if (!root)
    return fail("is not JSON: " + llvm::toString(root.takeError()));
  Trace trace;
  json::Path::Root where("trace");
  if (!fromJSON(*root, trace, where))
    return fail("is not a trace that a training program wrote with --trace: " +
                llvm::toString(where.getError()));

  Profile &profile = trace.profile;
  profile.path = path.str();
  int64_t stride = 1, ranks = 1; // stride between ranks of two stages
  for (const Axis &axis : trace.mesh) {
    std::optional<int64_t> product = llvm::checkedMul(ranks, axis.size);
    if (axis.size < 1 || !product)
      return fail("has an axis '" + axis.name + "' of size " +
                  llvm::Twine(axis.size) + ", which its mesh cannot have");
    profile.mesh[axis.name] = axis.size;
    stride = axis.name == stageAxis ? 1 : stride * axis.size;
    ranks = *product;
  }
  auto numStages = static_cast<int64_t>(profile.stages.size());
  if (profile.rows < 1 || numStages != profile.getSize(stageAxis))
    return fail("has " + llvm::Twine(numStages) + " stages and " +
                llvm::Twine(profile.rows) +
                " rows in a micro-batch, which its mesh cannot have");
  using Task = std::pair<TaskKind, int64_t>;
  std::vector<std::map<Task, std::vector<double>>> seconds(numStages);
  for (const Event &event : trace.events) {
    size_t kind = StringRef(kindNames).find(event.category.value_or("-"));
    if (event.kind != "X" || kind == StringRef::npos)
      continue;
    if (event.rank < 0 || event.rank >= ranks)
      return fail("has a rank " + llvm::Twine(event.rank) + ", expected " +
                  llvm::Twine(ranks) + " ranks");
    Task task(static_cast<TaskKind>(kind), event.chunk);
    seconds[event.rank / stride % numStages][task].push_back(
        event.microseconds * 1e-6);
  }
  for (auto [stage, tasks] : llvm::zip(profile.stages, seconds))
    for (auto &[task, list] : tasks)
      stage.seconds[task] = getMedian(list);
  return std::move(profile);
}

int64_t Profile::getSize(const std::string &axis) const {
  auto found = mesh.find(axis);
  return found == mesh.end() ? 1 : found->second;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Names of a plan's parameters, including members of flat parameters.
static std::set<std::string> getParameters(func::FuncOp plan) {
  std::set<std::string> names;
  for (unsigned i = 0; i < plan.getNumArguments(); ++i) {
    auto name = plan.getArgAttrOfType<StringAttr>(i, attr::parameter);
    if (!name)
      continue;
    if (auto members = plan.getArgAttrOfType<ArrayAttr>(i, attr::members))
      for (auto member : members.getAsRange<DictionaryAttr>())
        names.insert(member.getAs<StringAttr>("name").str());
    else
      names.insert(name.str());
  }
  return names;
}

/// Rows of a micro-batch on a rank; 0 if the plan has no data.
static int64_t getRows(func::FuncOp plan) {
  for (unsigned i = 0; i < plan.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(plan.getArgumentTypes()[i]);
    LayoutAttr layout = getLayout(type);
    if (!plan.getArgAttr(i, attr::input) || type.getRank() == 0 || !layout)
      continue;
    int64_t rows = type.getDimSize(0);
    for (StringAttr axis : layout.getAxesOfDim(0))
      rows /= layout.getMesh().getSize(axis.getValue());
    return rows;
  }
  return 0;
}

FailureOr<std::vector<StageCost>>
Profile::getCosts(ArrayRef<ModuleOp> modules) const {
  int64_t planRows = 0;
  for (ModuleOp module : modules)
    planRows = std::max(planRows, getRows(getPlan(module)));
  double scale = double(planRows) / double(rows);
  std::vector<StageCost> costs;
  for (auto [number, module] : llvm::enumerate(modules)) {
    MLIRContext *context = ModuleOp(module)->getContext();
    func::FuncOp plan = getPlan(module);
    const Stage &stage = stages.at(number);
    std::set<std::string> found(stage.parameters.begin(),
                                stage.parameters.end());
    std::set<std::string> expected = getParameters(plan);
    std::vector<std::string> differ;
    std::set_symmetric_difference(found.begin(), found.end(), expected.begin(),
                                  expected.end(), std::back_inserter(differ));
    if (!differ.empty())
      return emitError(UnknownLoc::get(context))
             << path << " has other parameters in stage " << number
             << " than the plan ('" << differ.front()
             << "' is in one of them only); trace a program with the same "
                "stages, see --cut and --virtual-stages";
    costs.resize(modules.size() * getNumChunks(plan), StageCost{0, 0, 0});
    for (auto run : plan.getOps<RunOp>()) {
      std::optional<Phase> phase = getPhase(run);
      if (!phase || !phase->isChunked())
        continue;
      auto kind = static_cast<TaskKind>(phase->kind - Phase::Forward);
      auto measured = stage.seconds.find({kind, phase->level});
      if (measured == stage.seconds.end())
        return emitError(UnknownLoc::get(context))
               << path << " has no " << kindNames[static_cast<int>(kind)]
               << " of stage " << number
               << ", which the plan runs; trace a program with the same stages";
      StageCost &cost = costs[phase->level * modules.size() + number];
      double &seconds = kind == TaskKind::F   ? cost.forward
                        : kind == TaskKind::B ? cost.backward
                                              : cost.weight;
      seconds = measured->second * scale;
    }
  }
  return costs;
}
