//===- Train.cpp - a training program from start to end -------------------===//

#include "Train.h"

#include "Agreement/Agree.h"
#include "Agreement/OptionAgreement.h"
#include "Collectives/Collectives.h"
#include "CommandLine/ParseOptions.h"
#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Core/Outcome.h"
#include "Device/Device.h"
#include "Diagnose.h"
#include "Launch/Environment.h"
#include "Launch/LauncherWatch.h"
#include "Launch/Mpirun.h"
#include "Launch/RankCount.h"
#include "Launch/Signals.h"
#include "Options/Epochs.h"
#include "Target/Target.h"
#include "Training/EvaluationRun.h"
#include "Training/TrainingLoop.h"

#include <cstdio>
#include <filesystem>

using namespace dtc::rt;

static void note(const std::string &text) {
  if (!text.empty())
    printf("note: %s\n", text.c_str());
}

static std::unique_ptr<RankJob> makeJob(const Program &program,
                                        Options &options,
                                        Collectives &collectives,
                                        Device &device) {
  if (options.evaluates)
    return std::make_unique<EvaluationRun>(program, options, collectives,
                                           device);
  auto data = openTrainingData(program, options, collectives);
  settleSteps(options, data->stepsPerEpoch());
  return std::make_unique<TrainingLoop>(program, options, collectives, device,
                                        std::move(data));
}

/// Trains or evaluates on the right number of ranks. The caller keeps the
/// device that this opens, because `launched` ends later.
static int runOnRanks(const Program &program, Options &options,
                      Collectives &launched, std::unique_ptr<Device> &device) {
  std::unique_ptr<Collectives> overlay = overlayCollectives(options, launched);
  Collectives &collectives = overlay ? *overlay : launched;
  int rank = collectives.rank();
  std::string rankName = options.name + ": ";
  if (collectives.size() > 1)
    rankName += program.mesh.describeRank(rank) + ": ";
  struct FatalContext {
    Collectives &launched;
    std::string name;
    FatalContext(Collectives &own, Collectives &launched, std::string name)
        : launched(launched), name(std::move(name)) {
      setFatalContext(&own, this->name);
    }
    ~FatalContext() { setFatalContext(&launched, name); }
  } fatalContext(collectives, launched, rankName);
  // An error below ends the job, because other ranks may wait for this one.
  auto mustSucceed = [](const Outcome &outcome) {
    if (outcome.failed)
      fatal("%s", outcome.message.c_str());
  };
  mustSucceed(attempt([&] { device = openDevice(options, collectives); }));
  agree(collectives,
        attempt([&] { expectAgreement(program, options, collectives); }),
        options.name);
  mustSucceed(attempt([&] { collectives.createGroups(program); }));
  std::unique_ptr<RankJob> job;
  agree(collectives,
        attempt([&] { job = makeJob(program, options, collectives, *device); }),
        options.name);
  agree(collectives, attempt([&] { job->expectSameData(); }), options.name);
  if (!options.autotune.empty())
    agree(collectives, attempt([&] { job->readTuning(); }), options.name);
  std::string sharing;
  mustSucceed(attempt([&] { sharing = job->shareArena(); }));
  if (rank == 0)
    printf("%s\n", job->announce().c_str());
  mustSucceed(attempt([&] { job->loadState(); }));
  if (rank == 0) {
    for (const std::string &text : job->notes())
      note(text);
    note(sharing);
    fflush(stdout);
  }
  handleSignals(rankName, rank == 0 && showsBar(options),
                options.savesTraining());
  bool isGood = false;
  mustSucceed(attempt([&] { isGood = job->run(); }));
  collectives.barrier();
  return !isGood;
}

int dtc::rt::trainMain(const dtc_program &exported, int argc, char **argv) {
  std::string name = std::filesystem::path(argv[0]).filename().string();
  setFatalContext(nullptr, name + ": ");
  ignoreSizeLimit();
  std::optional<Program> program;
  std::optional<Options> options;
  std::string text;            // to print instead of training
  std::optional<int> launched; // the exit status of the ranks
  Outcome parsed = attempt([&] {
    program = readProgram(exported);
    options = parseOptions(*program, argc, argv, text);
    if (options && options->describe)
      text = program->describe();
    if (text.empty() && options->processes && !startedByLauncher())
      if (options->processes > 1 || program->mesh.size() > 1)
        launched = relaunch(*program, *options, argc, argv);
  });
  if (launched)
    return *launched;
  if (!parsed.failed && options && options->diagnose)
    return diagnose(*program, *options);

  const Options &used = options ? *options : Options();
  std::optional<LauncherWatch> launcher;
  std::unique_ptr<Collectives> collectives;
  Outcome started = attempt([&] {
    launcher.emplace(Environment::get(), used.timeout);
    collectives = startCollectives(used);
  });
  if (started.failed) { // ranks have not met: each says why
    if (!text.empty() && !parsed.failed)
      return fputs(text.c_str(), stdout) < 0;
    fprintf(stderr, "%s: error: %s\n", name.c_str(),
            (parsed.failed ? parsed : started).message.c_str());
    return 1;
  }
  if (!parsed.failed && text.empty())
    parsed = attempt([&] {
      checkDevice();
      program->setRanks(collectives->size());
      checkRankCount(*program, collectives->size(), argc, argv);
      if (options->gradientNoise && program->batchRanks() == 1)
        fail("found --gradient-noise, which compares gradients of ranks, but "
             "one rank of this program has the whole batch; %s",
             program->replicaAxis < 0 ? "compile it with --dp N"
                                      : "start several replicas");
      if (options->batchScale)
        options->learningRate.peak *=
            options->batchScale->factor(program->globalBatch);
      if (options->data.empty() &&
          !(options->evaluates && !options->evalData.empty()))
        fail("found no --data, expected --data DIR%s",
             options->evaluates ? "" : " or --data synthetic");
    });
  std::unique_ptr<Device> device;
  int status = 0;
  try {
    agree(*collectives, parsed, name);
    int asking = collectives->firstFailed(!text.empty());
    if (asking < 0)
      status = runOnRanks(*program, *options, *collectives, device);
    else if (asking == 0)
      status = fputs(collectives->rank() == 0 ? text.c_str() : "", stdout) < 0;
    else
      agree(*collectives,
            {!text.empty(), "this rank has --help or --describe, rank 0 has "
                            "not; give all ranks the same"},
            name);
  } catch (const Reported &) {
    status = 1;
  }
  fflush(nullptr);
  collectives->finish();
  return status;
}
