//===- Context.h - the state of one rank ------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_CONTEXT_H
#define DTC_LIB_RUNTIME_CORE_CONTEXT_H

#include "Collectives/Collectives.h"
#include "Device/Device.h"
#include "Device/RecordedCalls.h"
#include "Metrics/Trace.h"
#include "Program.h"

namespace dtc::rt {
class FiniteCheck;
class GradientNoise;
class Predictions;
} // namespace dtc::rt

/// What generated code gets as its first argument.
struct dtc_context {
  const dtc::rt::Program &program;
  dtc::rt::Collectives &collectives;
  dtc::rt::Device &device;
  /// Whether what is started goes on while the rank computes.
  bool overlaps;
  int stage; ///< this rank's coordinate on pp, 0 without that axis
  /// Rank of each pipeline stage whose other coordinates are ours.
  std::vector<int> stageRanks;
  /// The run that generated code is in, as dtcrt_run_begin has it; -1: none.
  int32_t phase = -1, microbatch = -1;
  /// Null but in a step that is recorded.
  dtc::rt::Trace *trace = nullptr;
  /// Null unless it looks at what ops write.
  dtc::rt::FiniteCheck *finiteCheck = nullptr;
  /// Null unless it looks at gradients before they are reduced.
  dtc::rt::GradientNoise *gradientNoise = nullptr;
  /// Null unless an evaluation writes the model's output.
  dtc::rt::Predictions *predictions = nullptr;
  /// Null unless library calls are recorded instead of made.
  dtc::rt::RecordedCalls *recorded = nullptr;

  dtc_context(const dtc::rt::Program &program,
              dtc::rt::Collectives &collectives, dtc::rt::Device &device,
              bool overlaps);

  const dtc::rt::Stage &plan() const { return program.stages[stage]; }
};

namespace dtc::rt {

/// Says how this rank is called in messages, and whom to take down with it.
void setFatalContext(Collectives *collectives, std::string rankName);

/// From now on `fatal` ends this rank alone: there is no launcher to tell. For
/// any thread.
void forgetFatalCollectives();

/// Reports an error that cannot be recovered from, in one line that names the
/// rank, and ends the whole job; says nothing if another rank of the machine
/// has said why. For calls inside a step.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char *pattern, ...);

/// Whether `fatal` throws an Error instead from now on: whoever tries library
/// calls goes on with the next.
void makeFatalThrow(bool isOn = true);

/// Makes a library call, which `describe` returns as a RecordedCall, or records
/// it.
template <typename Describe, typename Make>
void makeCall(dtc_context *context, const Describe &describe,
              const Make &make) {
  if (!context->recorded)
    return make();
  RecordedCall call = describe();
  call.make = make;
  context->recorded->add(std::move(call));
}

/// What one who watches other ranks of the machine adds; both may be called by
/// signal handlers.
struct WatchHooks {
  bool (*claimReport)() = nullptr;
  void (*leaveBySignal)() = nullptr;
};
void setWatchHooks(const WatchHooks &hooks);

/// Whether this rank is the one of its machine that says why the job ends: the
/// first that asks.
bool claimReport();

/// For the handler of a signal that tells this rank to stop: it is not lost.
/// Gives the thread that watches others time to say which of them is, for a
/// launcher stops all ranks when one dies.
void leaveBySignal();

/// Does not return if another thread ends the job: what this one has waited for
/// may be wrong.
void stopIfEnding();

/// The floating-point type of a call; any other is fatal.
dtc_dtype expectFloat(const char *call, int32_t dtype);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_CONTEXT_H
