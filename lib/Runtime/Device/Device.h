//===- Device.h - what a rank computes on -----------------------*- C++ -*-===//
//
// Each kind of device has a runtime archive of its own, with an implementation
// of this, of the ABI's library calls, of the engines of collectives, and of
// the functions below.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_DEVICE_H
#define DTC_LIB_RUNTIME_DEVICE_DEVICE_H

#include "Arena.h"
#include "Collectives/Collectives.h"
#include "Core/Environment.h"
#include "dtc/Runtime/ABI.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace dtc::rt {

class DeviceClock;
class Tuning;
struct Options;

class Device {
public:
  virtual ~Device() = default;

  /// Zeroed memory, and `hostBytes` of the host's beside it if they are not 0;
  /// throws when there is not that much.
  virtual std::unique_ptr<Arena> makeArena(int64_t bytes, int64_t hostBytes,
                                           Sharing sharing) = 0;

  /// Runs a plan. What of it the device has not done yet when this returns is
  /// done before the arena is read or written from the host.
  virtual void run(dtc_step_fn plan, dtc_context &context, Arena &arena) = 0;
  /// Waits until the device has done everything that it was given.
  virtual void synchronize() {}
  /// Null if calls of a plan are done when they return.
  virtual DeviceClock *clock() { return nullptr; }

  /// What measured times hold for: processor, libraries, threads.
  virtual std::string describe() const = 0;
  /// From now on, products are computed as this chooses, which lives as long
  /// as plans are run.
  virtual void tuneBy(Tuning &tuning) = 0;

  /// Copies `rows` rows of bytes from one buffer to another, `fromStride` and
  /// `toStride` bytes apart, as a part of the plan.
  virtual void copyRows(void *to, int64_t toStride, const void *from,
                        int64_t fromStride, int64_t rowBytes, int64_t rows) = 0;
};

//===----------------------------------------------------------------------===//
// What each archive defines once
//===----------------------------------------------------------------------===//

/// Opens this rank's device; throws an Error if there is none.
std::unique_ptr<Device> openDevice(const Options &options,
                                   Collectives &collectives);

/// Opens the device that this rank has, alone: its `run` makes the calls of a
/// plan one by one.
std::unique_ptr<Device> openOwnDevice(const Options &options,
                                      const Environment &environment);

struct DeviceLine {
  std::string text;
  bool isFailure = false;
};

/// Libraries and devices that this process sees, and the links between these.
std::vector<DeviceLine> describeDevices(bool communicates);

/// What the program was compiled for: "cpu", "cuda sm_90".
std::string describeTarget();

/// Throws an Error if programs cannot run here at all, whatever their ranks.
void checkDevice();

/// Options of the command line that only this kind of device has.
void addDeviceOptions(CLI::App &app, Options &options);

/// How ranks find each other: under a launcher, or one alone. Throws an Error
/// if they do not.
std::unique_ptr<Collectives> startCollectives(const Options &options);

/// A faster engine for groups that it is made for, over the one that was
/// started; null if there is none, or the options do not want it.
std::unique_ptr<Collectives> overlayCollectives(const Options &options,
                                                Collectives &started);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_DEVICE_H
