//===- CommandLine.cpp - the options of dtc -------------------------------===//
//
// One option here for each field of DriverOptions.
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/CommandLine.h"
#include "ClassWeights.h"
#include "Fail.h"
#include "dtc/Driver/Driver.h"
#include "dtc/Schedule/ScheduleFile.h"
#include "dtc/Training/Optimizers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <cmath>
#include <deque>

using namespace mlir;
using namespace dtc;
namespace cl = llvm::cl;

/// Larger numbers of samples, ranks and the like are mistakes.
static constexpr int64_t maxCount = 1 << 24;
static constexpr uint64_t maxRanks = 1 << 16;

namespace {

template <typename T> using Opt = cl::opt<T, /*ExternalStorage=*/true>;

/// All options. They write straight into DriverOptions, whose fields' values
/// are the defaults; what needs a second look is finished by `finish`.
struct CommandLine {
  // Categories before the options that name them; members, because the parser
  // forgets what was there before it was reset.
  cl::OptionCategory modelOptions{"Model"};
  cl::OptionCategory planOptions{"Plan"};
  cl::OptionCategory trainingOptions{"Training"};
  cl::OptionCategory outputOptions{"Output"};

  DriverOptions options;
  CompileOptions &compile = options.compile;
  TrainingOptions &training = options.compile.training;

  /// Options refer to the texts of their descriptions.
  std::deque<std::string> descriptions;
  /// "TEXT (default VALUE)", for a field that has its default.
  template <typename T> cl::desc describe(llvm::StringRef text, const T &field);
  /// "TEXT (default VALUE for OPTIMIZER, ...; ...)", for those that have one.
  cl::desc describeByOptimizer(
      llvm::StringRef text,
      llvm::function_ref<std::optional<double>(const Optimizer &)> getDefault);
  cl::desc describeSetting(llvm::StringRef text, const char *name);

  //===--- Model ----------------------------------------------------------===//
  Opt<std::string> path{cl::Positional, cl::location(compile.import.path),
                        cl::desc("MODEL.onnx"), cl::cat(modelOptions)};
  cl::list<std::string> dims{
      "dim", cl::value_desc("NAME=N"), cl::cat(modelOptions),
      cl::desc("Size of a dynamic dimension; may be repeated")};
  cl::opt<int64_t> batch{
      "batch", cl::value_desc("N"), cl::cat(modelOptions),
      cl::desc("Samples in one step, over all ranks (the first dimension of "
               "every input)")};
  Opt<bool> untie{"untie", cl::location(compile.import.untie),
                  cl::cat(modelOptions),
                  cl::desc("Train initializers that are equal up to transpose "
                           "apart, instead of as one tied parameter")};
  cl::opt<std::string> dtype{"dtype", cl::value_desc("f32|f64"),
                             cl::init("f32"), cl::cat(modelOptions),
                             cl::desc("Type to compute in (default f32)")};
  cl::list<std::string> parameterInputs{
      "parameter", cl::value_desc("GLOB"), cl::cat(modelOptions),
      cl::desc(
          "Graph inputs that are parameters, for a model without weights")};
  Opt<std::string> init{
      "init", cl::location(options.init),
      cl::value_desc("normal|xavier|kaiming"), cl::cat(modelOptions),
      cl::desc("Start from random weights instead of the model's: N(0, 0.02), "
               "Xavier (normal), or Kaiming (normal, fan in)")};

  //===--- Plan -----------------------------------------------------------===//
  Opt<int64_t> dp{"dp", cl::location(compile.parallel.dp), cl::value_desc("N"),
                  cl::cat(planOptions),
                  describe("Data parallel: ranks that share the batch",
                           compile.parallel.dp)};
  Opt<int64_t> pp{"pp", cl::location(compile.parallel.pp), cl::value_desc("N"),
                  cl::cat(planOptions),
                  describe("Pipeline parallel: stages", compile.parallel.pp)};
  Opt<int64_t> tp{
      "tp", cl::location(compile.parallel.tp), cl::value_desc("N"),
      cl::cat(planOptions),
      describe("Tensor parallel: ranks that share each product of attentions, "
               "MLPs and the vocabulary, which is padded if it has to be",
               compile.parallel.tp)};
  cl::list<std::string> order{
      "order", cl::CommaSeparated, cl::value_desc("AXIS,..."),
      cl::cat(planOptions),
      cl::desc("Axes of the mesh, from that whose ranks lie farthest apart to "
               "that of neighbours (default pp,dp,tp; with --hsdp "
               "pp,dp,shard,tp)")};
  Opt<bool> sp{"sp", cl::location(compile.parallel.sp), cl::cat(planOptions),
               cl::desc("Sequence parallel: with --tp, what lies between these "
                        "products is split along the sequence")};
  cl::list<std::string> layouts{
      "layout", cl::value_desc("GLOB=tp:split(DIM)|GLOB=replicated"),
      cl::cat(planOptions),
      cl::desc("With --tp: split this dimension of the parameters of such "
               "names, or keep them whole, and with them all dimensions that "
               "are split together; may be repeated")};
  Opt<int64_t> zero{
      "zero", cl::location(compile.parallel.zero), cl::value_desc("0|1|2|3"),
      cl::cat(planOptions),
      describe(
          "ZeRO: over the ranks that share the batch, 1 splits optimizer "
          "state and updates, 2 also gradients, 3 also trained parameters, "
          "which 1 and 2 gather once a step, and 3 where they are used",
          compile.parallel.zero)};
  Opt<std::string> gather{
      "gather", cl::location(compile.parallel.gather),
      cl::value_desc("layer|step|GLOB"), cl::cat(planOptions),
      describe(
          "What --zero 3 gathers at once, where it is used: the parameters "
          "of a layer, or those whose names begin with the same match of "
          "the pattern; step gathers all once a step and keeps them",
          compile.parallel.gather)};
  Opt<int64_t> hsdp{
      "hsdp", cl::location(compile.parallel.hsdp), cl::value_desc("N"),
      cl::cat(planOptions),
      describe("Of the ranks that share the batch, how many form a group that "
               "--zero splits over; groups repeat each other. 1: all are one",
               compile.parallel.hsdp)};
  Opt<int64_t> microbatches{
      "microbatches", cl::location(compile.parallel.microbatches),
      cl::value_desc("M"), cl::cat(planOptions),
      describe("Parts that each rank's samples of a round are run in",
               compile.parallel.microbatches)};
  Opt<int64_t> accumulate{
      "accumulate", cl::location(compile.schedule.accumulate),
      cl::value_desc("K"), cl::cat(planOptions),
      describe("Rounds that a step takes its batch in, each of --microbatches, "
               "with one update at the end: activations are those of a round",
               compile.schedule.accumulate)};
  Opt<std::string> schedule{
      "schedule", cl::location(compile.schedule.schedule),
      cl::value_desc("gpipe|1f1b|interleaved|zb-h1|FILE"), cl::cat(planOptions),
      describe("Pipeline schedule; interleaved is 1f1b on --virtual-stages, "
               "which makes its bubble smaller, and --microbatches must be a "
               "multiple of --pp then; zb-h1 delays weight gradients to fill "
               "the bubble of 1f1b, and each stage holds as many activations "
               "as the first one of 1f1b; FILE has a line for each stage, such "
               "as F0 F1 B0 W0 B1 W1 (see docs/Architecture.md)",
               compile.schedule.schedule)};
  Opt<int64_t> virtualStages{
      "virtual-stages", cl::location(compile.schedule.virtualStages),
      cl::value_desc("V"), cl::cat(planOptions),
      describe("Parts of the model that each stage of --pp has, one after the "
               "other around the pipeline; with --schedule interleaved, gpipe "
               "or FILE",
               compile.schedule.virtualStages)};
  Opt<std::string> recompute{
      "recompute", cl::location(compile.schedule.recompute),
      cl::value_desc("none|all|except-last|every:N|selective|GLOB"),
      cl::cat(planOptions),
      describe("What the backward pass computes again instead of keeping it: "
               "all between the layers' inputs, all but the last layer of each "
               "stage, all between every N-th of these inputs, all but matrix "
               "products, or layers with nodes of such names",
               compile.schedule.recompute)};
  Opt<int64_t> bucketMb{
      "bucket-mb", cl::location(compile.schedule.bucketMb),
      cl::value_desc("MiB"), cl::cat(planOptions),
      describe("Gradients reduced by one call; what --zero 1 and 2 store, "
               "gather and update as one",
               compile.schedule.bucketMb)};
  cl::opt<std::string> deviceMemory{
      "device-memory", cl::value_desc("SIZE"), cl::cat(planOptions),
      cl::desc("Refuse a plan that needs more memory on a rank, and name "
               "options that would fit; bytes, or with KiB, MiB, GiB, TiB")};
  cl::list<std::string> cut{
      "cut", cl::CommaSeparated, cl::cat(planOptions),
      cl::value_desc("cost|parameters|uniform|NODE,..."),
      cl::desc("Where stages begin: balanced by cost (default), by parameters, "
               "by number of ops, or at these nodes")};

  //===--- Training -------------------------------------------------------===//
  Opt<std::string> loss{
      "loss", cl::location(training.loss),
      cl::value_desc("cross-entropy|bce|mse|output[:NAME]"),
      cl::cat(trainingOptions),
      describe("The loss, or the model's output that is the loss",
               training.loss)};
  Opt<std::string> output{"loss-of", cl::location(training.output),
                          cl::value_desc("NAME"), cl::cat(trainingOptions),
                          cl::desc("The model's output that the loss is taken "
                                   "of, if there are several")};
  cl::opt<std::string> ignoreIndex{
      "ignore-index", cl::value_desc("N"), cl::cat(trainingOptions),
      cl::desc("Labels with this value do not count (default: all count)")};
  Opt<int64_t> classAxis{
      "class-axis", cl::location(training.classAxis), cl::value_desc("N"),
      cl::cat(trainingOptions),
      describe("Dimension of the classes, negative from the end",
               training.classAxis)};
  Opt<std::string> reduction{
      "loss-reduction", cl::location(training.reduction),
      cl::value_desc("mean|sum"), cl::cat(trainingOptions),
      describe("Over the global batch", training.reduction)};
  cl::opt<double> labelSmoothing{
      "label-smoothing", cl::value_desc("X"), cl::cat(trainingOptions),
      cl::desc("Share of each label of cross-entropy that is spread over all "
               "classes, from 0 to 1 (default 0)")};
  cl::opt<std::string> classWeights{
      "class-weights", cl::value_desc("X,...|FILE.npy"),
      cl::cat(trainingOptions),
      cl::desc("Weight of each class in cross-entropy; the mean is over the "
               "labels' weights (default: all 1)")};
  Opt<std::string> batchNorm{
      "batchnorm", cl::location(training.batchNorm),
      cl::value_desc("global|micro|local|frozen"), cl::cat(trainingOptions),
      describe("Whose statistics batch norm uses: those of the whole batch "
               "(with one micro-batch only), of each micro-batch, of each "
               "rank's part of it, or the running ones, which then stay",
               training.batchNorm)};
  Opt<std::string> optimizer{
      "optimizer", cl::location(training.optimizer), cl::value_desc("NAME"),
      cl::cat(trainingOptions),
      describe(listOptimizers(", "), training.optimizer)};
  cl::opt<double> lr{
      "lr", cl::value_desc("X"), cl::cat(trainingOptions),
      describeByOptimizer(
          "Learning rate, if the program is given none",
          [](const Optimizer &optimizer) { return optimizer.lr; })};
  cl::opt<double> momentum{"momentum", cl::value_desc("X"),
                           cl::cat(trainingOptions),
                           describeSetting("Momentum", "momentum")};
  cl::opt<bool> nesterov{"nesterov", cl::cat(trainingOptions),
                         cl::desc("Nesterov momentum of sgd")};
  cl::opt<double> weightDecay{"weight-decay", cl::value_desc("X"),
                              cl::cat(trainingOptions),
                              describeSetting("Weight decay", "weight_decay")};
  cl::opt<double> alpha{
      "alpha", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("What the average of squares keeps in a step", "alpha")};
  cl::opt<double> beta1{
      "beta1", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("What the first moment keeps in a step", "beta1")};
  cl::opt<double> beta2{
      "beta2", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("What the second moment keeps in a step", "beta2")};
  cl::opt<double> epsilon{
      "epsilon", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("Added to what is divided by", "epsilon")};
  cl::opt<double> clipNorm{
      "clip-norm", cl::value_desc("X"), cl::cat(trainingOptions),
      cl::desc("Scale all gradients of a step down to this norm, as "
               "clip_grad_norm_ (default: do not); grad_norm and "
               "--dump-gradients are before")};
  cl::opt<double> ema{
      "ema", cl::value_desc("DECAY"), cl::cat(trainingOptions),
      cl::desc("Keep a moving average of the trained weights, DECAY of it old "
               "in each step; the program's --save-ema writes it")};
  cl::list<std::string> freeze{
      "freeze", cl::value_desc("GLOB"), cl::cat(trainingOptions),
      cl::desc("Parameters that are not trained; may be repeated")};

  //===--- Output ---------------------------------------------------------===//
  Opt<std::string> outputPath{"o", cl::location(options.output),
                              cl::value_desc("FILE"), cl::cat(outputOptions),
                              describe("The program; with --stop-after or "
                                       "--emit the IR, if it is given",
                                       options.output)};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("embed|external"), cl::init("embed"),
      cl::cat(outputOptions),
      cl::desc("Initial weights inside the program (default), or beside it as "
               "FILE.safetensors")};
  cl::opt<std::string> stopAfter{"stop-after", cl::value_desc("PHASE"),
                                 cl::cat(outputOptions),
                                 cl::desc("Stop after a phase: import, "
                                          "training, parallel, schedule, "
                                          "lower, link")};
  cl::opt<std::string> emit{"emit", cl::value_desc("PHASE"),
                            cl::cat(outputOptions),
                            cl::desc("Print the IR after a phase, and stop")};
  Opt<std::string> dumpDir{"dump-dir", cl::location(options.dumpDir),
                           cl::value_desc("DIR"), cl::cat(outputOptions),
                           cl::desc("Write the IR after every phase")};
  Opt<bool> report{"report", cl::location(options.report),
                   cl::cat(outputOptions),
                   cl::desc("Print the plan's memory, work and communication")};
  Opt<std::string> reportJson{"report-json", cl::location(options.reportJson),
                              cl::value_desc("FILE"), cl::cat(outputOptions),
                              cl::desc("Write the report as JSON")};
  Opt<std::string> timeline{
      "timeline", cl::location(options.timeline),
      cl::value_desc("FILE.svg|FILE.json"), cl::cat(outputOptions),
      cl::desc("Draw when each stage runs each micro-batch and communicates, "
               "with FLOPs as times, or those of --profile: a picture, or for "
               "the trace viewers of Chrome and Perfetto")};
  Opt<std::string> graph{
      "graph", cl::location(options.graph), cl::value_desc("FILE.svg"),
      cl::cat(outputOptions),
      cl::desc("Draw the model: its layers and stages, how parameters are "
               "split, and what is communicated")};
  cl::opt<std::string> topology{
      "topology", cl::value_desc("FILE.json"), cl::cat(outputOptions),
      cl::desc("Nodes, devices and links, for the times of the report (see "
               "docs/Architecture.md)")};
  cl::opt<std::string> profile{
      "profile", cl::value_desc("FILE.json"), cl::cat(outputOptions),
      cl::desc("Simulate the schedule, for --report and --timeline, with the "
               "times that tasks took in a program of the same model and "
               "stages (what it wrote with --trace) instead of FLOPs")};
  cl::opt<std::string> cpu{"target-cpu", cl::value_desc("NAME"),
                           cl::init("native"), cl::cat(outputOptions),
                           cl::desc("CPU to generate code for (default: this "
                                    "machine's)")};
  Opt<std::string> runtimeDir{"runtime-dir", cl::location(options.runtimeDir),
                              cl::value_desc("DIR"), cl::cat(outputOptions),
                              cl::desc("Folder of libdtcrt.a (default: beside "
                                       "dtc)")};

  LogicalResult finish(const char *program);

private:
  LogicalResult parsePhase(llvm::StringRef name, CompilePhase &phase);
  LogicalResult checkChoice(llvm::StringRef option, llvm::StringRef value,
                            std::initializer_list<llvm::StringRef> choices);
  LogicalResult checkSchedule();
  LogicalResult checkOutput();
  LogicalResult finishOptimizer();
  LogicalResult finishTopology();
  LogicalResult finishDeviceMemory();
  LogicalResult finishProfile();
};

} // namespace

template <typename T>
cl::desc CommandLine::describe(llvm::StringRef text, const T &field) {
  std::string &description = descriptions.emplace_back();
  llvm::raw_string_ostream os(description);
  os << text << " (default ";
  if constexpr (std::is_same_v<T, double>)
    os << llvm::format("%g", field);
  else
    os << field;
  os << ")";
  return cl::desc(description);
}

cl::desc CommandLine::describeByOptimizer(
    llvm::StringRef text,
    llvm::function_ref<std::optional<double>(const Optimizer &)> getDefault) {
  // Optimizers with one default stand together, in the order of the first.
  std::vector<std::pair<double, std::string>> names;
  for (const Optimizer &optimizer : getOptimizers())
    if (std::optional<double> value = getDefault(optimizer)) {
      auto found = llvm::find_if(
          names, [&](const auto &entry) { return entry.first == *value; });
      if (found == names.end())
        names.emplace_back(*value, optimizer.name);
      else
        found->second += std::string(", ") + optimizer.name;
    }
  std::string &description = descriptions.emplace_back();
  llvm::raw_string_ostream os(description);
  os << text << " (default";
  const char *separator = " ";
  for (const auto &[value, list] : names) {
    os << separator << llvm::format("%g", value) << " for " << list;
    separator = "; ";
  }
  os << ")";
  return cl::desc(description);
}

cl::desc CommandLine::describeSetting(llvm::StringRef text, const char *name) {
  return describeByOptimizer(
      text, [&](const Optimizer &optimizer) -> std::optional<double> {
        auto found = optimizer.settings.find(name);
        if (found == optimizer.settings.end())
          return std::nullopt;
        return found->second;
      });
}

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
  for (const cl::opt<double> *option :
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

LogicalResult CommandLine::finishTopology() {
  if (!options.needsReport())
    return fail("--topology gives the times of a report, and there is none; "
                "add --report, --report-json FILE or --timeline FILE");
  llvm::Expected<Topology> read = Topology::read(topology);
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

LogicalResult CommandLine::finishDeviceMemory() {
  auto number = llvm::StringRef(deviceMemory);
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
    return fail("--device-memory is '" + deviceMemory +
                "', expected a number of bytes, KiB, MiB, GiB or TiB, such as "
                "80GiB");
  if (options.getLastPhase() < CompilePhase::Schedule)
    return fail("--device-memory is for the phase schedule, which plans "
                "memory, but dtc is to stop after " +
                getPhaseName(options.getLastPhase()));
  options.deviceMemory = bytes;
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
  if (read->dtype != dtype)
    return fail(profile + " is of a program in " + read->dtype +
                ", expected --dtype " + dtype);
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
  for (int i = 0; i <= static_cast<int>(CompilePhase::Link); ++i) {
    phase = static_cast<CompilePhase>(i);
    if (getPhaseName(phase) == name)
      return success();
  }
  return fail(
      "unknown phase '" + name +
      "', expected import, training, parallel, schedule, lower or link");
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
  Pipeline pipeline{compile.parallel.pp, compile.parallel.microbatches};
  pipeline.numChunks = compile.schedule.virtualStages;
  llvm::Expected<PipelineSchedule> schedule = getSchedule(name, pipeline);
  return schedule ? success() : fail(llvm::toString(schedule.takeError()));
}

/// What can be known of `-o` before there is anything to write.
LogicalResult CommandLine::checkOutput() {
  llvm::StringRef folder = llvm::sys::path::parent_path(options.output);
  if (llvm::sys::fs::is_directory(options.output))
    return fail("-o is '" + options.output +
                "', which is a folder; expected the name of a file");
  if (llvm::sys::fs::equivalent(options.output, compile.import.path))
    return fail("-o is '" + options.output +
                "', which is the model; expected another file");
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail("-o is '" + options.output + "', but there is no folder '" +
                folder + "'");
  return success();
}

/// Whether code for this machine's architecture can be generated for the CPU.
/// LLVM would ignore one that it does not know, and crash on one that is too
/// old.
static bool isUsableCpu(llvm::StringRef cpu) {
  llvm::InitializeNativeTarget();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const auto *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return false;
  using Info = std::unique_ptr<llvm::MCSubtargetInfo>;
  Info anyCpu(target->createMCSubtargetInfo(triple, "", ""));
  if (!anyCpu || !anyCpu->isCPUStringValid(cpu))
    return false;
  Info info(target->createMCSubtargetInfo(triple, cpu, ""));
  return triple.getArch() != llvm::Triple::x86_64 ||
         info->checkFeatures("+64bit");
}

LogicalResult CommandLine::finish(const char *program) {
  if (compile.import.path.empty())
    return fail("found no model, expected dtc MODEL.onnx [options]; see dtc "
                "--help");
  for (llvm::StringRef dim : dims) {
    auto [name, size] = dim.split('=');
    int64_t value;
    if (name.empty() || size.getAsInteger(10, value) || value < 1)
      return fail("--dim is '" + dim + "', expected NAME=N with N at least 1");
    compile.import.dims[name.str()] = value;
  }
  if (batch.getNumOccurrences()) {
    if (batch < 1 || batch > maxCount)
      return fail("--batch is " + llvm::Twine(batch) + ", expected 1 to " +
                  llvm::Twine(maxCount));
    compile.import.batch = batch;
  }
  struct {
    const char *name;
    int64_t value;
  } counts[] = {{"dp", compile.parallel.dp},
                {"pp", compile.parallel.pp},
                {"tp", compile.parallel.tp},
                {"hsdp", compile.parallel.hsdp},
                {"microbatches", compile.parallel.microbatches},
                {"accumulate", compile.schedule.accumulate},
                {"virtual-stages", compile.schedule.virtualStages},
                {"bucket-mb", compile.schedule.bucketMb}};
  for (const auto &count : counts)
    if (count.value < 1 || count.value > maxCount)
      return fail(llvm::Twine("--") + count.name + " is " +
                  llvm::Twine(count.value) + ", expected 1 to " +
                  llvm::Twine(maxCount));
  const ParallelOptions &plan = compile.parallel;
  if (plan.getNumRanks() > maxRanks)
    return fail("--dp " + llvm::Twine(plan.dp) + " x --pp " +
                llvm::Twine(plan.pp) + " x --tp " + llvm::Twine(plan.tp) +
                " are more ranks than the " + llvm::Twine(maxRanks) +
                " that dtc plans for");
  if (gather.getNumOccurrences() && plan.zero != 3)
    return fail("--gather is for parameters that are gathered where they are "
                "used; use it with --zero 3");
  if (plan.gather.empty())
    return fail(
        "--gather is empty, expected layer, step or a pattern of names");
  if (plan.hsdp > 1 && plan.zero == 0)
    return fail("--hsdp is for what ZeRO splits; use it with --zero 1, 2 or 3");
  if (!layouts.empty() && plan.tp == 1)
    return fail("--layout '" + layouts.front() +
                "' says what tensor parallelism splits, but --tp is 1; use "
                "--tp 2 or more, or leave it out");
  if (failed(checkChoice("dtype", dtype, {"f32", "f64"})) ||
      failed(checkChoice("weights", weights, {"embed", "external"})) ||
      failed(checkChoice("batchnorm", training.batchNorm,
                         {"global", "micro", "local", "frozen"})) ||
      failed(
          checkChoice("loss-reduction", training.reduction, {"mean", "sum"})) ||
      failed(checkSchedule()) ||
      (init.getNumOccurrences() &&
       failed(
           checkChoice("init", options.init, {"normal", "xavier", "kaiming"}))))
    return failure();
  llvm::StringRef drawing = options.timeline;
  if (timeline.getNumOccurrences() && !drawing.ends_with(".svg") &&
      !drawing.ends_with(".json"))
    return fail("--timeline is '" + drawing +
                "', expected a name that ends in .svg or .json");
  if (failed(finishOptimizer()) ||
      (topology.getNumOccurrences() && failed(finishTopology())) ||
      (profile.getNumOccurrences() && failed(finishProfile())))
    return failure();
  if (cpu != "native" && !isUsableCpu(cpu))
    return fail("--target-cpu is '" + cpu +
                "', expected native or a 64-bit CPU that 'llc -mcpu=help' "
                "lists");
  if (failed(checkOutput()))
    return failure();
  compile.import.f64 = dtype == "f64";
  options.embedWeights = weights == "embed";
  compile.import.parameterInputs.assign(parameterInputs.begin(),
                                        parameterInputs.end());
  compile.parallel.bucketMb = compile.schedule.bucketMb;
  compile.parallel.accumulate = compile.schedule.accumulate;
  compile.parallel.order.assign(order.begin(), order.end());
  training.stages = compile.parallel.pp * compile.schedule.virtualStages;
  training.tensorParallel = compile.parallel.tp;
  training.sequenceParallel = compile.parallel.sp;
  training.layouts.assign(layouts.begin(), layouts.end());
  training.freeze.assign(freeze.begin(), freeze.end());
  training.labelSmoothing = labelSmoothing;
  if (classWeights.getNumOccurrences()) {
    llvm::Expected<std::vector<double>> weights =
        readClassWeights(classWeights);
    if (!weights)
      return fail(llvm::toString(weights.takeError()));
    training.classWeights = *weights;
  }
  if (!cut.empty())
    training.cut.assign(cut.begin(), cut.end());
  if (ignoreIndex.getNumOccurrences()) {
    int64_t value;
    if (llvm::StringRef(ignoreIndex).getAsInteger(10, value))
      return fail("--ignore-index is '" + ignoreIndex +
                  "', expected an integer");
    training.ignoreIndex = value;
  }
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
  if (options.needsReport() && options.getLastPhase() < CompilePhase::Schedule)
    return fail("--report, --report-json and --timeline are of the phase "
                "schedule, but dtc is to stop after " +
                getPhaseName(options.getLastPhase()));
  options.writeIr = outputPath.getNumOccurrences() &&
                    options.getLastPhase() != CompilePhase::Link;
  if (graph.getNumOccurrences()) {
    if (!llvm::StringRef(options.graph).ends_with(".svg"))
      return fail("--graph is '" + options.graph +
                  "', expected a name that ends in .svg");
    if (options.getLastPhase() < CompilePhase::Parallel)
      return fail("--graph is for the phase parallel, which makes layouts, but "
                  "dtc is to stop after " +
                  getPhaseName(options.getLastPhase()));
  }
  if (deviceMemory.getNumOccurrences() && failed(finishDeviceMemory()))
    return failure();
  compile.target = TargetOptions::get(cpu);
  if (options.runtimeDir.empty()) {
    std::string self = llvm::sys::fs::getMainExecutable(
        program, reinterpret_cast<void *>(&fail));
    options.runtimeDir =
        (llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)) +
         "/lib")
            .str();
  }
  return success();
}

/// One line of ours for what LLVM's parser complains of in several.
static void reportBadOption(llvm::StringRef complaint) {
  auto quoted = [](llvm::StringRef text) {
    return text.split('\'').second.split('\'').first;
  };
  auto [what, more] = complaint.split('\n');
  llvm::StringRef argument = quoted(what), closest;
  if (more.split('\n').first.contains("Did you mean"))
    closest = quoted(more);
  if (!what.contains("Unknown command line argument"))
    (void)fail("found several models, expected one; see dtc --help");
  else
    (void)fail("unknown option '" + argument + "'" +
               (closest.empty() ? "" : ", did you mean '" + closest + "'?") +
               "; see dtc --help");
}

std::optional<DriverOptions> dtc::parseCommandLine(int argc, char **argv) {
  // LLVM's libraries have options of their own, some under our names.
  cl::ResetCommandLineParser();
  static CommandLine line;
  cl::HideUnrelatedOptions({&line.modelOptions, &line.planOptions,
                            &line.trainingOptions, &line.outputOptions});
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "dtc " << DTC_VERSION << "\n"; });
  std::string complaint;
  llvm::raw_string_ostream complaints(complaint);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "dtc: an ONNX model becomes a training program for many ranks\n\n"
          "  dtc model.onnx --dp 4 --pp 2 -o model.train\n"
          "  mpirun -n 8 ./model.train --data DIR --steps 1000\n",
          &complaints)) {
    // What is wrong with an option's value has been printed.
    if (!complaint.empty())
      reportBadOption(complaint);
    return std::nullopt;
  }
  if (failed(line.finish(argv[0])))
    return std::nullopt;
  return line.options;
}
