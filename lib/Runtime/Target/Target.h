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

/// Opens the device of this rank without other ranks. Its `run` makes the calls
/// of a plan one by one.
std::unique_ptr<Device> openOwnDevice(const Options &options,
                                      const Environment &environment);

struct DeviceLine {
  std::string text;
  bool isFailure = false;
};

/// Libraries and devices that this process sees, and the links between these.
std::vector<DeviceLine> describeDevices(bool communicates);

/// The target of the program: "cpu", "cuda sm_90".
std::string describeTarget();

/// Throws an Error if programs cannot run here at all, whatever their ranks.
void checkDevice();

/// Adds the options that only this target has.
void addDeviceOptions(CLI::App &app, Options &options);

/// Connects the ranks: under a launcher, or one rank alone. Throws an Error if
/// they do not find each other.
std::unique_ptr<Collectives> startCollectives(const Options &options);

/// Wraps the engine that was started with a faster one for some groups, and
/// with a watch over other ranks; null if there is nothing to wrap.
std::unique_ptr<Collectives> overlayCollectives(const Options &options,
                                                Collectives &started);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TARGET_TARGET_H
