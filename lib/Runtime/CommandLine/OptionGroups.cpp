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

/// A validator: the name of a file. `-`, which is a stream to other programs,
/// is an error.
static std::string fileName(const std::string &text) {
  return text == "-" ? "found '-', expected the name of a file" : "";
}

/// A validator: a text that `parse` accepts without an Error.
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

/// Adds an option that counts steps between events, or epochs with the suffix
/// `e`.
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
  app.add_option("--steps", options.steps, "number of optimizer steps")
      ->type_name("N")
      ->check(stepCount);
  app.add_option_function<std::string>(
         "--epochs",
         [&options](const std::string &text) {
           options.epochCounts.push_back(
               {"--epochs", *parseEpochs(text), &Options::steps});
         },
         "number of passes over the data, instead of --steps")
      ->type_name("N")
      ->check([](const std::string &text) -> std::string {
        return parseEpochs(text)
                   ? ""
                   : "found '" + text + "', expected a number above 0";
      });
  app.add_option("--lr,--learning-rate", schedule.peak,
                 "learning rate, or its peak under a schedule. The default was "
                 "compiled in")
      ->type_name("RATE")
      ->check(learningRate);
  app.add_option_function<std::string>(
         "--scale-lr",
         [&options](const std::string &text) {
           options.batchScale = BatchScale::parse(text);
         },
         "scale the learning rate from this global batch to the "
         "program's: by their ratio (linear, for SGD) or by its square "
         "root (sqrt, for Adam)")
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
  app.add_option(
         "--warmup-steps", schedule.warmup,
         "number of warmup steps. The rate rises linearly from 0, which "
         "is the rate of step 1. one-cycle rises from 1/25 of the peak, "
         "by default in 0.3 of all steps")
      ->type_name("N")
      ->default_str("0")
      ->check(wholeNumber);
  app.add_option("--min-lr", schedule.minimum,
                 "final learning rate. The default is 0, and for one-cycle "
                 "1/250000 of the peak")
      ->type_name("RATE")
      ->check(learningRate);
  app.add_option("--seed", options.seed,
                 "seed of initial weights, dropout, shuffling and synthetic "
                 "data")
      ->type_name("N")
      ->check(wholeNumber);
  app.add_option(
         "--on-nonfinite", options.onNonFinite,
         "action when a loss or gradient norm is NaN or infinite. stop: "
         "end the training and save nothing. skip: keep the weights of "
         "the step before; the program must be compiled with "
         "--skip-nonfinite or fp16. warn: print a warning only")
      ->type_name("ACTION")
      ->default_str("stop")
      ->transform(oneOf<OnNonFinite>({{"stop", OnNonFinite::stop},
                                      {"skip", OnNonFinite::skip},
                                      {"warn", OnNonFinite::warn}}));
  app.add_flag("--find-nonfinite", options.findNonFinite,
               "debugging: check the results of all kernels. When a NaN or "
               "infinity stops the training, name the first kernel and ONNX "
               "node that produced it. Slow");
  app.add_option("--loss-scale", options.lossScale,
                 "fp16: initial loss scale. It is halved when gradients "
                 "overflow, and doubled after 2000 steps without overflow")
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
                 "directory with one <input>.npy per input and labels.npy, or "
                 "shards of them, or tokens.npy or tokens.bin; 'synthetic' "
                 "trains on random data")
      ->type_name("DIR");
  app.add_flag_callback(
      "--no-shuffle", [&options] { options.shuffle = false; },
      "read samples in file order");
  app.add_option("--transform", options.transform,
                 "image transforms, comma-separated: scale, normalize(M,S), "
                 "crop(SIZE,PADDING), flip, center-crop(SIZE), resize(H,W)")
      ->type_name("STEPS")
      ->default_str("none")
      ->check(accepts(parseTransform));
  app.add_option("--prefetch", options.prefetch,
                 "steps that a thread reads ahead; 0 reads in the step itself")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
  app.add_flag("--verify-data", options.verifyData,
               "compare all bytes of the data and of the initial weights "
               "between ranks before the first step. By default, ranks "
               "compare only samples of files that exceed 256 MiB in total");
}

void dtc::rt::addEvaluationOptions(CLI::App &app, Options &options,
                                   const Program &program) {
  addInterval(app, options, "--eval-every", &Options::evalEvery,
              "evaluate all samples of DIR/valid every N steps, or every N "
              "epochs with the suffix e (1e), and after the last step")
      ->default_str("never");
  app.add_option("--eval-batches", options.evalBatches,
                 "largest number of batches in an evaluation")
      ->type_name("N")
      ->default_str("all")
      ->check(atLeastOne);
  app.add_option("--eval-data", options.evalData,
                 "directory of the evaluation data, instead of DIR/valid")
      ->type_name("DIR");
  app.add_flag("--eval-train", options.evalTrain,
               "evaluate the training data as well, for example to see their "
               "accuracy");
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
                 "metric by which --save-best and --early-stop compare "
                 "evaluations: loss (without class weights and label "
                 "smoothing), training-loss (with them), accuracy, top5 or f1")
      ->type_name("NUMBER")
      ->default_str("loss")
      ->transform(oneOf<BestBy>(numbers));
  app.add_option("--early-stop", options.earlyStop,
                 "stop the training after N consecutive evaluations without "
                 "improvement")
      ->type_name("N")
      ->default_str("never")
      ->check(atLeastOne);
  app.add_flag("--evaluate", options.evaluates,
               "evaluate the weights once and exit, without training. The "
               "data are --eval-data, else DIR/valid of --data, else DIR. The "
               "weights are those of the program, of --init-weights, or of a "
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
                 "initial weights, for example a file of --save-weights. If "
                 "--resume finds a checkpoint, its weights are used")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option("--save-weights", options.saveWeights,
                 "write the trained weights after the last step")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option(
         "--save-ema", options.saveAverages,
         "write the moving averages of the weights after the last step. "
         "The program must be compiled with --ema")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option("--save-best", options.saveBest,
                 "write the weights after each evaluation that is the best so "
                 "far, by --best-by")
      ->type_name("FILE.safetensors")
      ->check(fileName);
  app.add_option(
         "--checkpoint-dir", options.checkpointDir,
         "directory of checkpoints. One is written after the last step, "
         "and when a signal stops the training. A program with any "
         "other plan can resume from it")
      ->type_name("DIR");
  addInterval(app, options, "--checkpoint-every", &Options::checkpointEvery,
              "write a checkpoint every N steps, or every N epochs with the "
              "suffix e (1e), as well")
      ->default_str("never");
  app.add_option("--keep-checkpoints", options.keepCheckpoints,
                 "number of newest checkpoints to keep. The checkpoint of the "
                 "best evaluation is kept as well, and the newest that is "
                 "followed by a step with finite loss and gradient norm")
      ->type_name("N")
      ->check(atLeastOne);
  app.add_flag("--checkpoint-async", options.checkpointAsync,
               "write checkpoints in the background, from a copy in memory");
  app.add_flag("--resume", options.resume,
               "resume from the newest complete checkpoint, if there is one");
  app.add_option("--resume-step", options.resumeStep,
                 "with --resume: resume from the checkpoint of this step")
      ->type_name("N")
      ->default_str("newest")
      ->check(wholeNumber);
  app.add_option("--dump-gradients", options.dumpGradients,
                 "write all gradients of each step, before clipping, to "
                 "step-N.safetensors")
      ->type_name("DIR");
  app.add_option("--record-arrivals", options.recordArrivals,
                 "with dtc --sync async: write the order in which the server "
                 "gave shares of batches and applied gradients")
      ->type_name("FILE")
      ->check(fileName);
  app.add_option("--replay-arrivals", options.replayArrivals,
                 "repeat the order of a file of --record-arrivals, which "
                 "repeats that training bit for bit")
      ->type_name("FILE")
      ->check(fileName);
}

void dtc::rt::addDisplayOptions(CLI::App &app, Options &options,
                                std::string &traceSteps) {
  app.add_option("--metrics", options.metrics,
                 "write a JSON object per step: step, loss, grad_norm, lr, "
                 "seconds, samples_per_second. An existing FILE is renamed to "
                 "FILE.1")
      ->type_name("FILE.jsonl")
      ->check(fileName);
  app.add_option("--tensorboard", options.tensorboard,
                 "write the same metrics as TensorBoard event files")
      ->type_name("DIR");
  app.add_option("--peak-flops", options.peakFlops,
                 "peak FLOP/s of one rank, for example 231e9. Model FLOPs "
                 "utilization (MFU) is shown relative to it")
      ->type_name("X")
      ->default_str("of dtc --device")
      ->check(positiveNumber);
  app.add_flag("--gradient-noise", options.gradientNoise,
               "show the gradient noise scale, in samples. Batches much "
               "larger than it gain little. It compares the gradients of the "
               "ranks with their mean");
  addInterval(app, options, "--log-every", &Options::logEvery,
              "steps between log lines, or epochs with the suffix e (1e). "
              "The first and the last step always have a line")
      ->default_str("about one line a second");
  app.add_option("--progress", options.progress,
                 "auto, plain or bar. auto shows a bar on a terminal")
      ->type_name("STYLE")
      ->default_str("auto")
      ->transform(oneOf<ProgressStyle>({{"auto", ProgressStyle::automatic},
                                        {"plain", ProgressStyle::plain},
                                        {"bar", ProgressStyle::bar}}));
  app.add_option(
         "--trace", options.trace,
         "write a timeline of the stage functions and the communication "
         "of each rank, for the trace viewers of Chrome and Perfetto")
      ->type_name("FILE.json")
      ->check(fileName);
  app.add_option("--profile", options.profile,
                 "write a table of the time of a step by cause, with the "
                 "slowest rank; - is standard output")
      ->type_name("FILE|-");
  app.add_option("--trace-steps", traceSteps,
                 "steps that --trace and --profile record")
      ->type_name("A-B")
      ->default_str("2-4");
  app.add_flag("--check-replicas", options.checkReplicas,
               "debugging: after each step, compare parameters, gradients and "
               "optimizer state that several ranks hold, bit by bit");
  app.add_flag("--describe", options.describe,
               "print the compiled plan and exit");
  app.add_flag("--diagnose", options.diagnose,
               "print the machine, its driver, libraries, devices and their "
               "links; run each library call of the plan by itself, and "
               "collectives between the ranks that a launcher or --nproc "
               "starts; then exit");
}

void dtc::rt::addLaunchOptions(CLI::App &app, Options &options) {
  app.add_option("--nproc", options.processes,
                 "start this many ranks through mpirun")
      ->type_name("N")
      ->default_str("as started")
      ->check(atLeastOne);
  app.add_option("--overlap", options.overlaps,
                 "on or off: overlap collectives that the plan starts early "
                 "with computation")
      ->type_name("STATE")
      ->default_str("on")
      ->transform(oneOf<bool>({{"on", true}, {"off", false}}));
  app.add_option("--autotune", options.autotune,
                 "compute matrix products, and on GPUs convolutions and "
                 "attention, by the fastest algorithms in FILE. The first step "
                 "measures those that FILE lacks, and adds them")
      ->type_name("FILE.json")
      ->check(fileName);
  app.add_option("--rendezvous", options.rendezvous,
                 "file through which ranks find each other without mpirun. All "
                 "ranks must see it, and it must not exist yet")
      ->type_name("FILE");
  app.add_option(
         "--timeout", options.timeout,
         "seconds that a rank waits for other ranks at the start and in "
         "a call of a step, before it ends the job. Between steps it "
         "waits ten times as long")
      ->type_name("SECONDS")
      ->check(atLeastOne);
  addDeviceOptions(app, options);
}
