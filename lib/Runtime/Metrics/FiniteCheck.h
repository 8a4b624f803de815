//===- FiniteCheck.h - the first op whose result is no number ---*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_FINITECHECK_H
#define DTC_LIB_RUNTIME_METRICS_FINITECHECK_H

#include "Device/Device.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

struct dtc_context;

namespace dtc::rt {

/// Checks the results of each op of a step (--find-nonfinite). An infinity
/// below zero is no error: attention masks have it, and an overflow to it soon
/// makes a NaN or +infinity.
class FiniteCheck {
public:
  FiniteCheck(Device &device, const Arena &arena)
      : device(device), arena(arena) {}

  void beginStep() { infinity = nan = std::nullopt; }
  void beginOp(int32_t own) { op = own; }
  /// `count` elements that the current op has written.
  void look(const dtc_context &context, dtc_dtype dtype, const void *result,
            int64_t count);

  /// The first infinity and the first NaN of the last step, on all ranks, as a
  /// clause for rank 0; empty if no op had any. All ranks call this.
  std::string describe(const dtc_context &context) const;

private:
  struct Found {
    int64_t time; ///< nanoseconds of the machine's calendar; 0: nothing
    int32_t op, function, microbatch;
  };
  static std::string describe(const dtc_context &context, const Found &found,
                              size_t rank);

  Device &device;
  const Arena &arena;
  int32_t op = -1;
  std::optional<Found> infinity, nan;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_FINITECHECK_H
