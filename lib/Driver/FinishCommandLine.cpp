//===- FinishCommandLine.cpp - check the options of dtc -------------------===//
//
// What the parser does not know of values, and of options that go together.
//
//===----------------------------------------------------------------------===//

#include "ClassWeights.h"
#include "CommandLine.h"
#include "Fail.h"
#include "dtc/Report/Devices.h"
#include "dtc/Report/Report.h"
#include "dtc/Schedule/Order/NamedSchedules.h"
#include "dtc/Schedule/Order/ScheduleFile.h"
#include "dtc/Target/Targets.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace mlir;
using namespace dtc;

/// Larger numbers of samples, ranks and the like are mistakes.
static constexpr int64_t maxCount = 1 << 24;
static constexpr uint64_t maxRanks = 1 << 16;
static constexpr int64_t maxTasks = 1 << 20;

/// The optimizer and its settings, as far as they were given.
LogicalResult CommandLine::finishOptimizer() {
  if (lr.getNumOccurrences()) {
    if (!std::isfinite(lr) || lr < 0)
      return fail("--lr is " + std::to_string(lr) +
                  ", expected a number of at least 0");
    training.lr = lr;
  }
  if (clipNorm.getNumOccurrences()) {
    if (!std::isfinite(clipNorm) || clipNorm <= 0)
      return fail("--clip-norm is " + std::to_string(clipNorm) +
                  ", expected a number above 0");
    training.clipNorm = clipNorm;
  }
  if (ema.getNumOccurrences()) {
    if (!(ema > 0 && ema < 1))
      return fail("--ema is " + std::to_string(ema) +
                  ", expected a number above 0 and below 1");
    training.ema = ema;
  }
  training.skipNonFinite = skipNonFinite;
  for (const OwnOpt<double> *option :
       {&momentum, &weightDecay, &alpha, &beta1, &beta2, &epsilon})
    if (option->getNumOccurrences()) {
      std::string name = option->ArgStr.str();
      std::replace(name.begin(), name.end(), '-', '_');
      training.optimizerSettings[name] = *option;
    }
  if (nesterov)
    training.optimizerSettings["nesterov"] = 1;
  llvm::Expected<const Optimizer *> found = findOptimizer(training.optimizer);
  if (!found)
    return fail(llvm::toString(found.takeError()));
  llvm::Expected<OptimizerSettings> settings =
      completeSettings(**found, training.optimizerSettings);
  return settings ? success() : fail(llvm::toString(settings.takeError()));
}

/// The number of an architecture: 90 of "sm_90".
static int64_t getNumber(llvm::StringRef architecture) {
  int64_t number = 0;
  if (!architecture.consume_front("sm_") ||
      architecture.getAsInteger(10, number))
    return 0;
  return number;
}

LogicalResult CommandLine::finishDevice() {
  if (compile.target.kind != "cuda")
    return fail("--device is for --target cuda, but --target is '" +
                compile.target.kind + "'");
  const Device *found = Device::find(llvm::StringRef(device).lower());
  if (!found)
    return fail("--device is '" + device + "', expected one of " +
                Device::listNames());
  llvm::StringRef given = compile.target.architecture;
  if (!architecture.getNumOccurrences())
    compile.target.architecture = found->architecture.str();
  else if (getNumber(given) > getNumber(found->architecture))
    return fail("--arch is '" + given + "', but --device " + found->name +
                " runs code for " + found->architecture +
                " and earlier; leave out one of them");
  options.device = found;
  if (options.needsReport() && !topology.getNumOccurrences())
    options.topology =
        found->getTopology(compile.parallel.getNumRanks(), getNumbers(compile));
  return success();
}

LogicalResult CommandLine::finishTopology() {
  if (!options.needsReport())
    return fail("--topology gives the times of a report, and there is none; "
                "add --report, --report-json FILE or --timeline FILE");
  llvm::Expected<Topology> read =
      Topology::read(topology, options.device, getNumbers(compile));
  if (!read)
    return fail(llvm::toString(read.takeError()));
  uint64_t ranks = compile.parallel.getNumRanks();
  if (llvm::SaturatingMultiply<uint64_t>(read->nodes, read->devicesPerNode) !=
      ranks)
    return fail(topology + ": 'nodes' x 'devices_per_node' is " +
                llvm::Twine(read->nodes) + " x " +
                llvm::Twine(read->devicesPerNode) + ", expected " +
                llvm::Twine(ranks) + " devices, one for each rank of the plan");
  options.topology = *read;
  return success();
}

/// The bytes that an option says, "80GiB"; none if it has said what is wrong.
std::optional<int64_t>
CommandLine::parseBytes(const cl::opt<std::string> &option) {
  auto number = llvm::StringRef(option);
  int64_t unit = 1, size = 1;
  for (llvm::StringRef name : {"KiB", "MiB", "GiB", "TiB"}) {
    size *= 1024;
    if (number.consume_back(name))
      unit = size;
  }
  int64_t count;
  std::optional<int64_t> bytes;
  if (!number.getAsInteger(10, count) && count > 0)
    bytes = llvm::checkedMul(count, unit);
  if (!bytes)
    (void)fail("--" + option.ArgStr + " is '" + option +
               "', expected a number of bytes, KiB, MiB, GiB or TiB, such as "
               "80GiB");
  return bytes;
}

LogicalResult CommandLine::finishDeviceMemory() {
  options.deviceMemory = parseBytes(deviceMemory);
  if (!options.deviceMemory)
    return failure();
  if (options.getLastPhase() < CompilePhase::Schedule)
    return fail("--device-memory is for the phase schedule, which plans "
                "memory, but dtc is to stop after " +
                getPhaseName(options.getLastPhase()));
  options.deviceMemoryText = deviceMemory;
  return success();
}

/// What can be known of a profile before the model is read.
LogicalResult CommandLine::finishProfile() {
  if (!options.needsReport())
    return fail("--profile gives the times of a schedule, and nothing shows "
                "them; add --report, --report-json FILE or --timeline FILE");
  llvm::Expected<Profile> read = Profile::read(profile);
  if (!read)
    return fail(llvm::toString(read.takeError()));
  llvm::StringRef model = llvm::sys::path::stem(compile.import.path);
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
                  llvm::Twine(read->getSize(axis)) + ", expected --" + axis +
                  " " + llvm::Twine(size));
  options.profile = std::move(*read);
  return success();
}

LogicalResult CommandLine::parsePhase(llvm::StringRef name,
                                      CompilePhase &phase) {
  for (CompilePhase candidate : allPhases) {
    phase = candidate;
    if (name.equals_insensitive(getPhaseName(phase)))
      return success();
  }
  return fail("unknown phase '" + name +
              "', expected import, strategy, training, parallel, schedule, "
              "lower or link");
}

LogicalResult
CommandLine::checkChoice(llvm::StringRef option, llvm::StringRef value,
                         std::initializer_list<llvm::StringRef> choices) {
  if (llvm::is_contained(choices, value))
    return success();
  return fail("--" + option + " is '" + value + "', expected " +
              llvm::join(choices, " or "));
}

/// A file is read before the model, which may take long.
LogicalResult CommandLine::checkSchedule() {
  llvm::StringRef name = compile.schedule.schedule;
  if (!isNamedSchedule(name) && !isScheduleFile(name))
    return fail("--schedule is '" + name + "', expected " + scheduleNames +
                " or a file");
  if (compile.schedule.virtualStages > 1 && compile.parallel.pp == 1)
    return fail("--virtual-stages " +
                llvm::Twine(compile.schedule.virtualStages) +
                " is for a pipeline; use --pp 2 or more");
  // None of them is above `maxCount`.
  if (compile.parallel.microbatches * compile.schedule.virtualStages >
      maxTasks / compile.parallel.pp)
    return fail(
        "--pp " + llvm::Twine(compile.parallel.pp) + " x --virtual-stages " +
        llvm::Twine(compile.schedule.virtualStages) + " x --microbatches " +
        llvm::Twine(compile.parallel.microbatches) +
        " are more tasks than the " + llvm::Twine(maxTasks) +
        " that dtc plans");
  Pipeline pipeline{compile.parallel.pp, compile.parallel.microbatches};
  pipeline.numChunks = compile.schedule.virtualStages;
  llvm::Expected<PipelineSchedule> schedule = getSchedule(name, pipeline);
  return schedule ? success() : fail(llvm::toString(schedule.takeError()));
}

/// The one name of a file, which may not be there yet, among all its paths.
static std::string getPlace(llvm::StringRef path) {
  llvm::SmallString<128> place, name(path);
  if (!llvm::sys::fs::real_path(name, place))
    return place.str().str();
  llvm::StringRef folder = llvm::sys::path::parent_path(name);
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, place))
    return path.str();
  llvm::sys::path::append(place, llvm::sys::path::filename(name));
  return place.str().str();
}

/// What can be known of `-o` before there is anything to write.
LogicalResult CommandLine::checkOutput() {
  llvm::StringRef name = options.output;
  if (name.starts_with("-") ||
      llvm::any_of(name, [](unsigned char c) { return c < ' '; }))
    return fail("-o is not the name of a file: it begins with '-', or has "
                "control characters");
  llvm::StringRef folder = llvm::sys::path::parent_path(name);
  if (llvm::sys::fs::is_directory(options.output))
    return fail("-o is '" + options.output +
                "', which is a folder; expected the name of a file");
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail("-o is '" + options.output + "', but there is no folder '" +
                folder + "'");
  std::map<std::string, std::string> writers;
  for (const auto &[option, path] : options.getOutputs()) {
    if (llvm::sys::fs::equivalent(path, compile.import.path))
      return fail(option + " writes '" + path +
                  "', which is the model; expected another file");
    auto [other, isNew] = writers.try_emplace(getPlace(path), option);
    if (!isNew)
      return fail(option + " writes '" + path + "', and so does " +
                  other->second + "; expected two files");
  }
  return success();
}

LogicalResult CommandLine::finishModel() {
  if (compile.import.path.empty())
    return fail("found no model, expected dtc MODEL.onnx [options]; see dtc "
                "--help");
  for (llvm::StringRef dim : dims) {
    auto [name, size] = dim.split('=');
    int64_t value;
    if (name.empty() || size.getAsInteger(10, value) || value < 1 ||
        value > maxCount)
      return fail("--dim is '" + dim + "', expected NAME=N with N from 1 to " +
                  llvm::Twine(maxCount));
    compile.import.dims[name.str()] = value;
  }
  for (llvm::StringRef text : batchDims) {
    auto [name, number] = text.rsplit('=');
    bool isNamed = text.contains('=');
    if (!isNamed)
      std::swap(name, number);
    int64_t dim;
    if (number.getAsInteger(10, dim) || dim < 0 || (isNamed && name.empty()))
      return fail("--batch-dim is '" + text +
                  "', expected K or NAME=K, a dimension counted from 0");
    compile.import.batchDims[name.str()] = dim;
  }
  if (batch.getNumOccurrences()) {
    if (batch < 1 || batch > maxCount)
      return fail("--batch is " + llvm::Twine(batch) + ", expected 1 to " +
                  llvm::Twine(maxCount));
    compile.import.batch = batch;
    compile.training.batch = batch;
  }
  compile.import.parameters.assign(parameters.begin(), parameters.end());
  for (llvm::StringRef tie : ties) {
    auto [a, b] = tie.split('=');
    if (a.empty() || b.empty() || a == b)
      return fail("--tie is '" + tie +
                  "', expected the names of two "
                  "parameters, A=B");
    compile.import.ties.emplace_back(a, b);
  }
  for (llvm::StringRef text : dropout) {
    if (text == "none") {
      compile.import.noDropout = true;
      continue;
    }
    auto [glob, number] = text.rsplit('=');
    if (number.empty())
      std::swap(glob, number);
    double probability;
    if (number.getAsDouble(probability) ||
        !(probability >= 0 && probability < 1) ||
        (glob.empty() && text.contains('=')))
      return fail("--dropout is '" + text +
                  "', expected P, GLOB=P or none with P from 0 to below 1");
    compile.import.dropout.push_back({glob.str(), probability});
  }
  if (compile.import.noDropout && dropout.size() > 1)
    return fail("--dropout is none, and something else; expected one of them");
  compile.import.f64 = dtype == "f64";
  llvm::StringRef own = training.loss;
  compile.import.output =
      own.consume_front("output:") ? own.str() : training.output;
  compile.import.isBatchNormChosen = batchNorm.getNumOccurrences() > 0;
  compile.import.isFreezeChosen = freeze.getNumOccurrences() > 0;
  options.embedWeights = weights == "embed";
  for (const auto &[name, value] :
       {std::pair("precision", compile.training.precision),
        {"reduce-dtype", compile.parallel.reduceDtype}}) {
    if (failed(checkChoice(name, value, {"fp32", "bf16", "fp16"})))
      return failure();
    if (compile.import.f64 && value != "fp32")
      return fail(llvm::Twine("--") + name + " is " + value +
                  ", but --dtype f64 computes all in double precision; leave "
                  "out one of them");
  }
  if (failed(checkChoice("dtype", dtype, {"f32", "f64"})) ||
      failed(checkChoice("weights", weights, {"embed", "external"})))
    return failure();
  if (options.readsInitialWeights() && !llvm::sys::fs::exists(options.init))
    return fail("--init is '" + options.init +
                "', expected normal or xavier or kaiming or a file, and there "
                "is no such file");
  return success();
}

LogicalResult CommandLine::finishPlan() {
  ParallelOptions &plan = compile.parallel;
  const ScheduleOptions &schedule = compile.schedule;
  plan.replicasAtLaunch = dp == "auto";
  if (plan.replicasAtLaunch) // two of them stand for any number
    plan.dp = llvm::SaturatingMultiply<uint64_t>(2, std::max<int64_t>(hsdp, 0));
  else if (llvm::StringRef(dp).getAsInteger(10, plan.dp))
    return fail("--dp is '" + dp + "', expected a whole number or auto");
  struct {
    const char *name;
    int64_t value;
  } counts[] = {{"hsdp", plan.hsdp},
                {"dp", plan.dp},
                {"pp", plan.pp},
                {"tp", plan.tp},
                {"microbatches", plan.microbatches},
                {"accumulate", schedule.accumulate},
                {"virtual-stages", schedule.virtualStages},
                {"bucket-mb", schedule.bucketMb}};
  for (const auto &count : counts)
    if (count.value < 1 || count.value > maxCount)
      return fail(llvm::Twine("--") + count.name + " is " +
                  llvm::Twine(count.value) + ", expected 1 to " +
                  llvm::Twine(maxCount));
  if (plan.getNumRanks() > maxRanks)
    return fail("--dp " + llvm::Twine(plan.dp) + " x --pp " +
                llvm::Twine(plan.pp) + " x --tp " + llvm::Twine(plan.tp) +
                " are more ranks than the " + llvm::Twine(maxRanks) +
                " that dtc plans for");
  if (plan.replicasAtLaunch && plan.zero > 0 && plan.hsdp == 1)
    return fail("--zero " + llvm::Twine(plan.zero) +
                " splits over dp, but --dp auto leaves open how many ranks "
                "that is; use --hsdp N, the ranks of a group that it splits "
                "over, or --dp N");
  if (gather.getNumOccurrences() && plan.zero != 3)
    return fail("--gather is for parameters that are gathered where they are "
                "used; use it with --zero 3");
  if (plan.hsdp > 1 && plan.zero == 0)
    return fail("--hsdp is for what ZeRO splits; use it with --zero 1, 2 or 3");
  if (failed(checkChoice("offload", schedule.offload,
                         {"none", "state", "parameters"})))
    return failure();
  if (schedule.offload != "none" && compile.target.kind != "cuda")
    return fail("--offload moves what a GPU holds to the host, but --target is "
                "'" +
                compile.target.kind + "'; use it with --target cuda");
  if (schedule.offload == "parameters" && plan.zero == 0)
    return fail("--offload parameters is for what --zero splits; use it with "
                "--zero 3, also on one rank");
  if (!layouts.empty() && plan.tp == 1)
    return fail("--layout '" + layouts.front() +
                "' says what tensor parallelism splits, but --tp is 1; use "
                "--tp 2 or more, or leave it out");
  plan.order.assign(order.begin(), order.end());
  training.layouts.assign(layouts.begin(), layouts.end());
  if (!cut.empty())
    training.cut.assign(cut.begin(), cut.end());
  return checkSchedule();
}

LogicalResult CommandLine::finishTraining() {
  if (failed(checkChoice("batchnorm", training.batchNorm,
                         {"global", "micro", "local", "frozen"})) ||
      failed(
          checkChoice("loss-reduction", training.reduction, {"mean", "sum"})))
    return failure();
  training.freeze.assign(freeze.begin(), freeze.end());
  training.paddingIdx.assign(paddingIdx.begin(), paddingIdx.end());
  training.noDecay.assign(noDecay.begin(), noDecay.end());
  training.lrScales.assign(lrScales.begin(), lrScales.end());
  training.labelSmoothing = labelSmoothing;
  if (classWeights.getNumOccurrences()) {
    llvm::Expected<std::vector<double>> weights =
        readClassWeights(classWeights);
    if (!weights)
      return fail(llvm::toString(weights.takeError()));
    if (llvm::all_of(*weights, [](double weight) { return weight == 0; }))
      return fail("--class-weights are all 0, expected one above");
    training.classWeights = *weights;
  }
  if (ignoreIndex.getNumOccurrences()) {
    int64_t value;
    if (llvm::StringRef(ignoreIndex).getAsInteger(10, value))
      return fail("--ignore-index is '" + ignoreIndex +
                  "', expected an integer");
    training.ignoreIndex = value;
  }
  return finishOptimizer();
}

LogicalResult CommandLine::finishPhases() {
  CompilePhase phase;
  if (stopAfter.getNumOccurrences()) {
    if (failed(parsePhase(stopAfter, phase)))
      return failure();
    options.stopAfter = phase;
  }
  if (emit.getNumOccurrences()) {
    if (failed(parsePhase(emit, phase)))
      return failure();
    if (phase == CompilePhase::Link)
      return fail("--emit=link has no IR to print; -o names the program");
    options.emit = phase;
  }
  if (options.stopAfter < options.emit.value_or(options.stopAfter))
    return fail(
        "--emit=" + getPhaseName(*options.emit) +
        " is of a phase after --stop-after=" + getPhaseName(options.stopAfter));
  CompilePhase last = options.getLastPhase();
  if (options.needsReport() && last < CompilePhase::Schedule)
    return fail("--report, --report-json and --timeline are of the phase "
                "schedule, but dtc is to stop after " +
                getPhaseName(last));
  if (graph.getNumOccurrences() && last < CompilePhase::Parallel)
    return fail("--graph is for the phase parallel, which makes layouts, but "
                "dtc is to stop after " +
                getPhaseName(last));
  options.writeIr =
      outputPath.getNumOccurrences() && last != CompilePhase::Link;
  return success();
}

LogicalResult CommandLine::finishWorkspace() {
  if (compile.target.kind != "cuda")
    return fail("--workspace is for --target cuda, but --target is '" +
                compile.target.kind + "'");
  std::optional<int64_t> bytes = parseBytes(workspace);
  compile.target.workspace = bytes.value_or(0);
  return success(bytes.has_value());
}

LogicalResult CommandLine::finishOutput(const char *program) {
  llvm::StringRef drawing = options.timeline;
  if (timeline.getNumOccurrences() && !drawing.ends_with(".svg") &&
      !drawing.ends_with(".json"))
    return fail("--timeline is '" + drawing +
                "', expected a name that ends in .svg or .json");
  if (graph.getNumOccurrences() &&
      !llvm::StringRef(options.graph).ends_with(".svg"))
    return fail("--graph is '" + options.graph +
                "', expected a name that ends in .svg");
  if ((device.getNumOccurrences() && failed(finishDevice())) ||
      (topology.getNumOccurrences() && failed(finishTopology())) ||
      (profile.getNumOccurrences() && failed(finishProfile())))
    return failure();
  if (architecture.getNumOccurrences() && compile.target.kind != "cuda")
    return fail("--arch is for --target cuda, but --target is '" +
                compile.target.kind + "'");
  if (workspace.getNumOccurrences() && failed(finishWorkspace()))
    return failure();
  if (compile.target.kind == "cuda" && compile.import.f64)
    return fail("--dtype f64 is for --target cpu, but --target is 'cuda'");
  if (llvm::Expected<std::shared_ptr<const Target>> target =
          getTarget(compile.target);
      !target)
    return fail(llvm::toString(target.takeError()));
  if (options.runtimeDir.empty()) {
    std::string self = llvm::sys::fs::getMainExecutable(
        program, reinterpret_cast<void *>(&fail));
    options.runtimeDir =
        (llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)) +
         "/lib")
            .str();
  }
  return failed(finishPhases()) ? failure() : checkOutput();
}

LogicalResult CommandLine::finish(const char *program) {
  if (device.getNumOccurrences() && !target.getNumOccurrences())
    compile.target.kind = "cuda";
  if (failed(finishModel()) || failed(finishPlan()) ||
      failed(finishTraining()) || failed(finishOutput(program)))
    return failure();
  // What would fit is for the plan that all of these make.
  if (deviceMemory.getNumOccurrences())
    return finishDeviceMemory();
  if (options.device && options.getLastPhase() >= CompilePhase::Schedule) {
    options.deviceMemory = options.device->memory;
    options.deviceMemoryText = formatBytes(options.device->memory) +
                               ", that of --device " +
                               options.device->name.str();
  }
  return success();
}
