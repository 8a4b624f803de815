//===- Device.h - the device of a rank --------------------------*- C++ -*-===//
//
// Each target has an implementation, and one of the ABI's library calls.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_DEVICE_H
#define DTC_LIB_RUNTIME_DEVICE_DEVICE_H

#include "Arena.h"
#include "DeviceClock.h"
#include "dtc/Runtime/ABI.h"

#include <memory>
#include <string>

namespace dtc::rt {

class Tuning;

class Device {
public:
  virtual ~Device() = default;

  /// Zeroed memory, and `hostBytes` of the host's beside it if they are not 0;
  /// throws when there is not that much.
  virtual std::unique_ptr<Arena> makeArena(int64_t bytes, int64_t hostBytes,
                                           Sharing sharing) = 0;

  /// Runs a plan. The device may finish it later, but before the host accesses
  /// the arena.
  virtual void run(dtc_step_fn plan, dtc_context &context, Arena &arena) = 0;
  /// Waits until the device has done everything that it was given.
  virtual void synchronize() {}
  /// Null if calls of a plan are done when they return.
  virtual DeviceClock *clock() { return nullptr; }

  /// The device that measured times hold for: processor, libraries, threads.
  virtual std::string describe() const = 0;
  /// From now on, `tuning` chooses how products are computed. It must live as
  /// long as plans are run.
  virtual void tuneBy(Tuning &tuning) = 0;

  /// Copies `rows` rows of bytes from one buffer to another, `fromStride` and
  /// `toStride` bytes apart, as a part of the plan.
  virtual void copyRows(void *to, int64_t toStride, const void *from,
                        int64_t fromStride, int64_t rowBytes, int64_t rows) = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_DEVICE_H
