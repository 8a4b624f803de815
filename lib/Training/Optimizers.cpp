//===- Optimizers.cpp - table of optimizers -------------------------------===//
//
// Definitions and defaults are those of PyTorch, or of the papers that the ops
// cite.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/Optimizers.h"
#include "LayerwiseUpdates.h"
#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

using Settings = OptimizerSettings;
using Names = SmallVector<StringRef>;
using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

namespace {

/// Builds the ops of updates.
struct UpdateBuilder {
  UpdateBuilder(OpBuilder &builder, const ParameterUpdate &update,
                const Settings &settings)
      : builder(builder), update(update), settings(settings),
        loc(update.parameter.getLoc()), type(update.parameter.getType()),
        stateTypes(update.state.size(), type) {}

  static Values getResults(Operation *op) {
    return llvm::to_vector_of<Value>(op->getResults());
  }
  llvm::APFloat get(const char *name) const {
    return llvm::APFloat(settings.at(name));
  }

  OpBuilder &builder;
  const ParameterUpdate &update;
  const Settings &settings;
  Location loc;
  Type type;
  SmallVector<Type> stateTypes;
};

} // namespace

static Values createSgd(OpBuilder &builder, const ParameterUpdate &update,
                        const Settings &settings) {
  UpdateBuilder b(builder, update, settings);
  return b.getResults(
      SgdOp::create(builder, b.loc, b.type, b.stateTypes, update.parameter,
                    update.gradient, update.lr, update.state, b.get("momentum"),
                    settings.at("nesterov") != 0, b.get("weight_decay")));
}

template <bool isDecoupled>
static Values createAdam(OpBuilder &builder, const ParameterUpdate &update,
                         const Settings &settings) {
  UpdateBuilder b(builder, update, settings);
  return b.getResults(AdamOp::create(
      builder, b.loc, b.type, b.stateTypes, update.parameter, update.gradient,
      update.lr, update.step, update.state, b.get("beta1"), b.get("beta2"),
      b.get("epsilon"), b.get("weight_decay"), isDecoupled));
}

static Values createRmsProp(OpBuilder &builder, const ParameterUpdate &update,
                            const Settings &settings) {
  UpdateBuilder b(builder, update, settings);
  return b.getResults(RmsPropOp::create(
      builder, b.loc, b.type, b.stateTypes, update.parameter, update.gradient,
      update.lr, update.state, b.get("alpha"), b.get("epsilon"),
      b.get("momentum"), b.get("weight_decay")));
}

static Values createAdagrad(OpBuilder &builder, const ParameterUpdate &update,
                            const Settings &settings) {
  UpdateBuilder b(builder, update, settings);
  return b.getResults(AdagradOp::create(
      builder, b.loc, b.type, b.stateTypes, update.parameter, update.gradient,
      update.lr, update.state, b.get("epsilon"), b.get("weight_decay")));
}

static Values createLion(OpBuilder &builder, const ParameterUpdate &update,
                         const Settings &settings) {
  UpdateBuilder b(builder, update, settings);
  return b.getResults(LionOp::create(builder, b.loc, b.type, b.stateTypes,
                                     update.parameter, update.gradient,
                                     update.lr, update.state, b.get("beta1"),
                                     b.get("beta2"), b.get("weight_decay")));
}

/// Updates of optimizers that treat each element separately.
template <Values (*createUpdate)(OpBuilder &, const ParameterUpdate &,
                                 const Settings &)>
static SmallVector<Values> createEach(OpBuilder &builder,
                                      ArrayRef<ParameterUpdate> parts,
                                      const Settings &settings) {
  return llvm::map_to_vector(parts, [&](const ParameterUpdate &part) {
    return createUpdate(builder, part, settings);
  });
}

//===----------------------------------------------------------------------===//
// State, by PyTorch's names
//===----------------------------------------------------------------------===//

static Names getMomentumNames(const Settings &settings) {
  return settings.at("momentum") != 0 ? Names{"momentum_buffer"} : Names{};
}

static Names getAdamNames(const Settings &) {
  return {"exp_avg", "exp_avg_sq"};
}

static Names getRmsPropNames(const Settings &settings) {
  Names names = {"square_avg"};
  llvm::append_range(names, getMomentumNames(settings));
  return names;
}

static Names getAdagradNames(const Settings &) { return {"sum"}; }

static Names getLionNames(const Settings &) { return {"exp_avg"}; }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

ArrayRef<Optimizer> dtc::getOptimizers() {
  static const Optimizer optimizers[] = {
      {"sgd",
       1e-3,
       {{"momentum", 0}, {"nesterov", 0}, {"weight_decay", 0}},
       getMomentumNames,
       createEach<createSgd>,
       true},
      {"adam",
       1e-3,
       {{"beta1", 0.9},
        {"beta2", 0.999},
        {"epsilon", 1e-8},
        {"weight_decay", 0}},
       getAdamNames,
       createEach<createAdam<false>>,
       true},
      {"adamw",
       1e-3,
       {{"beta1", 0.9},
        {"beta2", 0.999},
        {"epsilon", 1e-8},
        {"weight_decay", 0.01}},
       getAdamNames,
       createEach<createAdam<true>>,
       true},
      {"rmsprop",
       1e-2,
       {{"alpha", 0.99},
        {"epsilon", 1e-8},
        {"momentum", 0},
        {"weight_decay", 0}},
       getRmsPropNames,
       createEach<createRmsProp>,
       true},
      {"adagrad",
       1e-2,
       {{"epsilon", 1e-10}, {"weight_decay", 0}},
       getAdagradNames,
       createEach<createAdagrad>,
       true},
      {"lion",
       1e-4,
       {{"beta1", 0.9}, {"beta2", 0.99}, {"weight_decay", 0}},
       getLionNames,
       createEach<createLion>,
       true},
      {"lamb",
       1e-3,
       {{"beta1", 0.9},
        {"beta2", 0.999},
        {"epsilon", 1e-6},
        {"weight_decay", 0.01}},
       getAdamNames,
       createLamb,
       false},
      {"lars",
       0.1,
       {{"momentum", 0.9},
        {"epsilon", 1e-8},
        {"trust_coefficient", 1e-3},
        {"weight_decay", 0}},
       getMomentumNames,
       createLars,
       false},
  };
  return optimizers;
}

std::string dtc::listOptimizers(StringRef separator) {
  return llvm::join(llvm::map_range(getOptimizers(),
                                    [](const Optimizer &optimizer) {
                                      return StringRef(optimizer.name);
                                    }),
                    separator);
}

static llvm::Error makeError(const Twine &text) {
  return llvm::createStringError(text);
}

llvm::Expected<const Optimizer *> dtc::findOptimizer(StringRef name) {
  for (const Optimizer &optimizer : getOptimizers())
    if (name == optimizer.name)
      return &optimizer;
  return makeError("unknown optimizer '" + name + "', expected " +
                   listOptimizers(" or "));
}

std::string dtc::findSetting(StringRef option) {
  std::string name = option.str();
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Optimizer &optimizer : getOptimizers())
    if (optimizer.settings.count(name))
      return name;
  return "";
}

static std::optional<double> getSetting(bool field) {
  return field ? std::optional<double>(1) : std::nullopt;
}
static std::optional<double> getSetting(std::optional<double> field) {
  return field;
}
template <typename T> static std::optional<double> getSetting(const T &) {
  return std::nullopt;
}

Settings dtc::getGivenSettings(const TrainingOptions &options) {
  Settings settings;
  TrainingOptions::visit(options, [&](const OptionRow &row, const auto &field) {
    std::optional<double> value = getSetting(field);
    std::string name = value ? findSetting(row.name) : std::string();
    if (!name.empty())
      settings[name] = *value;
  });
  return settings;
}

/// Describes the valid range of a setting if the value is outside; else null.
static const char *findRangeError(StringRef name, double value) {
  if (name == "nesterov")
    return value == 0 || value == 1 ? nullptr : "0 or 1";
  // Epsilon 0 would divide by zero where a gradient has always been zero, and a
  // trust coefficient of 0 would train nothing.
  if (name == "epsilon" || name == "trust_coefficient")
    return value > 0 && std::isfinite(value) ? nullptr : "a number above 0";
  if (name == "weight_decay")
    return value >= 0 && std::isfinite(value) ? nullptr
                                              : "a number of at least 0";
  return value >= 0 && value < 1 ? nullptr
                                 : "a number of at least 0 and below 1";
}

llvm::Expected<Settings> dtc::completeSettings(const Optimizer &optimizer,
                                               const Settings &given) {
  Settings settings = optimizer.settings;
  for (const auto &[name, value] : given) {
    auto found = settings.find(name);
    if (found == settings.end())
      return makeError(
          Twine(optimizer.name) + " has no " + name + ", expected " +
          llvm::join(llvm::make_first_range(optimizer.settings), ", "));
    if (const char *expected = findRangeError(name, value)) {
      std::string text;
      llvm::raw_string_ostream(text) << llvm::format("%g", value);
      return makeError(name + " is " + text + ", expected " + expected);
    }
    found->second = value;
  }
  auto nesterov = settings.find("nesterov");
  if (nesterov != settings.end() && nesterov->second != 0 &&
      settings.at("momentum") == 0)
    return makeError("nesterov needs a momentum above 0");
  return settings;
}
