//===- ModelSpeed.h - FLOP/s and MFU of a training --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_MODELSPEED_H
#define DTC_LIB_RUNTIME_METRICS_MODELSPEED_H

#include "Options/Options.h"
#include "Program/Program.h"

#include <optional>

namespace dtc::rt {

/// Model FLOPs divided by the time of a step. MFU is their share of the peak of
/// all ranks (Chowdhery et al., arXiv 2204.02311, appendix B). Recomputation
/// and operations other than products do not count.
class ModelSpeed {
public:
  ModelSpeed(const Program &program, const Options &options)
      : flops(double(program.modelFlops)), ranks(program.mesh.size()),
        // The compiler's peak is not that of tf32.
        peak(options.peakFlops > 0 ? options.peakFlops
             : options.tf32        ? 0
                                   : program.peakFlops) {}

  /// FLOP/s of all ranks; nothing if the program does not know its FLOPs.
  std::optional<double> flopsPerSecond(double secondsOfStep) const {
    return flops > 0 ? std::optional(flops / secondsOfStep) : std::nullopt;
  }
  std::optional<double> flopsPerSecondOfRank(double secondsOfStep) const {
    return flops > 0 ? std::optional(flops / secondsOfStep / ranks)
                     : std::nullopt;
  }
  /// From 0 to 1; nothing without a known peak.
  std::optional<double> mfu(double secondsOfStep) const {
    return flops > 0 && peak > 0
               ? std::optional(flops / (secondsOfStep * ranks * peak))
               : std::nullopt;
  }

private:
  double flops; ///< of a step, 0: not known
  int ranks;
  double peak; ///< FLOP/s of a rank, 0: not known
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_MODELSPEED_H
