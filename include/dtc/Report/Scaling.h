//===- Scaling.h - step time over the number of ranks -----------*- C++ -*-===//
//
// Speed-up and efficiency of plans, and their picture. docs/Architecture/
// Report.md defines them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_SCALING_H
#define DTC_REPORT_SCALING_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dtc {

/// A step on a number of ranks.
struct ScalingPoint {
  int64_t ranks;
  double seconds;
  double samples; ///< of the step, over all ranks

  /// Samples per second relative to the reference, which counts as its number
  /// of ranks.
  double getSpeedUp(const ScalingPoint &reference) const;
  /// The speed-up divided by the number of ranks.
  double getEfficiency(const ScalingPoint &reference) const;
  /// Seconds of the step if the speed-up were the number of ranks.
  double getIdealSeconds(const ScalingPoint &reference) const;
  /// Whether this point is a better reference: fewer ranks, then more samples
  /// per second.
  bool precedes(const ScalingPoint &other) const;
};

struct ScalingCurve {
  std::string name;
  bool isMeasured = false;
  std::vector<ScalingPoint> points; ///< by number of ranks
};

struct Scaling {
  std::string title;
  std::vector<ScalingCurve> curves;
  std::vector<std::string> notes; ///< plans that are impossible, with reasons

  /// The first point of a measured curve, or of all other curves. None if there
  /// is no point.
  std::optional<ScalingPoint> getReference(const ScalingCurve &curve) const;

  /// Draws step time, speed-up and efficiency side by side, with the ideal as
  /// dashed lines. Curves without points have only an entry in the legend.
  void printSvg(llvm::raw_ostream &os) const;
};

/// Reads a file with a number of ranks and the milliseconds of a step in each
/// line. Returns the points by number of ranks, with one sample in a step, or
/// with one for each rank if `isWeak`. The error is one line with the file's
/// name.
llvm::Expected<std::vector<ScalingPoint>>
readMeasuredSteps(llvm::StringRef path, bool isWeak);

} // namespace dtc

#endif // DTC_REPORT_SCALING_H
