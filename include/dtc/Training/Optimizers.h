//===- Optimizers.h - the optimizers there are ------------------*- C++ -*-===//
//
// One table: what each optimizer is called, its settings and defaults, its
// state, and how it updates a parameter.
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

/// Values of momentum, nesterov, alpha, beta1, beta2, epsilon, weight_decay,
/// by name; a flag is 0 or 1.
using OptimizerSettings = std::map<std::string, double>;

/// What an update of one parameter works on. The gradient has the parameter's
/// type; lr and step are scalars of type f64.
struct ParameterUpdate {
  mlir::Value parameter, gradient, lr, step;
  mlir::ValueRange state;
};

struct Optimizer {
  const char *name;
  /// Default learning rate.
  double lr;
  /// All that the optimizer has, with their defaults.
  OptimizerSettings settings;
  /// State of each parameter, each of the parameter's type and zero at first.
  llvm::SmallVector<llvm::StringRef> (*getStateNames)(
      const OptimizerSettings &settings);
  /// For each parameter its new value, then its new state. The parameters are
  /// one tensor of the model: one, or the parts it was taken apart into.
  /// `settings` are complete.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> (*createUpdates)(
      mlir::OpBuilder &builder, llvm::ArrayRef<ParameterUpdate> parts,
      const OptimizerSettings &settings);
  /// Whether an element of the parameter depends on its own gradient and state
  /// alone, so that updates of several parameters may be one.
  bool isElementwise;
};

/// In the order that people see them in.
llvm::ArrayRef<Optimizer> getOptimizers();

/// Their names, separated by `separator`.
std::string listOptimizers(llvm::StringRef separator);

/// An error names all that there are.
llvm::Expected<const Optimizer *> findOptimizer(llvm::StringRef name);

/// The setting that an option has the name of, or empty: "weight_decay" of
/// --weight-decay.
std::string findSetting(llvm::StringRef option);

/// The settings that have been chosen.
OptimizerSettings getGivenSettings(const TrainingOptions &options);

/// The settings that were given and the defaults of the others. An error if one
/// was given that the optimizer does not have, or outside its range.
llvm::Expected<OptimizerSettings>
completeSettings(const Optimizer &optimizer, const OptimizerSettings &given);

} // namespace dtc

#endif // DTC_TRAINING_OPTIMIZERS_H
