//===- TrainingLoop.cpp - the steps of one rank ---------------------------===//

#include "TrainingLoop.h"

#include "Agreement/Agree.h"
#include "Checkpoint/Parameters.h"
#include "Checkpoint/Safetensors.h"
#include "Collectives/Collectives.h"
#include "Core/Error.h"
#include "Core/Outcome.h"
#include "Launch/Environment.h"
#include "Launch/Signals.h"
#include "Metrics/Trace.h"
#include "NotFinite.h"
#include "Options/Epochs.h"

#include <chrono>
#include <cmath>
#include <csignal>
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
dtc::rt::openTrainingData(const Program &program, const Options &options,
                          Collectives &collectives) {
  if (options.data == "synthetic")
    return makeSynthetic(program, options.seed);
  return openDataset(program, {options.data, options.seed, options.shuffle,
                               collectives.rank(), collectives.size(),
                               options.transform, /*randomTransform=*/true});
}

TrainingLoop::TrainingLoop(const Program &program, const Options &options,
                           Collectives &collectives, Device &device,
                           std::unique_ptr<DataSource> data)
    : program(program), options(options), speed(program, options),
      context(program, collectives.rank(), collectives, device,
              options.overlaps),
      arena(device.makeArena(
          context.plan().arenaBytes, context.plan().hostBytes,
          collectives.sharesArena() ? Sharing::machine : Sharing::none)),
      source(std::move(data)),
      // With a server, the next share is not known before.
      loader(program, collectives.rank(), *source, *arena,
             /*ahead=*/!program.server, program.server ? 0 : options.prefetch,
             options.steps),
      inputs(program, context.plan(), collectives.rank(), *arena, options.seed),
      lossScale(options.lossScale),
      earlyStop(options.earlyStop, options.bestBy), average(context, *arena),
      stopVote(collectives),
      // Looked up at run time, because linkers treat weak references
      // differently.
      hook(reinterpret_cast<decltype(hook)>(
          dlsym(RTLD_DEFAULT, "dtcrt_step_hook"))) {
  collectives.observe(context);
  if (options.evalEvery)
    evaluation.emplace(context, options, *arena, chooseEvaluationData(options));
  if (options.evalTrain)
    ofTrainingData.emplace(context, options, *arena, options.data);
  if (leads()) {
    lockOutputs(program, options, outputs);
    checkOutputs();
  }
  if (options.checkReplicas)
    replicas.emplace(context, *arena);
  if (options.findNonFinite)
    finiteCheck.emplace(device, *arena);
  if (options.gradientNoise) {
    gradientNoise.emplace(program, collectives, device, *arena);
    noiseScale.emplace(double(program.globalBatch) / program.batchRanks(),
                       double(program.globalBatch));
  }
  if (program.server) {
    applyFunction =
        program.functionOf(program.findBetween(applyProgram), context.stage);
    server.emplace(
        context, *arena, options,
        ParameterServer::Callbacks{
            [this](const Share &share) { return compute(share); },
            [this](int64_t step, bool begin) { observe(step, begin); },
            [this](const ParameterServer::Update &update) { apply(update); },
            [this](const ServedStep &done) { reportServed(done); }});
  }
  if (!options.checkpointDir.empty())
    checkpoints.emplace(context, *arena, options,
                        TrainingSetting(program, options, describeData()));
}

void TrainingLoop::expectSameData() const {
  std::vector<ComparedFile> files;
  auto add = [&](const DataSource &data, const char *what) {
    for (const ComparedFile &file : data.files())
      files.push_back({"'" + file.name + "' of " + what, file.bytes});
  };
  add(*source, "--data");
  if (evaluation)
    add(evaluation->data(), "the evaluation data");
  expectSameFiles(files, coverage(), context.collectives);
}

void TrainingLoop::readTuning() {
  tuning.emplace(options.autotune, context.device.describe(),
                 context.collectives);
  context.device.tuneBy(*tuning);
}

std::string TrainingLoop::describeData() const {
  std::string text = source->fingerprint();
  return options.transform.empty()
             ? text
             : text + ", --transform " + options.transform;
}

void TrainingLoop::loadState() {
  std::optional<TrainingState> state;
  if (checkpoints)
    state = checkpoints->start();
  if (!state)
    agree(context.collectives, attempt([&] {
            expectSameWeights(program, options.initWeights, coverage(),
                              context.collectives);
          }),
          options.name);
  agree(context.collectives, attempt([&] {
          if (state) {
            firstStep = state->step + 1;
            resumeNote = earlyStop.resume(state->evaluations);
            soundStep = state->soundStep;
            unprovenStep = state->step;
            lossScale = LossScale(state->lossScale);
            bool counts = program.hasInput(InputKind::updates);
            if (!counts && state->lossScale.done != state->step)
              resumeNote += format(
                  "%soptimizer state has had %lld updates in %lld steps, by "
                  "--sync async; this program counts steps, so that the bias "
                  "correction of Adam's averages differs at first",
                  resumeNote.empty() ? "" : "; ",
                  (long long)state->lossScale.done, (long long)state->step);
          } else {
            loadParameters(context, *arena, options.seed, options.initWeights);
          }
          if (!options.trace.empty() || !options.profile.empty())
            openTrace();
          if (server)
            server->start(firstStep, state ? state->lossScale.done : 0);
          if (leads())
            reporter.emplace(program, options, showsBar(options),
                             context.plan().arenaBytes,
                             state ? std::optional(state->step) : std::nullopt);
        }),
        options.name);
}

void TrainingLoop::openTrace() {
  int64_t first = options.traceFirst, last = options.traceLast;
  if (!first) { // the first step warms up
    first = std::min(firstStep + 1, options.steps);
    last = std::min(firstStep + 3, options.steps);
  }
  first = std::max(first, firstStep);
  if (first > last) { // a former start had these steps
    if (leads())
      printf("note: nothing is traced, for training goes on at step %lld\n",
             (long long)firstStep);
    return;
  }
  trace.emplace(program, context.collectives, options.trace, options.profile,
                first, last);
  trace->use(context.device.clock());
}

/// Reports before the training, not after it, that a file cannot be saved.
void TrainingLoop::checkOutputs() {
  if (!options.saveBest.empty()) // it is rewritten in the training
    reserveTensors(program, TensorKind::weights, options.saveBest);
  if (!options.saveWeights.empty())
    reserved.push_back(
        reserveTensors(program, TensorKind::weights, options.saveWeights));
  if (!options.saveAverages.empty())
    reserved.push_back(
        reserveTensors(program, TensorKind::averages, options.saveAverages));
  if (options.dumpGradients.empty())
    return;
  bool keepsGradients = false;
  for (const Stage &stage : program.stages)
    for (const Stage::Parameter &parameter : stage.parameters)
      keepsGradients |= parameter.gradient.has_value();
  if (!keepsGradients)
    fail("found --dump-gradients, but this program trains no parameter");
  SafetensorsWriter(gradientFile(0), {});
}

std::string TrainingLoop::gradientFile(int64_t step) const {
  return format("%s/step-%lld.safetensors", options.dumpGradients.c_str(),
                (long long)step);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

std::string TrainingLoop::announce() const {
  std::string epochs = describeEpochs(options);
  return format("%s: %s (%s), %s, batch %lld, %s %s, seed %llu%s%s",
                options.name.c_str(), program.model.c_str(),
                program.dtype.c_str(), program.mesh.describe().c_str(),
                (long long)program.globalBatch, program.optimizer.c_str(),
                options.learningRate.describe().c_str(),
                (unsigned long long)options.seed, epochs.empty() ? "" : ", ",
                epochs.c_str());
}

std::vector<std::string> TrainingLoop::notes() const {
  std::vector<std::string> notes = {resumeNote};
  if (leads() && program.server)
    notes.push_back(format(
        "a server applies the gradients of %d worker%s, at most %lld step%s "
        "apart; loss and gradient norm of a step are means over shares of it",
        program.countWorkers(), program.countWorkers() == 1 ? "" : "s",
        (long long)program.server->ahead,
        program.server->ahead == 1 ? "" : "s"));
  else if (leads() && program.hasWorkers())
    notes.push_back(format(
        "%d replicas train apart; the loss and the gradient norm of a step are "
        "those of the first, evaluations and saved weights are of the average",
        program.countWorkers()));
  if (reporter)
    notes.push_back(reporter->describeFormer());
  for (const std::optional<Evaluation> *each : {&evaluation, &ofTrainingData})
    if (*each)
      notes.push_back((*each)->describeRest());
  return notes;
}

bool TrainingLoop::run() { return train() != TrainingEnd::notFinite; }

TrainingEnd TrainingLoop::train() {
  if (trace)
    trace->alignClocks();
  // It may have ended before it was resumed.
  TrainingEnd how =
      earlyStop.ends() ? TrainingEnd::noBetter : TrainingEnd::finished;
  int64_t step = firstStep;
  for (; step <= options.steps && how == TrainingEnd::finished; ++step) {
    if (server)
      step = runServed(step);
    else
      runStep(step);
    if (tuning && step == firstStep)
      finishTuning();
    bool stopsByNumbers = options.onNonFinite == OnNonFinite::stop;
    if (!program.hasWorkers() && !isFinite && stopsByNumbers) {
      how = TrainingEnd::notFinite;
      break;
    }
    if (program.hasWorkers() && !server && !isFinite)
      stopVote.observe({step, loss, gradientNorm});
    bool evaluates =
        evaluation && (step % options.evalEvery == 0 || step == options.steps);
    // Workers agree on their numbers before they use or save parameters.
    bool mustVote = server || (program.hasWorkers() &&
                               (evaluates || step == options.steps ||
                                (checkpoints && checkpoints->isDue(step))));
    bool wantsStop = stopSignal() || (checkpoints && checkpoints->hasFailed());
    StopVote::Decision vote = stopVote.decide(step, wantsStop, mustVote);
    judgeWorkers(vote);
    if (notFinite && stopsByNumbers) {
      how = TrainingEnd::notFinite;
      break;
    }
    bool stops = vote.stops;
    if (trace && step == trace->lastStep() && step < options.steps)
      writeTrace();
    bool isBest = evaluates && evaluate(step);
    if (step < options.steps && earlyStop.ends())
      how = TrainingEnd::noBetter;
    else if (step < options.steps && stops)
      how = TrainingEnd::stopped;
    bool isLast = step == options.steps || how != TrainingEnd::finished;
    if (isLast && trace)
      trace->stopAfter(step);
    if (checkpoints && (checkpoints->isDue(step) || isBest || isLast)) {
      checkpoints->save(stateAfter(step));
      unprovenStep = step;
    }
  }
  if (checkpoints)
    checkpoints->finish();
  if (how == TrainingEnd::notFinite)
    reportNotFinite(step);
  else
    save();
  if (trace && how != TrainingEnd::notFinite)
    writeTrace(); // it comes after what the training is for
  if (leads())
    reportEnd(how, how == TrainingEnd::notFinite ? step : step - 1);
  return how;
}

/// Takes what the workers have found since the last vote.
void TrainingLoop::judgeWorkers(const StopVote::Decision &vote) {
  if (!program.hasWorkers() || !vote.isVote)
    return;
  notFinite = vote.notFinite;
  if (!notFinite && unprovenStep)
    soundStep = unprovenStep;
  unprovenStep.reset();
  bool isReported = server || options.onNonFinite == OnNonFinite::stop;
  if (notFinite && leads() && !isReported)
    reporter->warn(format("step %lld of a replica has loss %g and gradient "
                          "norm %g",
                          (long long)notFinite->step, notFinite->loss,
                          notFinite->gradientNorm));
}

TrainingState TrainingLoop::stateAfter(int64_t step) const {
  TrainingState state{step, lossScale.state(), earlyStop.state(), soundStep};
  if (!program.skipsSteps()) // a program that does may go on from here
    state.lossScale.done = server ? server->countUpdates() : step;
  return state;
}

void TrainingLoop::reportEnd(TrainingEnd how, int64_t step) {
  reporter->finish();
  reporter->summarize();
  if (noiseScale && std::isfinite(noiseScale->value()))
    printf("gradient noise scale %.3g samples, batch %lld\n",
           noiseScale->value(), (long long)program.globalBatch);
  if (int64_t skipped = lossScale.skippedSteps())
    printf(
        "skipped %lld of %lld steps, whose gradients %s\n", (long long)skipped,
        (long long)step,
        program.scalesLoss()
            ? format("overflowed fp16; the loss scale is %g", lossScale.value())
                  .c_str()
            : "were no numbers");
  if (how == TrainingEnd::noBetter) {
    reporter->note(earlyStop.describe(step));
  } else if (how == TrainingEnd::stopped) {
    printf("stopped by a signal after step %lld of %lld; ", (long long)step,
           (long long)options.steps);
    if (checkpoints)
      printf("to go on, give the same command with --resume\n");
    else
      printf("the weights are saved; with --checkpoint-dir a training can go "
             "on\n");
  } else if (how == TrainingEnd::finished && firstStep > options.steps) {
    printf("nothing to train: the checkpoint is of step %lld of %lld --steps\n",
           (long long)firstStep - 1, (long long)options.steps);
  }
}

/// Reports why the training stops. All ranks call this and check their
/// gradients.
void TrainingLoop::reportNotFinite(int64_t step) {
  std::vector<std::array<char, 256>> found(size_t(context.collectives.size()));
  std::array<char, 256> own = {};
  if (!program.hasWorkers()) // whose gradients may be overwritten
    snprintf(own.data(), own.size(), "%s",
             findNotFiniteGradient(context, *arena).c_str());
  context.collectives.gatherData(own.data(), found.data(), sizeof own);
  std::string first;
  if (finiteCheck)
    first = finiteCheck->describe(context);
  if (!leads())
    return;
  reporter->finish();
  if (notFinite) {
    step = notFinite->step;
    loss = notFinite->loss;
    gradientNorm = notFinite->gradientNorm;
  }
  std::string cause = explainNotFinite(program, *source, step);
  for (size_t rank = 0; rank < found.size() && std::isfinite(loss); ++rank)
    if (found[rank][0]) {
      cause = "on " + program.mesh.describeRank(int(rank)) + " " +
              found[rank].data() + "; " + cause;
      break;
    }
  if (!first.empty())
    cause = first + "; " + cause;
  std::string rest = "nothing is saved of it";
  if (checkpoints)
    rest = checkpoints->describe(soundStep).value_or(rest);
  fprintf(stderr,
          "%s: error: step %lld has loss %g and gradient norm %g: %s; training "
          "stops, %s (--on-nonfinite warn goes on%s)\n",
          options.name.c_str(), (long long)step, std::isnan(loss) ? NAN : loss,
          std::isnan(gradientNorm) ? NAN : gradientNorm, cause.c_str(),
          rest.c_str(),
          finiteCheck ? "" : "; --find-nonfinite names the first op");
}

void TrainingLoop::writeTrace() {
  Trace::Written written = trace->write();
  if (leads()) {
    for (const std::string &warning : written.warnings)
      reporter->warn(warning);
    reporter->print(written.table);
  }
  context.collectives.barrier(); // nobody waits in a step while rank 0 writes
  trace.reset();
}

/// Later steps compute in the ways that the first step has measured.
void TrainingLoop::finishTuning() {
  size_t count = 0;
  Outcome outcome = attempt([&] { count = tuning->finish(); });
  context.device.tuneBy(*tuning);
  if (!leads())
    return;
  if (outcome.failed)
    reporter->warn("--autotune: " + outcome.message);
  else if (count > 0)
    reporter->note(format("measured %zu computations for '%s'", count,
                          options.autotune.c_str()));
}

void TrainingLoop::save() {
  reserved.clear();
  if (options.saveWeights.empty() && options.saveAverages.empty())
    return;
  WorkerAverage::Scope ofMean(average);
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
  if (finiteCheck) {
    context.finiteCheck = &*finiteCheck;
    finiteCheck->beginStep();
  }
  if (gradientNoise) {
    context.gradientNoise = &*gradientNoise;
    gradientNoise->beginStep();
  }
  context.device.run(program.steps[context.stage], context, *arena);
  if (step < options.steps) // while the device computes
    loader.prepare(step);
  context.device.synchronize();
  context.finiteCheck = nullptr;
  context.gradientNoise = nullptr;
  loss = scalarAt(context.plan().loss);
  gradientNorm = scalarAt(context.plan().gradientNorm);
}

/// Runs the programs that follow the step. They reuse the memory of its loss,
/// norm and gradients.
void TrainingLoop::runPrograms(int64_t step) {
  for (size_t i = 0; i < program.between.size(); ++i)
    if (program.between[i].follows(step))
      context.device.run(program.functionOf(i, context.stage), context, *arena);
  context.device.synchronize();
  if (context.trace)
    trace->endStep();
  context.trace = nullptr;
}

void TrainingLoop::runStep(int64_t step) {
  observe(step, true);
  std::optional<double> scale;
  if (program.scalesLoss())
    scale = lossScale.value();
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  runPlan(step);
  std::chrono::duration<double> time = Clock::now() - start;
  bool programsReuseArena = !program.between.empty();
  if (programsReuseArena)
    inspect(step, scale);
  start = Clock::now();
  runPrograms(step);
  time += Clock::now() - start;
  observe(step, false);
  isSkipped = program.skipsSteps() && lossScale.observe(gradientNorm);
  // With a lower loss scale the gradients may be finite again.
  bool overflows = isSkipped && scale && *scale > 1;
  isFinite = overflows || (std::isfinite(gradientNorm) && std::isfinite(loss));
  // Otherwise the weights are what they were. Workers decide by a vote.
  if (!isSkipped && !program.hasWorkers()) {
    if (isFinite && unprovenStep)
      soundStep = unprovenStep;
    unprovenStep.reset();
  }
  std::optional<double> localSquares;
  if (gradientNoise)
    localSquares = gradientNoise->endStep(scale.value_or(1));
  if (leads())
    report(step, time.count(), scale, localSquares);
  if (!programsReuseArena)
    inspect(step, scale);
}

/// Runs steps until all ranks must have the parameters. Returns the last one.
int64_t TrainingLoop::runServed(int64_t first) {
  int64_t last = options.steps;
  for (int64_t every : {evaluation ? options.evalEvery : 0,
                        checkpoints ? options.checkpointEvery : 0})
    if (every > 0)
      last = std::min(last, (first + every - 1) / every * every);
  if (tuning && first == firstStep)
    last = first;
  return server->run(first, last);
}

/// Computes a share of a step as a worker.
ParameterServer::Computed TrainingLoop::compute(const Share &share) {
  inputs.write({share.step, /*learningRate=*/0, /*lossScale=*/1, /*update=*/0,
                share.index});
  loader.takeShare(share.index);
  loader.load(share.step - 1);
  context.device.run(program.steps[context.stage], context, *arena);
  context.device.synchronize();
  return {scalarAt(context.plan().loss), scalarAt(context.plan().gradientNorm)};
}

/// Updates the parameters of the server by what a worker has pushed.
void TrainingLoop::apply(const ParameterServer::Update &update) {
  inputs.write(
      {update.number, update.learningRate, /*lossScale=*/1, update.number});
  context.device.run(
      program.functionOf(program.findBetween(applyProgram), context.stage),
      context, *arena);
  context.device.synchronize();
}

/// Rank 0 sees the steps of all workers.
void TrainingLoop::reportServed(const ServedStep &done) {
  loss = done.loss;
  gradientNorm = done.gradientNorm;
  staleness = done.staleness;
  isFinite = std::isfinite(loss) && std::isfinite(gradientNorm);
  if (!isFinite)
    stopVote.observe({done.step, loss, gradientNorm});
  report(done.step, done.seconds, std::nullopt, std::nullopt);
}

/// Looks at what the step has left in the arena.
void TrainingLoop::inspect(int64_t step, std::optional<double> scale) {
  if (replicas)
    replicas->check(step);
  if (!options.dumpGradients.empty())
    saveTensors(context, *arena, TensorKind::gradients, gradientFile(step),
                scale.value_or(1));
}

void TrainingLoop::report(int64_t step, double seconds,
                          std::optional<double> scale,
                          std::optional<double> localSquares) {
  StepMetrics metrics{step,         loss,
                      gradientNorm, options.learningRate.at(step),
                      seconds,      double(program.globalBatch) / seconds,
                      scale};
  if (program.skipsSteps())
    metrics.isSkipped = isSkipped;
  if (options.stepsPerEpoch)
    metrics.epoch = double(step) / double(options.stepsPerEpoch);
  if (int64_t tokens = program.tokensPerSample())
    metrics.tokensPerSecond = double(tokens) * metrics.samplesPerSecond;
  metrics.staleness = staleness;
  metrics.flopsPerSecond = speed.flopsPerSecond(seconds);
  metrics.mfu = speed.mfu(seconds);
  if (localSquares) {
    metrics.localGradientNorm = std::sqrt(*localSquares);
    if (isFinite && !isSkipped)
      noiseScale->add(*localSquares,
                      metrics.gradientNorm * metrics.gradientNorm);
    metrics.noiseScale = noiseScale->value();
  }
  std::string cause;
  if (options.onNonFinite != OnNonFinite::stop && reporter->warnsOf(metrics))
    cause = explainNotFinite(program, *source, step);
  reporter->report(metrics, cause);
  if (step == 1 && metrics.gradientNorm == 0 && !isSkipped)
    reporter->warn("the gradient of step 1 is exactly 0 for all parameters, so "
                   "none of them is trained: the model's file may have lost a "
                   "detach() (export it by tools/export.py), what the loss "
                   "depends on may be frozen, or all labels of the batch may "
                   "be ignored");
  if (gradientNoise && !localSquares && step == firstStep)
    reporter->warn("--gradient-noise: this plan does not reduce each gradient "
                   "once, over just the ranks that share the batch; there is "
                   "no noise scale");
}

bool TrainingLoop::evaluate(int64_t step) {
  WorkerAverage::Scope ofMean(average);
  EvalMetrics metrics = evaluation->run(step, inputs);
  metrics.workerDistance = average.distance();
  bool isBest = earlyStop.observe(metrics);
  if (isBest && !options.saveBest.empty())
    saveTensors(context, *arena, TensorKind::weights, options.saveBest);
  if (leads())
    reporter->report(metrics);
  if (ofTrainingData) {
    EvalMetrics ofTraining = ofTrainingData->run(step, inputs);
    ofTraining.ofTrainingData = true;
    if (leads())
      reporter->report(ofTraining);
  }
  return isBest;
}
