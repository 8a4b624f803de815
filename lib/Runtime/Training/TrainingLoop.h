//===- TrainingLoop.h - the steps of one rank -------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_TRAININGLOOP_H
#define DTC_LIB_RUNTIME_TRAINING_TRAININGLOOP_H

#include "CheckReplicas.h"
#include "Core/Context.h"
#include "Core/Options.h"
#include "Data/Source.h"
#include "Device/Device.h"
#include "Evaluation.h"
#include "LossScale.h"
#include "Metrics/Metrics.h"
#include "StepInputs.h"

namespace dtc::rt {

/// Whether rank 0 draws a progress bar.
bool showsBar(const Options &options);

/// Everything that a rank needs in its steps, made before the first.
class TrainingLoop {
public:
  /// Throws an Error if data, weights or outputs do not fit. Met by all ranks.
  TrainingLoop(const Program &program, const Options &options,
               Collectives &collectives, Device &device);

  /// Shows the arena to the collectives; met by all ranks. Returns a note.
  std::string shareArena() { return context.collectives.attach(*arena); }

  /// What of the data is not evaluated; empty if nothing.
  std::string describeRest() const {
    return evaluation ? evaluation->describeRest() : std::string();
  }

  /// Trains and saves.
  void run();

private:
  bool leads() const { return context.collectives.rank() == 0; }
  std::unique_ptr<DataSource> openSource(Collectives &collectives) const;
  void checkOutputs() const;
  std::string gradientFile(int64_t step) const;
  double scalarAt(int64_t offset) const { return arena->load<double>(offset); }

  void runStep(int64_t step);
  void runPlan(int64_t step);
  void report(int64_t step, double seconds, std::optional<double> scale,
              bool isSkipped);
  void evaluate(int64_t step);
  void save();
  void observe(int64_t step, bool begin) const;

  const Program &program;
  const Options &options;
  dtc_context context;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<DataSource> source;
  BatchLoader loader;
  StepInputs inputs;
  LossScale lossScale;
  std::optional<Evaluation> evaluation;
  MetricsFile metricsFile;
  Progress progress;
  std::optional<ReplicaCheck> replicas;
  std::optional<Trace> trace;
  decltype(&dtcrt_step_hook) hook;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_TRAININGLOOP_H
