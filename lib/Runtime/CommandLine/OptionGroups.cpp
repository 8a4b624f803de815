//===- OptionGroups.cpp - the options of the command line -----------------===//

#include "OptionGroups.h"

#include "Core/Error.h"
#include "Data/Transform.h"
#include "Options/Epochs.h"
#include "Options/OptionValues.h"
#include "Target/Target.h"

#include <CLI/CLI.hpp>
#include <cmath>

using namespace dtc::rt;

static std::string stepCount(const std::string &text) {
  std::string wrong = atLeastOne(text);
  return text == "0" ? wrong + "; to evaluate without training, use --evaluate"
                     : wrong;
}

static std::string learningRate(const std::string &text) {
  double value;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
      value >= 0)
    return {};
  return "found '" + text + "', expected a number of at least 0";
}

static std::string positiveNumber(const std::string &text) {
  double value;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
      value > 0)
    return {};
  return "found '" + text + "', expected a number above 0";
}

/// A validator: a file, where other programs' `-` is a stream.
static std::string fileName(const std::string &text) {
  return text == "-" ? "found '-', expected the name of a file" : "";
}

/// A validator: what a function parses without an Error.
template <typename Parse> static auto accepts(Parse parse) {
  return [parse](const std::string &text) -> std::string {
    try {
      parse(text);
      return {};
    } catch (const Error &error) {
      return error.what();
    }
  };
}

/// An option of steps between events, which may be given as epochs.
static CLI::Option *addInterval(CLI::App &app, Options &options,
                                const char *name, int64_t Options::*steps,
                                const std::string &description) {
  return app
      .add_option_function<std::string>(
          name,
          [&options, name, steps](const std::string &text) {
            options.*steps = 1;
            if (std::optional<double> epochs = parseEpochUnit(text))
              options.epochCounts.push_back({name, *epochs, steps});
            else
              CLI::detail::lexical_cast(text, options.*steps);
          },
          description)
      ->type_name("N|Ne")
      ->check([](const std::string &text) -> std::string {
        try {
          return parseEpochUnit(text) ? "" : atLeastOne(text);
        } catch (const Error &error) {
          return error.what();
        }
      });
}

//===----------------------------------------------------------------------===//
// The options, by group
//===----------------------------------------------------------------------===//

void dtc::rt::addTrainingOptions(CLI::App &app, Options &options,
                                 const Program &program) {
  LearningRateSchedule &schedule = options.learningRate;
  app.add_option("--steps", options.steps, "optimizer steps")
      ->type_name("N")
      ->check(stepCount);
  app.add_option_function<std::string>(
         "--epochs",
         [&options](const std::string &text) {
           options.epochCounts.push_back(
               {"--epochs", *parseEpochs(text), &Options::steps});
         },
         "instead of --steps: train as many steps as so many passes over the "
         "data take")
      ->type_name("N")
      ->check([](const std::string &text) -> std::string {
        return parseEpochs(text)
                   ? ""
                   : "found '" + text + "', expected a number above 0";
      });
  app.add_option("--lr,--learning-rate", schedule.peak,
                 "learning rate, or its peak, instead of the compiled one")
      ->type_name("RATE")
      ->check(learningRate);
  app.add_option_function<std::string>(
         "--scale-lr",
         [&options](const std::string &text) {
           options.batchScale = BatchScale::parse(text);
         },
         "the learning rate is for this global batch: multiply it by the ratio "
         "of the program's batch to it (linear, for SGD) or by its square root "
         "(sqrt, for Adam)")
      ->type_name("linear:BATCH|sqrt:BATCH")
      ->check(accepts(BatchScale::parse));
  using Shape = LearningRateShape;
  app.add_option("--lr-schedule", schedule.shape,
                 "constant, linear (PyTorch's LinearLR down to --min-lr), "
                 "cosine (CosineAnnealingLR) or one-cycle (OneCycleLR), over "
                 "all --steps")
      ->type_name("NAME")
      ->default_str("constant")
      ->transform(oneOf<Shape>({{"constant", Shape::constant},
                                {"linear", Shape::linear},
                                {"cosine", Shape::cosine},
                                {"one-cycle", Shape::oneCycle}}));
  app.add_option("--warmup-steps", schedule.warmup,
                 "steps in which the rate first rises: from 0, in step 1; in "
                 "one-cycle from 1/25 of the peak (0.3 of all steps)")
      ->type_name("N")
      ->default_str("0")
      ->check(wholeNumber);
  app.add_option("--min-lr", schedule.minimum,
                 "final rate (0; in one-cycle 1/250000 of the peak)")
      ->type_name("RATE")
      ->check(learningRate);
  app.add_option("--seed", options.seed,
                 "of initial weights, dropout, shuffling and synthetic data")
      ->type_name("N")
      ->check(wholeNumber);
  app.add_option(
         "--on-nonfinite", options.onNonFinite,
         "stop, skip or warn: when a loss or gradient norm is NaN or "
         "infinite, end the training and save nothing; leave the "
         "weights as they are, if compiled with --skip-nonfinite or fp16; or "
         "only say so")
      ->type_name("ACTION")
      ->default_str("stop")
      ->transform(oneOf<OnNonFinite>({{"stop", OnNonFinite::stop},
                                      {"skip", OnNonFinite::skip},
                                      {"warn", OnNonFinite::warn}}));
  app.add_flag("--find-nonfinite", options.findNonFinite,
               "for debugging: when the training stops for a number that is "
               "none, name the kernel and the ONNX node that made the first; "
               "looks at all results, which is slow");
  app.add_option("--loss-scale", options.lossScale,
                 "fp16: what the loss is multiplied by at first; halved when "
                 "gradients overflow, doubled after 2000 steps without")
      ->type_name("X")
      ->check([&program](const std::string &text) -> std::string {
        char *end;
        double scale = strtod(text.c_str(), &end);
        if (!program.scalesLoss())
          return "this program is in " + program.dtype +
                 ", expected one of dtc --precision fp16";
        return !*end && scale >= 1 && scale <= 0x1p100
                   ? ""
                   : "found '" + text + "', expected a number from 1 to 2^100";
      });
}

void dtc::rt::addDataOptions(CLI::App &app, Options &options) {
  app.add_option("--data", options.data,
                 "directory of <input>.npy and labels.npy (or shards of them, "
                 "or tokens.npy or .bin), or 'synthetic'")
      ->type_name("DIR");
  app.add_flag_callback(
      "--no-shuffle", [&options] { options.shuffle = false; },
      "take the samples in the order of the files");
  app.add_option("--transform", options.transform,
                 "what is done to images: a list of scale, normalize(M,S), "
                 "crop(SIZE,PADDING), flip, center-crop(SIZE), resize(H,W)")
      ->type_name("STEPS")
      ->default_str("none")
      ->check(accepts(parseTransform));
  app.add_option("--prefetch", options.prefetch,
                 "steps that a thread reads ahead; 0: none")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
  app.add_flag("--verify-data", options.verifyData,
               "compare all bytes of the data and of the initial weights "
               "between ranks before the first step; without it, of files "
               "above 256 MiB together, samples");
}

void dtc::rt::addEvaluationOptions(CLI::App &app, Options &options,
                                   const Program &program) {
  addInterval(app, options, "--eval-every", &Options::evalEvery,
              "evaluate all samples of DIR/valid every N steps, or 1e epochs, "
              "and after the last")
      ->default_str("never");
  app.add_option("--eval-batches", options.evalBatches,
                 "evaluate this many batches at most")
      ->type_name("N")
      ->default_str("all")
      ->check(atLeastOne);
  app.add_option("--eval-data", options.evalData,
                 "evaluate this directory instead of DIR/valid")
      ->type_name("DIR");
  app.add_flag("--eval-train", options.evalTrain,
               "evaluate the training data, too: shows their accuracy");
  std::vector<std::pair<std::string, BestBy>> numbers = {
      {"loss", BestBy::loss}};
  for (auto [sum, name, number] :
       {std::tuple("training_loss", "training-loss", BestBy::trainingLoss),
        {"right", "accuracy", BestBy::accuracy},
        {"top5", "top5", BestBy::top5},
        {"class_hits", "f1", BestBy::f1}})
    if (program.sizeOfEvalSum(sum))
      numbers.emplace_back(name, number);
  app.add_option("--best-by", options.bestBy,
                 "the number by which --save-best and --early-stop compare "
                 "evaluations: loss, without class weights and label "
                 "smoothing; training-loss, with them; accuracy, top5 or f1")
      ->type_name("NUMBER")
      ->default_str("loss")
      ->transform(oneOf<BestBy>(numbers));
  app.add_option("--early-stop", options.earlyStop,
                 "end the training after N evaluations in a row that are not "
                 "better than the best before")
      ->type_name("N")
      ->default_str("never")
      ->check(atLeastOne);
  app.add_flag("--evaluate", options.evaluates,
               "evaluate the weights once and stop, without training: on "
               "--eval-data, or DIR/valid of --data, or DIR. The weights are "
               "the program's, those of --init-weights, or those of a "
               "checkpoint in --checkpoint-dir");
  app.add_option(
         "--predict", options.predict,
         "with --evaluate: write the model's output for each sample, in "
         "the order of the data")
      ->type_name("FILE.npy")
      ->check(fileName);
}

void dtc::rt::addSavingOptions(CLI::App &app, Options &options) {
  app.add_option("--init-weights", options.initWeights,
                 "start from the weights of this file, such as one of "
                 "--save-weights, unless --resume finds a checkpoint")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option("--save-weights", options.saveWeights,
                 "write the trained weights after the last step")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option("--save-ema", options.saveAverages,
                 "write the moving averages of the weights after the last "
                 "step, if compiled with --ema")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option("--save-best", options.saveBest,
                 "write the weights whenever an evaluation is better than all "
                 "before, by --best-by")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option("--checkpoint-dir", options.checkpointDir,
                 "write checkpoints, from which a training goes on under any "
                 "plan, into this folder: after the last step and when stopped")
      ->type_name("DIR");
  addInterval(app, options, "--checkpoint-every", &Options::checkpointEvery,
              "write one every N steps, or 1e epochs, too")
      ->default_str("never");
  app.add_option(
         "--keep-checkpoints", options.keepCheckpoints,
         "keep the newest N, that of the best evaluation, and the newest "
         "that a step with finite loss and norm followed")
      ->type_name("N")
      ->check(atLeastOne);
  app.add_flag("--checkpoint-async", options.checkpointAsync,
               "write them while the training goes on, from a copy in memory");
  app.add_flag("--resume", options.resume,
               "go on from the newest whole checkpoint, if there is one");
  app.add_option("--resume-step", options.resumeStep,
                 "with --resume: from the checkpoint of this step")
      ->type_name("N")
      ->default_str("newest")
      ->check(wholeNumber);
  app.add_option("--dump-gradients", options.dumpGradients,
                 "write step-N.safetensors with all gradients, each step; "
                 "before clipping")
      ->type_name("DIR");
}

void dtc::rt::addDisplayOptions(CLI::App &app, Options &options,
                                std::string &traceSteps) {
  app.add_option("--metrics", options.metrics,
                 "write a JSON object per step: step, loss, grad_norm, lr, "
                 "seconds, samples_per_second; a former FILE becomes FILE.1")
      ->type_name("FILE.jsonl")
      ->check(fileName);
  app.add_option("--tensorboard", options.tensorboard,
                 "write these numbers as TensorBoard's event files, too")
      ->type_name("DIR");
  app.add_option(
         "--peak-flops", options.peakFlops,
         "FLOP/s that one rank can do at most, such as 231e9: shows MFU")
      ->type_name("X")
      ->default_str("of dtc --device")
      ->check(positiveNumber);
  app.add_flag("--gradient-noise", options.gradientNoise,
               "show the noise scale of the gradient, in samples: batches that "
               "are much larger gain little; compares what ranks have with "
               "their mean");
  addInterval(app, options, "--log-every", &Options::logEvery,
              "steps, or 1e epochs, between lines; the first and the last step "
              "have one in any case")
      ->default_str("about one line a second");
  app.add_option("--progress", options.progress,
                 "auto, plain, or bar (auto: a bar on a terminal)")
      ->type_name("STYLE")
      ->default_str("auto")
      ->transform(oneOf<ProgressStyle>({{"auto", ProgressStyle::automatic},
                                        {"plain", ProgressStyle::plain},
                                        {"bar", ProgressStyle::bar}}));
  app.add_option("--trace", options.trace,
                 "write when each rank ran each phase and communicated, for "
                 "the trace viewers of Chrome and Perfetto")
      ->type_name("FILE.json")
      ->check(fileName);
  app.add_option("--profile", options.profile,
                 "write a table of what the time of a step goes to, and which "
                 "rank is slowest; - is standard output")
      ->type_name("FILE|-");
  app.add_option("--trace-steps", traceSteps, "steps of --trace and --profile")
      ->type_name("A-B")
      ->default_str("2-4");
  app.add_flag("--check-replicas", options.checkReplicas,
               "for debugging: after each step, compare the bits of "
               "parameters, gradients and optimizer state that several ranks "
               "hold");
  app.add_flag("--describe", options.describe,
               "print the compiled plan and stop");
  app.add_flag("--diagnose", options.diagnose,
               "print the machine, its driver, libraries, devices and their "
               "links, try each library call of the plan alone, and "
               "collectives between ranks that a launcher or --nproc starts, "
               "and stop");
}

void dtc::rt::addLaunchOptions(CLI::App &app, Options &options) {
  app.add_option("--nproc", options.processes,
                 "start this many ranks through mpirun")
      ->type_name("N")
      ->default_str("as started")
      ->check(atLeastOne);
  app.add_option("--overlap", options.overlaps,
                 "on or off: whether collectives that the plan starts early go "
                 "on while the rank computes")
      ->type_name("STATE")
      ->default_str("on")
      ->transform(oneOf<bool>({{"on", true}, {"off", false}}));
  app.add_option("--autotune", options.autotune,
                 "compute matrix products, and on GPUs convolutions and "
                 "attention, in the ways that FILE names; what it lacks is "
                 "measured in the first step, and added to it")
      ->type_name("FILE.json")
      ->check(fileName);
  app.add_option("--rendezvous", options.rendezvous,
                 "a file that all ranks see and that is not there yet, by "
                 "which they find each other without mpirun")
      ->type_name("FILE");
  app.add_option("--timeout", options.timeout,
                 "how long a rank waits for others at the start, and in one "
                 "call of a step, before it ends the job; ten times that "
                 "between steps")
      ->type_name("SECONDS")
      ->check(atLeastOne);
  addDeviceOptions(app, options);
}
