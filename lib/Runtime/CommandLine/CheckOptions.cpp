//===- CheckOptions.cpp - options that exclude or need each other ---------===//

#include "CheckOptions.h"

#include "Core/Error.h"
#include "Options/Epochs.h"
#include "Options/OptionValues.h"

#include <CLI/CLI.hpp>
#include <cfloat>
#include <set>

using namespace dtc::rt;

static void chooseTracedSteps(Options &options, const std::string &text) {
  if (text.empty())
    return;
  size_t dash = text.find('-');
  std::string first = text.substr(0, dash);
  std::string last = dash == std::string::npos ? first : text.substr(dash + 1);
  if (!wholeNumber(first).empty() || !wholeNumber(last).empty() ||
      !CLI::detail::lexical_cast(first, options.traceFirst) ||
      !CLI::detail::lexical_cast(last, options.traceLast) ||
      options.traceFirst < 1 || options.traceFirst > options.traceLast)
    fail("--trace-steps: found '%s', expected A-B, the first and the last step "
         "to record",
         text.c_str());
}

/// An evaluation does not accept options of a training.
static void checkEvaluation(const CLI::App &app, Options &options) {
  const std::set<std::string> groups = {"Data", "Ranks and devices"};
  const std::set<std::string> others = {
      "--help",         "--version",        "--describe",     "--evaluate",
      "--predict",      "--eval-data",      "--eval-batches", "--seed",
      "--init-weights", "--checkpoint-dir", "--resume",       "--resume-step",
      "--metrics",      "--tensorboard",    "--progress"};
  for (const CLI::Option *option : app.get_options())
    if (std::string name = option->get_name();
        option->count() && !others.count(name) &&
        (!groups.count(option->get_group()) || name == "--autotune"))
      fail("found %s with --evaluate, which trains nothing; leave one of them "
           "out",
           name.c_str());
  if (!options.initWeights.empty() && !options.checkpointDir.empty())
    fail("found --init-weights and --checkpoint-dir with --evaluate, expected "
         "one of them");
  if ((options.resume || options.resumeStep >= 0) &&
      options.checkpointDir.empty())
    fail("found %s, expected --checkpoint-dir DIR with it",
         options.resume ? "--resume" : "--resume-step");
  if (options.data == "synthetic" && options.evalData.empty())
    fail("found --data synthetic with --evaluate, expected a directory");
}

/// With a server, ranks have no common step, so nothing can be seen in one.
static void checkServer(const CLI::App &app, const Program &program) {
  if (!program.server) {
    for (const char *option : {"--record-arrivals", "--replay-arrivals"})
      if (app.count(option))
        fail("found %s, but this program has no server; compile it with --sync "
             "async:S",
             option);
    return;
  }
  if (app.count("--prefetch"))
    fail("found --prefetch, but under --sync async a worker does not know its "
         "next share of the data; leave it out");
  for (const char *option :
       {"--trace", "--profile", "--dump-gradients", "--find-nonfinite",
        "--gradient-noise", "--check-replicas"})
    if (app.count(option))
      fail("found %s, which looks at a step of all ranks, but under --sync "
           "async workers compute steps at different times; leave it out",
           option);
}

void dtc::rt::checkOptions(const CLI::App &app, const Program &program,
                           Options &options, const std::string &traceSteps) {
  for (const CLI::Option *option : app.get_options())
    for (const std::string &value : option->results())
      if (value.empty())
        fail("found %s '', expected a value", option->get_name().c_str());
  if (app.count("--epochs") && app.count("--steps"))
    fail("found --epochs and --steps, expected one of them");
  if (program.dtype != "f64" && options.learningRate.peak > FLT_MAX)
    fail("found --lr %g, expected a number of at most %g",
         options.learningRate.peak, FLT_MAX);
  if (options.evaluates)
    return checkEvaluation(app, options);
  checkServer(app, program);
  if (!options.predict.empty())
    fail("found --predict, expected --evaluate with it");
  for (const char *option : {"--early-stop", "--eval-batches", "--eval-data",
                             "--eval-train", "--best-by"})
    if (app.count(option) && !options.evalEvery)
      fail("found %s, expected --eval-every N with it", option);
  if (options.evalTrain && options.data == "synthetic")
    fail("found --eval-train with --data synthetic, which has no end; expected "
         "--data DIR");
  if (options.evalEvery && options.data == "synthetic" &&
      options.evalData.empty())
    fail("found --eval-every with --data synthetic, expected --eval-data DIR "
         "with it");
  if (!options.saveBest.empty() && !options.evalEvery)
    fail("found --save-best, expected --eval-every N with it");
  for (const char *option : {"--checkpoint-every", "--keep-checkpoints",
                             "--checkpoint-async", "--resume"})
    if (app.count(option) && options.checkpointDir.empty())
      fail("found %s, expected --checkpoint-dir DIR with it", option);
  if (options.resumeStep >= 0 && !options.resume)
    fail("found --resume-step, expected --resume with it");
  if (options.onNonFinite == OnNonFinite::skip && !program.skipsSteps())
    fail("found --on-nonfinite skip, but this program updates weights in every "
         "step; compile it with --skip-nonfinite");
  if (options.findNonFinite && options.onNonFinite != OnNonFinite::stop)
    fail("found --find-nonfinite, expected --on-nonfinite stop with it");
  if (!options.transform.empty() && options.data == "synthetic" &&
      options.evalData.empty())
    fail("found --transform with --data synthetic, expected --data DIR with "
         "images");
  if (!traceSteps.empty() && options.trace.empty() && options.profile.empty())
    fail(
        "found --trace-steps, expected --trace FILE or --profile FILE with it");
  if (!options.autotune.empty() && options.matmul != MatMulEngine::builtin)
    fail("found --autotune with --matmul, expected one of them");
  chooseTracedSteps(options, traceSteps);
  if (options.epochCounts.empty())
    settleSteps(options, /*stepsPerEpoch=*/0);
  if (!options.saveAverages.empty() && !program.hasAverages())
    fail("found --save-ema, but this program keeps no moving averages; compile "
         "it with --ema DECAY");
}
