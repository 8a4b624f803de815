//===- Target.h - the target that a program was compiled for ----*- C++ -*-===//
//
// Each target has a runtime archive of its own, which defines these functions.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_TARGET_TARGET_H
#define DTC_LIB_RUNTIME_TARGET_TARGET_H

#include "Collectives/Collectives.h"
#include "Device/Device.h"
#include "Launch/Environment.h"
#include "Options/Options.h"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace dtc::rt {

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

#endif // DTC_LIB_RUNTIME_TARGET_TARGET_H
