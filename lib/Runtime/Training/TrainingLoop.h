//===- TrainingLoop.h - the steps of one rank -------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_TRAININGLOOP_H
#define DTC_LIB_RUNTIME_TRAINING_TRAININGLOOP_H

#include "CheckReplicas.h"
#include "Checkpoint/Checkpointer.h"
#include "Collectives/Collectives.h"
#include "Data/Source.h"
#include "Device/Device.h"
#include "Device/Tuning.h"
#include "EarlyStop.h"
#include "Evaluation.h"
#include "LossScale.h"
#include "Metrics/FiniteCheck.h"
#include "Metrics/GradientNoise.h"
#include "Metrics/Reporter.h"
#include "Metrics/Trace.h"
#include "Options/Options.h"
#include "Outputs.h"
#include "Program/Context.h"
#include "RankJob.h"
#include "Server/ParameterServer.h"
#include "StepInputs.h"
#include "StopVote.h"
#include "System/ReservedSpace.h"
#include "TuningFile.h"
#include "WorkerAverage.h"

namespace dtc::rt {

/// Whether rank 0 draws a progress bar.
bool showsBar(const Options &options);

/// The samples of --data. Throws an Error. All ranks call this.
std::unique_ptr<DataSource> openTrainingData(const Program &program,
                                             const Options &options,
                                             Collectives &collectives);

/// Why a training ended.
enum class TrainingEnd { finished, noBetter, stopped, notFinite };

/// The steps of a rank, and their data.
class TrainingLoop : public RankJob {
public:
  TrainingLoop(const Program &program, const Options &options,
               Collectives &collectives, Device &device,
               std::unique_ptr<DataSource> source);

  void expectSameData() const override;
  void readTuning() override;
  std::string shareArena() override {
    return context.collectives.attach(*arena);
  }
  std::string announce() const override;
  /// Initial parameters, or the state of a checkpoint.
  void loadState() override;
  std::vector<std::string> notes() const override;
  /// Trains and saves.
  bool run() override;

private:
  bool leads() const { return context.collectives.rank() == 0; }
  void checkOutputs();
  std::string describeData() const;
  FileCoverage coverage() const { return {options.verifyData, options.seed}; }
  void openTrace();
  std::string gradientFile(int64_t step) const;
  double scalarAt(int64_t offset) const { return arena->load<double>(offset); }

  TrainingEnd train();
  void runStep(int64_t step);
  int64_t runServed(int64_t first);
  ParameterServer::Computed compute(const Share &share);
  void apply(const ParameterServer::Update &update);
  void reportServed(const ServedStep &done);
  void runPlan(int64_t step);
  void runPrograms(int64_t step);
  void inspect(int64_t step, std::optional<double> scale);
  void report(int64_t step, double seconds, std::optional<double> scale,
              std::optional<double> localSquares);
  /// Returns whether no evaluation before was as good.
  bool evaluate(int64_t step);
  void save();
  void judgeWorkers(const StopVote::Decision &vote);
  void reportNotFinite(int64_t step);
  void reportEnd(TrainingEnd how, int64_t step);
  TrainingState stateAfter(int64_t step) const;
  void writeTrace();
  void finishTuning();
  void observe(int64_t step, bool begin) const;

  const Program &program;
  const Options &options;
  ModelSpeed speed;
  dtc_context context;
  OutputLock outputs;                  ///< of rank 0
  std::vector<ReservedSpace> reserved; ///< by rank 0, for what is saved at last
  std::unique_ptr<Arena> arena;
  std::unique_ptr<DataSource> source;
  BatchLoader loader;
  StepInputs inputs;
  LossScale lossScale;
  std::optional<TuningFile> tuning;
  std::optional<Evaluation> evaluation, ofTrainingData;
  EarlyStop earlyStop;
  std::string resumeNote; ///< on what it goes on from; empty if there is none
  std::optional<Reporter> reporter; ///< of rank 0
  std::optional<ReplicaCheck> replicas;
  std::optional<Trace> trace;
  std::optional<FiniteCheck> finiteCheck;
  std::optional<GradientNoise> gradientNoise;
  std::optional<NoiseScale> noiseScale; ///< rank 0 adds to it
  std::optional<Checkpointer> checkpoints;
  WorkerAverage average;
  std::optional<ParameterServer> server;
  dtc_step_fn applyFunction = nullptr; ///< of the server
  double loss = 0, gradientNorm = 0;   ///< of the last step
  std::optional<double> staleness;     ///< of the last step, with a server
  StopVote stopVote;
  std::optional<NotFiniteStep> notFinite; ///< that ended a training of workers
  int64_t firstStep = 1;
  std::optional<int64_t> soundStep; ///< as a checkpoint would have it
  /// The step of the checkpoint that the next step resumes from.
  std::optional<int64_t> unprovenStep;
  bool isSkipped = false; ///< the last step, which changed no weight
  bool isFinite = true;   ///< the last loss and norm, unless it was skipped
  decltype(&dtcrt_step_hook) hook;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_TRAININGLOOP_H
