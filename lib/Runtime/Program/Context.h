//===- Context.h - the state of a rank that runs a plan ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_PROGRAM_CONTEXT_H
#define DTC_LIB_RUNTIME_PROGRAM_CONTEXT_H

#include "Program.h"

namespace dtc::rt {
class Collectives;
class Device;
class FiniteCheck;
class GradientNoise;
class Predictions;
class RecordedCalls;
class Trace;
} // namespace dtc::rt

/// The state of a rank that runs a plan: the first argument of generated code,
/// and of each call of the ABI.
struct dtc_context {
  const dtc::rt::Program &program;
  dtc::rt::Collectives &collectives;
  dtc::rt::Device &device;
  /// Whether asynchronous operations progress while the rank computes.
  bool overlaps;
  int stage; ///< this rank's coordinate on pp, 0 without that axis
  /// For each pipeline stage, the rank with our coordinates on all other axes.
  std::vector<int> stageRanks;
  /// The stage function that runs, as dtcrt_run_begin has it; -1: none.
  int32_t function = -1, microbatch = -1;
  /// Null unless the step is recorded.
  dtc::rt::Trace *trace = nullptr;
  /// Null unless results of ops are checked.
  dtc::rt::FiniteCheck *finiteCheck = nullptr;
  /// Null unless gradients are measured before their reduction.
  dtc::rt::GradientNoise *gradientNoise = nullptr;
  /// Null unless an evaluation writes the model's output.
  dtc::rt::Predictions *predictions = nullptr;
  /// Null unless library calls are recorded instead of made.
  dtc::rt::RecordedCalls *recorded = nullptr;

  dtc_context(const dtc::rt::Program &program, int rank,
              dtc::rt::Collectives &collectives, dtc::rt::Device &device,
              bool overlaps);

  const dtc::rt::Stage &plan() const { return program.stages[stage]; }
};

#endif // DTC_LIB_RUNTIME_PROGRAM_CONTEXT_H
