//===- Options.h - options of the schedule phase ----------------*- C++ -*-===//

#ifndef DTC_SCHEDULE_OPTIONS_H
#define DTC_SCHEDULE_OPTIONS_H

#include <cstdint>
#include <string>

namespace dtc {

struct ScheduleOptions {
  std::string recompute = "selective"; ///< what the backward pass makes again
  std::string schedule = "1f1b";       ///< order of micro-batches
  int64_t virtualStages = 1;           ///< of each pipeline stage
  int64_t accumulate = 1;              ///< rounds of micro-batches in a step
  int64_t bucketMb = 25;               ///< MiB of gradients reduced by one call
  std::string offload = "none";        ///< what lies in the host's memory
  bool poisonMemory = false;           ///< NaN where nothing is live

  /// Whether a stage computes all gradients of a micro-batch at once: where
  /// whole layers are recomputed, what one function hands to another would be
  /// all of a stage's activations. A schedule that places gradients of
  /// parameters by themselves keeps them apart.
  bool joinsWeights() const {
    return (schedule == "gpipe" || schedule == "1f1b" ||
            schedule == "interleaved") &&
           (recompute == "all" || recompute == "except-last" ||
            recompute.rfind("every:", 0) == 0);
  }
};

} // namespace dtc

#endif // DTC_SCHEDULE_OPTIONS_H
