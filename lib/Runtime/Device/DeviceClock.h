//===- DeviceClock.h - times of what a device does --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_DEVICECLOCK_H
#define DTC_LIB_RUNTIME_DEVICE_DEVICECLOCK_H

#include <cstdint>

namespace dtc::rt {

/// Nanoseconds of this process's steady clock.
int64_t hostTime();

/// Times of a device that may finish a call after it returns.
class DeviceClock {
public:
  virtual ~DeviceClock() = default;

  /// Before a step is recorded.
  virtual void begin() = 0;
  /// Marks the moment between the work that the device has so far and later
  /// work. Returns a number for it.
  virtual int64_t mark() = 0;
  /// The time of a mark, on the clock of hostTime.
  virtual int64_t timeOf(int64_t mark) const = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_DEVICECLOCK_H
