//===- Train.cpp - a training program from start to end -------------------===//

#include "Train.h"

#include "CheckReplicas.h"
#include "Checkpoint/Parameters.h"
#include "Checkpoint/Safetensors.h"
#include "Core/Error.h"
#include "Core/Launch.h"
#include "Data/Source.h"
#include "Device/Device.h"
#include "Evaluation.h"
#include "LossScale.h"
#include "Metrics/Metrics.h"
#include "NotFinite.h"
#include "StepInputs.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// What the signal handlers write; made beforehand, for they may not format.
static char stopLine[256], crashLine[256];

/// A step cannot be left half done on some ranks only, and there is nothing
/// that a stop would lose: every line written is already in its file.
static void stopBySignal(int signal) {
  (void)!write(STDERR_FILENO, stopLine, strlen(stopLine));
  _exit(128 + signal);
}

/// Names the rank, then dies as if there were no handler; the launcher takes
/// the others down. Replaces the stack traces that MPI would print.
static void crash(int number) {
  (void)!write(STDERR_FILENO, crashLine, strlen(crashLine));
  signal(number, SIG_DFL);
  raise(number);
}

/// `name` is how this rank is called in messages; `bar` is whether it draws a
/// progress bar, which a message must leave.
static void handleSignals(const std::string &name, bool bar) {
  const char *newline = bar ? "\n" : "";
  // Under a launcher it is the launcher that says that it was stopped.
  if (startedByLauncher())
    snprintf(stopLine, sizeof stopLine, "%s", newline);
  else
    snprintf(stopLine, sizeof stopLine, "%s%.200sstopped by a signal\n",
             newline, name.c_str());
  snprintf(crashLine, sizeof crashLine,
           "%s%.200serror: this rank crashed in a step\n", newline,
           name.c_str());
  for (int number : {SIGINT, SIGTERM})
    signal(number, stopBySignal);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    signal(number, crash);
}

//===----------------------------------------------------------------------===//
// Setting up and training
//===----------------------------------------------------------------------===//

static bool showsBar(const Options &options) {
  if (options.progress == ProgressStyle::automatic)
    // Launchers may give ranks a terminal of their own that nobody watches.
    return !startedByLauncher() && isatty(STDOUT_FILENO);
  return options.progress == ProgressStyle::bar;
}

namespace {

/// Everything that a rank needs in its steps, made before the first.
class Training {
public:
  Training(const Program &program, const Options &options,
           Collectives &collectives, Device &device)
      : program(program), options(options),
        context(program, collectives, device, options.overlaps),
        arena(device.makeArena(context.plan().arenaBytes,
                               collectives.sharesArena() ? Sharing::machine
                                                         : Sharing::none)),
        source(openSource(collectives)),
        loader(program, collectives.rank(), *source, *arena, /*ahead=*/true),
        inputs(program, context.plan(), *arena, options.seed),
        lossScale(options.lossScale),
        metricsFile(leads() ? options.metrics : ""),
        progress(options.steps, options.logEvery, showsBar(options)) {
    if (options.evalEvery)
      evaluation.emplace(context, options, *arena);
    loadParameters(context, *arena, options.seed);
    if (leads())
      checkOutputs();
    if (options.checkReplicas)
      replicas.emplace(context, *arena);
    if (options.trace.empty())
      return;
    trace.emplace(program, collectives, options.trace, options.traceFirst,
                  options.traceLast);
    trace->use(device.clock());
  }

  void run() {
    if (trace)
      trace->alignClocks();
    for (int64_t step = 1; step <= options.steps; ++step) {
      runStep(step);
      if (trace && step == options.traceLast)
        trace->write();
      if (evaluation && evaluation->isDue(step))
        evaluate(step);
    }
    if (leads()) {
      progress.finish();
      if (int64_t skipped = lossScale.skippedSteps())
        printf("skipped %lld of %lld steps, whose gradients overflowed fp16; "
               "the loss scale is %g\n",
               (long long)skipped, (long long)options.steps, lossScale.value());
    }
    if (!options.saveWeights.empty())
      saveTensors(context, *arena, TensorKind::weights, options.saveWeights);
    if (!options.saveAverages.empty())
      saveTensors(context, *arena, TensorKind::averages, options.saveAverages);
  }

  /// Shows the arena to the collectives; met by all ranks. Returns a note.
  std::string shareArena() { return context.collectives.attach(*arena); }

  /// What of the data is not evaluated; empty if nothing.
  std::string describeRest() const {
    return evaluation ? evaluation->describeRest() : std::string();
  }

private:
  bool leads() const { return context.collectives.rank() == 0; }

  std::unique_ptr<DataSource> openSource(Collectives &collectives) const {
    if (options.data == "synthetic")
      return makeSynthetic(program, options.seed);
    return openDataset(program, {options.data, options.seed, options.shuffle,
                                 collectives.rank(), collectives.size()});
  }

  /// Finds out before the training, not after it, that nothing can be saved.
  void checkOutputs() const {
    if (!options.saveWeights.empty())
      SafetensorsWriter(options.saveWeights, {});
    if (!options.saveAverages.empty())
      SafetensorsWriter(options.saveAverages, {});
    if (options.dumpGradients.empty())
      return;
    bool keepsGradients = false;
    for (const Stage &stage : program.stages)
      for (const Stage::Parameter &parameter : stage.parameters)
        keepsGradients |= parameter.gradient.has_value();
    if (!keepsGradients)
      fail("this program trains no parameter, expected by --dump-gradients");
    std::error_code error;
    std::filesystem::create_directories(options.dumpGradients, error);
    if (error)
      fail("cannot create directory '%s': %s", options.dumpGradients.c_str(),
           error.message().c_str());
    SafetensorsWriter(gradientFile(0), {});
  }

  std::string gradientFile(int64_t step) const {
    return format("%s/step-%lld.safetensors", options.dumpGradients.c_str(),
                  (long long)step);
  }

  void observe(int64_t step, bool begin) const {
    if (hook)
      hook(step, begin);
  }

  double scalarAt(int64_t offset) const { return arena->load<double>(offset); }

  void runStep(int64_t step) {
    observe(step, true);
    auto start = std::chrono::steady_clock::now();
    double learningRate = options.learningRate.at(step);
    inputs.write(
        {step, learningRate, lossScale.value(), lossScale.nextUpdate()});
    if (trace && trace->records(step)) {
      context.trace = &*trace;
      trace->beginStep(step);
    }
    {
      TraceSpan span(context.trace, TraceEvent::load, /*subject=*/0,
                     /*bytes=*/0);
      loader.load(step - 1);
    }
    context.device.run(program.steps[context.stage], context, *arena);
    if (step < options.steps) // while the device computes
      loader.prepare(step);
    context.device.synchronize();
    if (context.trace)
      trace->endStep();
    context.trace = nullptr;
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    observe(step, false);
    std::optional<double> scale;
    if (program.scalesLoss())
      scale = lossScale.value();
    bool isSkipped =
        scale && lossScale.observe(scalarAt(context.plan().gradientNorm));
    if (leads()) {
      StepMetrics metrics{step,
                          scalarAt(context.plan().loss),
                          scalarAt(context.plan().gradientNorm),
                          learningRate,
                          time.count(),
                          double(program.globalBatch) / time.count(),
                          scale,
                          isSkipped};
      metricsFile.write(metrics);
      std::string cause;
      if (progress.warnsOf(metrics))
        cause = explainNotFinite(program, *source, step);
      progress.report(metrics, cause);
    }
    if (replicas)
      replicas->check(step);
    if (!options.dumpGradients.empty())
      saveTensors(context, *arena, TensorKind::gradients, gradientFile(step),
                  scale.value_or(1));
  }

  void evaluate(int64_t step) {
    EvalMetrics metrics = evaluation->run(step, inputs);
    if (!leads())
      return;
    metricsFile.write(metrics);
    progress.report(metrics);
  }

  const Program &program;
  const Options &options;
  dtc_context context;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<DataSource> source;
  BatchLoader loader;
  StepInputs inputs;
  LossScale lossScale;
  std::optional<Evaluation> evaluation;
  MetricsFile metricsFile;
  Progress progress;
  std::optional<ReplicaCheck> replicas;
  std::optional<Trace> trace;
  /// Looked up, for how a weak reference is linked depends on the linker.
  decltype(&dtcrt_step_hook) hook =
      reinterpret_cast<decltype(hook)>(dlsym(RTLD_DEFAULT, "dtcrt_step_hook"));
};

/// Tells an attempt that failed from one that did not.
struct Outcome {
  bool failed = false;
  std::string message;
};

} // namespace

template <typename Body> static Outcome attempt(Body body) {
  try {
    body();
    return {};
  } catch (const std::exception &error) {
    return {true, error.what()};
  }
}

/// Whether any rank failed; the first that did says why. Met by all ranks.
static bool anyFailed(Collectives &collectives, const Outcome &outcome,
                      const std::string &name) {
  int first = collectives.firstFailed(outcome.failed);
  if (first == collectives.rank()) {
    // Rank 0 fails where all do; another rank's error is its own.
    std::string who = first ? format(": rank %d", first) : "";
    fprintf(stderr, "%s%s: error: %s\n", name.c_str(), who.c_str(),
            outcome.message.c_str());
  }
  return first >= 0;
}

static void announce(const Program &program, const Options &options,
                     const std::string &name,
                     const std::vector<std::string> &notes) {
  printf("%s: %s (%s), %s, batch %lld, %s %s, seed %llu\n", name.c_str(),
         program.model.c_str(), program.dtype.c_str(),
         program.mesh.describe().c_str(), (long long)program.globalBatch,
         program.optimizer.c_str(), options.learningRate.describe().c_str(),
         (unsigned long long)options.seed);
  for (const std::string &note : notes)
    if (!note.empty())
      printf("note: %s\n", note.c_str());
  fflush(stdout);
}

/// The training proper, on ranks that are as many as the plan has. The device
/// that it opens is left to `launched`, which finishes later.
static int trainOnRanks(const Program &program, const Options &options,
                        Collectives &launched, const std::string &name,
                        std::unique_ptr<Device> &device) {
  std::unique_ptr<Collectives> overlay = overlayCollectives(options, launched);
  Collectives &collectives = overlay ? *overlay : launched;
  int rank = collectives.rank();
  std::string rankName = name + ": ";
  if (collectives.size() > 1)
    rankName +=
        format("rank %d (%s): ", rank, program.mesh.describe(rank).c_str());
  setFatalContext(&launched, rankName);
  Outcome opened = attempt([&] {
    device = openDevice(options, collectives);
    collectives.createGroups(program);
  });
  if (opened.failed) // while others may wait for this rank
    fatal("%s", opened.message.c_str());
  std::unique_ptr<Training> training;
  Outcome setUp = attempt([&] {
    training =
        std::make_unique<Training>(program, options, collectives, *device);
  });
  if (anyFailed(collectives, setUp, name))
    return 1;
  std::string sharing;
  Outcome shares = attempt([&] { sharing = training->shareArena(); });
  if (shares.failed) // while others wait for this rank
    fatal("%s", shares.message.c_str());
  if (rank == 0)
    announce(program, options, name, {training->describeRest(), sharing});
  handleSignals(rankName, rank == 0 && showsBar(options));
  Outcome trained = attempt([&] { training->run(); });
  // Only some ranks may fail here, while others wait for them.
  if (trained.failed)
    fatal("%s", trained.message.c_str());
  collectives.barrier();
  return 0;
}

int dtc::rt::trainMain(const dtc_program &exported, int argc, char **argv) {
  std::string name = std::filesystem::path(argv[0]).filename().string();
  setFatalContext(nullptr, name + ": ");
  std::optional<Program> program;
  std::optional<Options> options;
  std::string text; // to print instead of training
  Outcome parsed = attempt([&] {
    program = readProgram(exported);
    options = parseOptions(*program, argc, argv, text);
    if (options && options->describe)
      text = program->describe();
    if (text.empty() && options->processes && !startedByLauncher())
      if (options->processes > 1 || program->mesh.size() > 1)
        relaunch(*program, *options, argc, argv);
  });

  std::unique_ptr<Collectives> collectives = startCollectives();
  if (!parsed.failed && text.empty())
    parsed = attempt([&] {
      checkDevice();
      checkRankCount(*program, collectives->size(), argc, argv);
      if (options->data.empty())
        fail("found no --data, expected --data DIR or --data synthetic");
    });
  std::unique_ptr<Device> device;
  int status = 0;
  if (anyFailed(*collectives, parsed, name))
    status = 1;
  else if (!text.empty())
    fputs(collectives->rank() == 0 ? text.c_str() : "", stdout);
  else
    status = trainOnRanks(*program, *options, *collectives, name, device);
  fflush(nullptr);
  collectives->finish();
  return status;
}
