//===- TrainingLoop.cpp - the steps of one rank ---------------------------===//

#include "TrainingLoop.h"

#include "Checkpoint/Parameters.h"
#include "Checkpoint/Safetensors.h"
#include "Core/Error.h"
#include "Core/Launch.h"
#include "NotFinite.h"

#include <chrono>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Setting up
//===----------------------------------------------------------------------===//

bool dtc::rt::showsBar(const Options &options) {
  if (options.progress == ProgressStyle::automatic)
    // Launchers may give ranks a terminal of their own that nobody watches.
    return !startedByLauncher() && isatty(STDOUT_FILENO);
  return options.progress == ProgressStyle::bar;
}

std::unique_ptr<DataSource>
TrainingLoop::openSource(Collectives &collectives) const {
  if (options.data == "synthetic")
    return makeSynthetic(program, options.seed);
  return openDataset(program, {options.data, options.seed, options.shuffle,
                               collectives.rank(), collectives.size()});
}

TrainingLoop::TrainingLoop(const Program &program, const Options &options,
                           Collectives &collectives, Device &device)
    : program(program), options(options),
      context(program, collectives, device, options.overlaps),
      arena(device.makeArena(context.plan().arenaBytes,
                             collectives.sharesArena() ? Sharing::machine
                                                       : Sharing::none)),
      source(openSource(collectives)),
      loader(program, collectives.rank(), *source, *arena, /*ahead=*/true),
      inputs(program, context.plan(), *arena, options.seed),
      lossScale(options.lossScale), metricsFile(leads() ? options.metrics : ""),
      progress(options.steps, options.logEvery, showsBar(options)),
      // Looked up, for how a weak reference is linked depends on the linker.
      hook(reinterpret_cast<decltype(hook)>(
          dlsym(RTLD_DEFAULT, "dtcrt_step_hook"))) {
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

/// Finds out before the training, not after it, that nothing can be saved.
void TrainingLoop::checkOutputs() const {
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

std::string TrainingLoop::gradientFile(int64_t step) const {
  return format("%s/step-%lld.safetensors", options.dumpGradients.c_str(),
                (long long)step);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

void TrainingLoop::run() {
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
  save();
}

void TrainingLoop::save() {
  if (!options.saveWeights.empty())
    saveTensors(context, *arena, TensorKind::weights, options.saveWeights);
  if (!options.saveAverages.empty())
    saveTensors(context, *arena, TensorKind::averages, options.saveAverages);
}

void TrainingLoop::observe(int64_t step, bool begin) const {
  if (hook)
    hook(step, begin);
}

/// Loads the step's rows and runs the plan on them.
void TrainingLoop::runPlan(int64_t step) {
  inputs.write({step, options.learningRate.at(step), lossScale.value(),
                lossScale.nextUpdate()});
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
}

void TrainingLoop::runStep(int64_t step) {
  observe(step, true);
  auto start = std::chrono::steady_clock::now();
  runPlan(step);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  observe(step, false);
  std::optional<double> scale;
  if (program.scalesLoss())
    scale = lossScale.value();
  bool isSkipped =
      scale && lossScale.observe(scalarAt(context.plan().gradientNorm));
  if (leads())
    report(step, time.count(), scale, isSkipped);
  if (replicas)
    replicas->check(step);
  if (!options.dumpGradients.empty())
    saveTensors(context, *arena, TensorKind::gradients, gradientFile(step),
                scale.value_or(1));
}

void TrainingLoop::report(int64_t step, double seconds,
                          std::optional<double> scale, bool isSkipped) {
  StepMetrics metrics{step,
                      scalarAt(context.plan().loss),
                      scalarAt(context.plan().gradientNorm),
                      options.learningRate.at(step),
                      seconds,
                      double(program.globalBatch) / seconds,
                      scale,
                      isSkipped};
  metricsFile.write(metrics);
  std::string cause;
  if (progress.warnsOf(metrics))
    cause = explainNotFinite(program, *source, step);
  progress.report(metrics, cause);
}

void TrainingLoop::evaluate(int64_t step) {
  EvalMetrics metrics = evaluation->run(step, inputs);
  if (!leads())
    return;
  metricsFile.write(metrics);
  progress.report(metrics);
}
