//===- GradientNoise.h - the noise scale of the gradient --------*- C++ -*-===//
//
// The simple noise scale of McCandlish et al., "An Empirical Model of
// Large-Batch Training", arXiv 1812.06162, appendix A.1.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_METRICS_GRADIENTNOISE_H
#define DTC_LIB_RUNTIME_METRICS_GRADIENTNOISE_H

#include "Collectives/Collectives.h"
#include "Device/Device.h"

#include <optional>
#include <vector>

namespace dtc::rt {

/// Estimates from squared gradient norms of small and large batches. Both are
/// means over steps, in which a step weighs 0.99 of the next:
///
///     |G|^2 = (large |G_large|^2 - small |G_small|^2) / (large - small)
///     S = (|G_small|^2 - |G_large|^2) / (1 / small - 1 / large)
class NoiseScale {
public:
  /// Samples of the batches; `small` is less than `large`.
  NoiseScale(double small, double large) : small(small), large(large) {}

  void add(double smallSquares, double largeSquares);
  /// S / |G|^2, in samples; NaN where |G|^2 is not above zero.
  double value() const;

private:
  double small, large;
  double signal = 0, noise = 0;
};

/// Squared norms of each rank's gradient before its reduction over the ranks
/// that share the batch (--gradient-noise).
class GradientNoise {
public:
  GradientNoise(const Program &program, Collectives &collectives,
                Device &device, const Arena &arena);

  void beginStep();
  /// A collective of a group is about to start.
  void observe(int group, const Collective &collective);
  /// Returns on rank 0 the mean, over those ranks, of the squared norm of the
  /// gradient of the rank's own samples. `scale` is the loss scale. Empty if
  /// the step did not reduce each gradient once, over exactly these ranks. All
  /// ranks call this.
  std::optional<double> endStep(double scale) const;

private:
  /// The place of a reduced gradient.
  struct Place {
    int64_t begin, end; ///< bytes of the arena
    double weight;      ///< one by how many ranks of a stage have the same part
    int64_t reduced = 0; ///< bytes, of the step
  };
  double sumSquares(const void *buffer, dtc_dtype dtype, int64_t count) const;

  const Program &program;
  Collectives &collectives;
  Device &device;
  const Arena &arena;
  std::vector<bool> isBatchGroup; ///< by group
  std::vector<Place> places;
  double squares = 0;     ///< of the step
  bool isUnclear = false; ///< the step reduced what has no one weight
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_GRADIENTNOISE_H
