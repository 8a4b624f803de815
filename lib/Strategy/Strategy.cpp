//===- Strategy.cpp - options as an attribute -----------------------------===//
//
// One list of fields, which is read and written.
//
//===----------------------------------------------------------------------===//

#include "dtc/Strategy/Strategy.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dtc;

static constexpr llvm::StringLiteral attributeName = "dtc.strategy";

/// Calls `visit` with the name of each field, as the command line has it, and
/// the field.
template <typename Visitor>
static void visitFields(Strategy &s, Visitor visit) {
  TrainingOptions &training = s.training;
  visit("batch", training.batch);
  visit("cut", training.cut);
  visit("precision", training.precision);
  visit("layout", training.layouts);
  visit("batchnorm", training.batchNorm);
  visit("loss", training.loss);
  visit("loss-of", training.output);
  visit("ignore-index", training.ignoreIndex);
  visit("class-axis", training.classAxis);
  visit("loss-reduction", training.reduction);
  visit("label-smoothing", training.labelSmoothing);
  visit("class-weights", training.classWeights);
  visit("optimizer", training.optimizer);
  visit("lr", training.lr);
  visit("optimizer-settings", training.optimizerSettings);
  visit("padding-idx", training.paddingIdx);
  visit("no-decay", training.noDecay);
  visit("lr-scale", training.lrScales);
  visit("clip-norm", training.clipNorm);
  visit("ema", training.ema);
  visit("skip-nonfinite", training.skipNonFinite);
  visit("freeze", training.freeze);

  ParallelOptions &parallel = s.parallel;
  visit("dp", parallel.dp);
  visit("replicas-at-launch", parallel.replicasAtLaunch);
  visit("hsdp", parallel.hsdp);
  visit("pp", parallel.pp);
  visit("tp", parallel.tp);
  visit("zero", parallel.zero);
  visit("gather", parallel.gather);
  visit("reduce-dtype", parallel.reduceDtype);
  visit("sp", parallel.sp);
  visit("microbatches", parallel.microbatches);
  visit("order", parallel.order);

  ScheduleOptions &schedule = s.schedule;
  visit("recompute", schedule.recompute);
  visit("schedule", schedule.schedule);
  visit("virtual-stages", schedule.virtualStages);
  visit("accumulate", schedule.accumulate);
  visit("bucket-mb", schedule.bucketMb);
  visit("offload", schedule.offload);
  visit("poison-memory", schedule.poisonMemory);

  TargetOptions &target = s.target;
  visit("target", target.kind);
  visit("target-cpu", target.cpu);
  visit("arch", target.architecture);
  visit("workspace", target.workspace);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Attribute toAttribute(Builder &b, int64_t value) {
  return b.getI64IntegerAttr(value);
}
static Attribute toAttribute(Builder &b, bool value) {
  return b.getBoolAttr(value);
}
static Attribute toAttribute(Builder &b, double value) {
  return b.getF64FloatAttr(value);
}
static Attribute toAttribute(Builder &b, const std::string &value) {
  return b.getStringAttr(value);
}
/// Null if there is none.
template <typename T>
static Attribute toAttribute(Builder &b, const std::optional<T> &value) {
  return value ? toAttribute(b, *value) : Attribute();
}
template <typename T>
static Attribute toAttribute(Builder &b, const std::vector<T> &values) {
  return b.getArrayAttr(llvm::map_to_vector(
      values, [&](const T &value) { return toAttribute(b, value); }));
}
static Attribute toAttribute(Builder &b,
                             const std::map<std::string, double> &values) {
  NamedAttrList entries;
  for (const auto &[name, value] : values)
    entries.set(name, toAttribute(b, value));
  return entries.getDictionary(b.getContext());
}

void Strategy::set(ModuleOp module) const {
  Strategy own = *this, defaults;
  Builder builder(module.getContext());
  SmallVector<Attribute> ofDefaults;
  visitFields(defaults, [&](StringRef, const auto &field) {
    ofDefaults.push_back(toAttribute(builder, field));
  });
  NamedAttrList entries;
  size_t next = 0;
  visitFields(own, [&](StringRef name, const auto &field) {
    Attribute value = toAttribute(builder, field);
    if (value != ofDefaults[next++])
      entries.set(name, value);
  });
  module->setAttr(attributeName, entries.getDictionary(module.getContext()));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool read(Attribute attribute, int64_t &value) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (integer)
    value = integer.getInt();
  return bool(integer);
}
static bool read(Attribute attribute, bool &value) {
  auto flag = dyn_cast<BoolAttr>(attribute);
  if (flag)
    value = flag.getValue();
  return bool(flag);
}
static bool read(Attribute attribute, double &value) {
  auto number = dyn_cast<FloatAttr>(attribute);
  if (number)
    value = number.getValueAsDouble();
  return bool(number);
}
static bool read(Attribute attribute, std::string &value) {
  auto text = dyn_cast<StringAttr>(attribute);
  if (text)
    value = text.str();
  return bool(text);
}
template <typename T>
static bool read(Attribute attribute, std::optional<T> &value) {
  return read(attribute, value.emplace());
}
template <typename T>
static bool read(Attribute attribute, std::vector<T> &values) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  if (!array)
    return false;
  values.assign(array.size(), T());
  for (auto [entry, value] : llvm::zip(array, values))
    if (!read(entry, value))
      return false;
  return true;
}
static bool read(Attribute attribute, std::map<std::string, double> &values) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return false;
  for (NamedAttribute entry : dictionary)
    if (!read(entry.getValue(), values[entry.getName().str()]))
      return false;
  return true;
}

FailureOr<Strategy> Strategy::get(ModuleOp module) {
  Strategy strategy;
  Attribute attribute = module->getAttr(attributeName);
  if (!attribute)
    return strategy;
  auto given = dyn_cast<DictionaryAttr>(attribute);
  if (!given)
    return module.emitError(attributeName)
           << " is " << attribute << ", expected a dictionary of options";
  size_t known = 0;
  bool isValid = true;
  visitFields(strategy, [&](StringRef name, auto &field) {
    Attribute value = given.get(name);
    if (!value)
      return;
    ++known;
    if (read(value, field))
      return;
    isValid = false;
    module.emitError(attributeName)
        << " has " << name << " = " << value << ", which is of another type";
  });
  if (known != given.size()) {
    llvm::StringSet<> names;
    visitFields(strategy, [&](StringRef name, auto &) { names.insert(name); });
    for (NamedAttribute entry : given)
      if (!names.contains(entry.getName()))
        module.emitError(attributeName)
            << " has '" << entry.getName().getValue()
            << "', which is no option of dtc that a plan depends on";
    isValid = false;
  }
  if (!isValid)
    return failure();
  return strategy;
}
