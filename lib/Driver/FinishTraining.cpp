//===- FinishTraining.cpp - options about loss and optimizer --------------===//

#include "CommandLine.h"
#include "Fail.h"
#include "dtc/Training/Optimizers.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// Checks the optimizer and its explicit settings.
static LogicalResult checkOptimizer(const TrainingOptions &training) {
  std::optional<double> lr = training.lr, clipNorm = training.clipNorm,
                        ema = training.ema;
  if (lr && !(std::isfinite(*lr) && *lr >= 0))
    return fail("--lr is " + std::to_string(*lr) +
                ", expected a number of at least 0");
  if (clipNorm && !(std::isfinite(*clipNorm) && *clipNorm > 0))
    return fail("--clip-norm is " + std::to_string(*clipNorm) +
                ", expected a number above 0");
  if (ema && !(*ema > 0 && *ema < 1))
    return fail("--ema is " + std::to_string(*ema) +
                ", expected a number above 0 and below 1");
  std::optional<double> bias = training.expertBiasUpdate;
  if (bias && !(std::isfinite(*bias) && *bias > 0))
    return fail("--expert-bias-update is " + std::to_string(*bias) +
                ", expected a number above 0, such as 0.001");
  llvm::Expected<const Optimizer *> found = findOptimizer(training.optimizer);
  if (!found)
    return fail(llvm::toString(found.takeError()));
  llvm::Expected<OptimizerSettings> settings =
      completeSettings(**found, getGivenSettings(training));
  return settings ? success() : fail(llvm::toString(settings.takeError()));
}

LogicalResult dtc::finishTraining(DriverOptions &options) {
  const TrainingOptions &training = options.compile.training;
  if (!training.classWeights.empty() &&
      llvm::all_of(training.classWeights,
                   [](double weight) { return weight == 0; }))
    return fail("--class-weights are all 0, expected one above");
  return checkOptimizer(training);
}
