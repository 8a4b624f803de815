//===- FinishDevice.cpp - options about the target and its machines -------===//

#include "CommandLine.h"
#include "Fail.h"
#include "dtc/Options/ReadOption.h"
#include "dtc/Report/Report.h"
#include "dtc/Target/Targets.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dtc;

/// The number of an architecture: 90 of "sm_90".
static int64_t getNumber(StringRef architecture) {
  int64_t number = 0;
  if (!architecture.consume_front("sm_") ||
      architecture.getAsInteger(10, number))
    return 0;
  return number;
}

static LogicalResult findDevice(DriverOptions &options) {
  CompileOptions &compile = options.compile;
  const std::string &device = options.deviceName;
  if (compile.target.kind != "cuda")
    return fail("--device is for --target cuda, but --target is '" +
                compile.target.kind + "'");
  const Device *found = Device::find(StringRef(device).lower());
  if (!found)
    return fail("--device is '" + device + "', expected one of " +
                Device::listNames());
  StringRef given = compile.target.architecture;
  if (!isGiven("arch"))
    compile.target.architecture = found->architecture.str();
  else if (getNumber(given) > getNumber(found->architecture))
    return fail("--arch is '" + given + "', but --device " + found->name +
                " runs code for " + found->architecture +
                " and earlier; leave out one of them");
  options.device = found;
  if (options.needsReport() && options.topologyFile.empty())
    options.topology =
        found->getTopology(compile.parallel.getNumRanks(), getNumbers(compile));
  return success();
}

static LogicalResult readTopology(DriverOptions &options) {
  const CompileOptions &compile = options.compile;
  if (!options.needsReport())
    return fail("--topology gives the times of a report, and there is none; "
                "add --report, --report-json FILE or --timeline FILE");
  llvm::Expected<Topology> read =
      Topology::read(options.topologyFile, options.device, getNumbers(compile));
  if (!read)
    return fail(llvm::toString(read.takeError()));
  uint64_t ranks = compile.parallel.getNumRanks();
  if (llvm::SaturatingMultiply<uint64_t>(read->nodes, read->devicesPerNode) !=
      ranks)
    return fail(options.topologyFile + ": 'nodes' x 'devices_per_node' is " +
                Twine(read->nodes) + " x " + Twine(read->devicesPerNode) +
                ", expected " + Twine(ranks) +
                " devices, one for each rank of the plan");
  options.topology = *read;
  return success();
}

/// Reads a profile, and checks everything that does not depend on the model.
static LogicalResult readProfile(DriverOptions &options) {
  const CompileOptions &compile = options.compile;
  const std::string &profile = options.profileFile;
  if (!options.needsReport())
    return fail("--profile gives the times of a schedule, and nothing shows "
                "them; add --report, --report-json FILE or --timeline FILE");
  llvm::Expected<Profile> read = Profile::read(profile);
  if (!read)
    return fail(llvm::toString(read.takeError()));
  StringRef model = llvm::sys::path::stem(compile.import.path);
  if (read->model != model)
    return fail(profile + " is of model '" + read->model + "', expected '" +
                model + "'");
  if (std::string numbers = getNumbers(compile); read->dtype != numbers)
    return fail(profile + " is of a program in " + read->dtype +
                ", expected one in " + numbers + " (--dtype and --precision)");
  for (auto [axis, size] :
       {std::pair("pp", compile.parallel.pp), {"tp", compile.parallel.tp}})
    if (read->getSize(axis) != size)
      return fail(profile + " is of a program with --" + axis + " " +
                  Twine(read->getSize(axis)) + ", expected --" + axis + " " +
                  Twine(size));
  options.profile = std::move(*read);
  return success();
}

/// Rejects options that are for GPUs only.
static LogicalResult checkTarget(const CompileOptions &compile) {
  const TargetOptions &target = compile.target;
  if (target.kind != "cuda")
    for (const char *option : {"arch", "workspace"})
      if (isGiven(option))
        return fail(Twine("--") + option +
                    " is for --target cuda, but --target is '" + target.kind +
                    "'");
  if (target.kind == "cuda" && compile.import.f64)
    return fail("--dtype f64 is for --target cpu, but --target is 'cuda'");
  auto found = getTarget(target);
  return found ? success() : fail(llvm::toString(found.takeError()));
}

LogicalResult dtc::finishDevice(DriverOptions &options) {
  if ((!options.deviceName.empty() && failed(findDevice(options))) ||
      (!options.topologyFile.empty() && failed(readTopology(options))) ||
      (!options.profileFile.empty() && failed(readProfile(options))))
    return failure();
  return checkTarget(options.compile);
}

LogicalResult dtc::finishDeviceMemory(DriverOptions &options) {
  const Device *device = options.device;
  if (!options.deviceMemoryText.empty()) {
    llvm::Expected<int64_t> bytes =
        readBytes("device-memory", options.deviceMemoryText);
    if (!bytes)
      return fail(llvm::toString(bytes.takeError()));
    if (options.getLastPhase() < CompilePhase::Schedule)
      return fail("--device-memory is for the phase schedule, which plans "
                  "memory, but dtc is to stop after " +
                  getPhaseName(options.getLastPhase()));
    options.deviceMemory = *bytes;
  } else if (device && options.getLastPhase() >= CompilePhase::Schedule) {
    options.deviceMemory = device->memory;
    options.deviceMemoryText = formatBytes(device->memory) +
                               ", that of --device " + device->name.str();
  }
  return success();
}
