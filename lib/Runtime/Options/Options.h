//===- Options.h - values of the command line -------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_OPTIONS_OPTIONS_H
#define DTC_LIB_RUNTIME_OPTIONS_OPTIONS_H

#include "BatchScale.h"
#include "LearningRate.h"
#include "Program/Program.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dtc::rt {

/// Values of options by their names.
using GivenOptions = std::map<std::string, std::string>;

/// The engine of f32 products on CPUs. oneDNN has no f64, allocates in every
/// call, and may sum in another order when the number of threads changes; it is
/// there for comparison.
enum class MatMulEngine { builtin, oneDnn };

enum class CollectivesEngine { automatic, network };
enum class ProgressStyle { automatic, plain, bar };
/// The number by which an evaluation is better than another.
enum class BestBy { loss, trainingLoss, accuracy, top5, f1 };
/// "loss", as in checkpoints.
constexpr const char *nameOf(BestBy by) {
  constexpr const char *names[] = {"loss", "training-loss", "accuracy", "top5",
                                   "f1"};
  return names[int(by)];
}

/// The reaction to a loss or gradient norm that is NaN or infinite.
enum class OnNonFinite { stop, skip, warn };

struct Options;

/// A number of steps that the user gave in epochs.
struct EpochCount {
  const char *option; ///< that it was given to
  double epochs;
  int64_t Options::*steps; ///< 1 until `settleSteps` (Epochs.h)
};

struct Options {
  std::string name;                   ///< of the program, in messages
  std::vector<std::string> arguments; ///< as given, without the program
  std::string data;
  int64_t steps = 100;
  std::vector<EpochCount> epochCounts; ///< become steps in `settleSteps`
  int64_t stepsPerEpoch = 0;           ///< 0: not known, or no end
  /// The peak is the plan's learning rate unless --lr is given.
  LearningRateSchedule learningRate;
  std::optional<BatchScale> batchScale; ///< of the learning rate
  uint64_t seed = 0;
  /// Empty: none.
  std::string metrics, tensorboard, saveWeights, saveAverages, saveBest,
      dumpGradients, trace;
  /// Files of a server with the order of arrival. Empty: none.
  std::string recordArrivals, replayArrivals;
  std::string checkpointDir;   ///< empty: none
  int64_t checkpointEvery = 0; ///< 0: at the end and when stopped
  int64_t keepCheckpoints = 3;
  bool checkpointAsync = false;
  bool resume = false;
  int64_t resumeStep = -1; ///< -1: the newest
  OnNonFinite onNonFinite = OnNonFinite::stop;
  bool findNonFinite = false;
  bool gradientNoise = false;
  std::string profile;                   ///< "-": standard output
  int64_t traceFirst = 0, traceLast = 0; ///< steps; 0: the 2nd to the 4th
  int processes = 0;                     ///< 0: as started
  int threads = 0;                       ///< 0: as the cores allow
  bool shuffle = true;
  std::string transform;   ///< of images; empty: none
  int prefetch = 2;        ///< steps that are read ahead
  bool verifyData = false; ///< whether ranks compare all of it
  bool checkReplicas = false;
  int64_t evalEvery = 0;   ///< 0: no evaluation
  int64_t earlyStop = 0;   ///< evaluations that are no better; 0: no limit
  int64_t evalBatches = 0; ///< 0: all
  std::string evalData;    ///< empty: valid/ in `data`
  bool evalTrain = false;  ///< evaluate the training data as well
  BestBy bestBy = BestBy::loss;
  bool evaluates = false;   ///< instead of training
  std::string predict;      ///< empty: predictions are not written
  std::string initWeights;  ///< empty: the program's own
  double peakFlops = 0;     ///< of a rank, a second; 0: not given
  int64_t logEvery = 0;     ///< 0: about one line a second
  double lossScale = 65536; ///< of the first step
  bool describe = false;
  bool diagnose = false;
  ProgressStyle progress = ProgressStyle::automatic;
  MatMulEngine matmul = MatMulEngine::builtin;
  bool winograd = true; ///< on CPUs
  CollectivesEngine collectives = CollectivesEngine::automatic;
  bool overlaps = true;
  GivenOptions given;     ///< compared by OptionAgreement.h
  bool tf32 = false;      ///< on GPUs
  bool cudaGraph = true;  ///< on GPUs
  std::string autotune;   ///< empty: heuristics choose
  std::string rendezvous; ///< empty: as the launcher has it
  int timeout = 60;       ///< seconds

  /// Whether a stop before the last step would lose results that the user asked
  /// for.
  bool savesTraining() const {
    return !evaluates && (!checkpointDir.empty() || !saveWeights.empty() ||
                          !saveAverages.empty());
  }
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_OPTIONS_OPTIONS_H
