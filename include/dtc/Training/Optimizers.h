//===- Optimizers.h - table of optimizers -----------------------*- C++ -*-===//
//
// One table has each optimizer's name, settings with defaults, state and update
// rule.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_OPTIMIZERS_H
#define DTC_TRAINING_OPTIMIZERS_H

#include "dtc/Options/Options.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace dtc {

/// Values of momentum, nesterov, alpha, beta1, beta2, epsilon, weight_decay and
/// trust_coefficient by name. A flag is 0 or 1.
using OptimizerSettings = std::map<std::string, double>;

/// The operands of one parameter's update. The gradient has the parameter's
/// type; lr and step are scalars of type f64.
struct ParameterUpdate {
  mlir::Value parameter, gradient, lr, step;
  mlir::ValueRange state;
  bool decays = true; ///< whether weight decay may change the parameter
};

struct Optimizer {
  const char *name;
  /// Default learning rate.
  double lr;
  /// All settings of the optimizer, with their defaults.
  OptimizerSettings settings;
  /// The names of each parameter's states. A state has the parameter's type and
  /// starts at zero.
  llvm::SmallVector<llvm::StringRef> (*getStateNames)(
      const OptimizerSettings &settings);
  /// Builds the new value of each parameter, then its new states. The
  /// parameters are parts of one tensor of the model, or the whole tensor.
  /// `settings` must have a value for every setting.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> (*createUpdates)(
      mlir::OpBuilder &builder, llvm::ArrayRef<ParameterUpdate> parts,
      const OptimizerSettings &settings);
  /// Whether each element depends on its own gradient and state only, so that
  /// one update can handle several parameters.
  bool isElementwise;
};

/// All optimizers, in the order of help texts.
llvm::ArrayRef<Optimizer> getOptimizers();

/// Their names, separated by `separator`.
std::string listOptimizers(llvm::StringRef separator);

/// Finds an optimizer. The error lists all names.
llvm::Expected<const Optimizer *> findOptimizer(llvm::StringRef name);

/// The name of the setting that an option sets: "weight_decay" for
/// --weight-decay. Empty if it sets none.
std::string findSetting(llvm::StringRef option);

/// The settings that options set explicitly.
OptimizerSettings getGivenSettings(const TrainingOptions &options);

/// The explicit settings, and the defaults of the others. Returns an error if
/// the optimizer lacks an explicit setting, or if its value is out of range.
llvm::Expected<OptimizerSettings>
completeSettings(const Optimizer &optimizer, const OptimizerSettings &given);

} // namespace dtc

#endif // DTC_TRAINING_OPTIMIZERS_H
