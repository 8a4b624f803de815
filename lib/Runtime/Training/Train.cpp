//===- Train.cpp - a training program from start to end -------------------===//

#include "Train.h"

#include "Core/Error.h"
#include "Core/Launch.h"
#include "Device/Device.h"
#include "Signals.h"
#include "TrainingLoop.h"

#include <cstdio>
#include <filesystem>

using namespace dtc::rt;

namespace {

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
  std::unique_ptr<TrainingLoop> training;
  Outcome setUp = attempt([&] {
    training =
        std::make_unique<TrainingLoop>(program, options, collectives, *device);
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
