//===- CommandLine.h - the options of dtc -----------------------*- C++ -*-===//
//
// One option here for each field of DriverOptions.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DRIVER_COMMANDLINE_H
#define DTC_LIB_DRIVER_COMMANDLINE_H

#include "dtc/Driver/Driver.h"
#include "dtc/Training/Optimizers.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include <deque>

namespace dtc {

namespace cl = llvm::cl;

/// Reads a number, a boolean or a text. Errors are in our words, and true.
bool readValue(llvm::StringRef name, llvm::StringRef text, int64_t &value);
bool readValue(llvm::StringRef name, llvm::StringRef text, double &value);
bool readValue(llvm::StringRef name, llvm::StringRef text, bool &value);
bool readValue(llvm::StringRef name, llvm::StringRef text, std::string &value);

/// An option whose value is read by readValue, not by LLVM.
template <typename T, bool isExternal>
class ValueOption : public cl::opt<T, isExternal> {
public:
  using cl::opt<T, isExternal>::opt;
  using cl::opt<T, isExternal>::operator=;

private:
  bool handleOccurrence(unsigned position, llvm::StringRef name,
                        llvm::StringRef text) override {
    T value;
    if (readValue(name, text, value))
      return true;
    this->setValue(value);
    this->setPosition(position);
    return false;
  }
};

/// The value is a field of `options`, or the option's own.
template <typename T> using Opt = ValueOption<T, /*isExternal=*/true>;
template <typename T> using OwnOpt = ValueOption<T, /*isExternal=*/false>;

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
  OwnOpt<int64_t> batch{
      "batch", cl::value_desc("N"), cl::cat(modelOptions),
      cl::desc("Samples in one step, over all ranks (--batch-dim of every "
               "input); with --dp auto, of one replica")};
  cl::list<std::string> batchDims{
      "batch-dim", cl::value_desc("[NAME=]K"), cl::cat(modelOptions),
      cl::desc("The dimension of inputs, or of the input NAME, that is the "
               "batch, counted from 0 (default: one of such a name, else 0); "
               "data have it first; may be repeated")};
  Opt<bool> untie{"untie", cl::location(compile.import.untie),
                  cl::cat(modelOptions),
                  cl::desc("Train a lookup table and the head apart that start "
                           "equal, instead of as one tied parameter")};
  cl::list<std::string> ties{
      "tie", cl::value_desc("A=B"), cl::cat(modelOptions),
      cl::desc("Parameters that start equal, up to transpose, and are one; may "
               "be repeated")};
  Opt<std::string> precision{
      "precision", cl::location(training.precision),
      cl::value_desc("fp32|bf16|fp16"), cl::cat(trainingOptions),
      describe("What products are computed, and activations kept in; "
               "parameters, optimizer state, gradients of parameters, sums and "
               "losses stay fp32",
               training.precision)};
  cl::opt<std::string> dtype{"dtype", cl::value_desc("f32|f64"),
                             cl::init("f32"), cl::cat(modelOptions),
                             cl::desc("Type to compute in (default f32)")};
  cl::list<std::string> parameters{
      "parameter", cl::value_desc("GLOB"), cl::cat(modelOptions),
      cl::desc(
          "Graph inputs that are parameters, for a model without weights, "
          "and initializers that are not taken for such; may be repeated")};
  cl::list<std::string> dropout{
      "dropout", cl::value_desc("P|GLOB=P|none"), cl::cat(modelOptions),
      cl::desc("Ratio of the model's Dropout nodes, or of those that GLOB "
               "matches (their names or modules); none turns all dropout off; "
               "may be repeated")};
  Opt<std::string> init{
      "init", cl::location(options.init),
      cl::value_desc("normal|xavier|kaiming|FILE"), cl::cat(modelOptions),
      cl::desc("Start from random weights instead of the model's: N(0, 0.02), "
               "Xavier (normal), or Kaiming (normal, fan in); or from those of "
               "a safetensors file, by PyTorch's names")};

  //===--- Plan -----------------------------------------------------------===//
  OwnOpt<std::string> dp{
      "dp", cl::value_desc("N|auto"), cl::cat(planOptions), cl::init("1"),
      cl::desc("Data parallel: ranks that share the batch; auto: as many as "
               "the program is started on, each replica with --batch samples "
               "(default 1)")};
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
  Opt<std::string> reduceDtype{
      "reduce-dtype", cl::location(compile.parallel.reduceDtype),
      cl::value_desc("fp32|bf16|fp16"), cl::cat(planOptions),
      describe("What ranks sum gradients in, whatever --precision: they are "
               "cast before they are reduced over --dp (and --tp), and back "
               "for norm and optimizer; over micro-batches they accumulate in "
               "fp32",
               compile.parallel.reduceDtype)};
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
               "as F0 F1 B0 W0 B1 W1 (see docs/Architecture/Schedule.md)",
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
               "products (which takes about as long), or layers with nodes of "
               "such names",
               compile.schedule.recompute)};
  Opt<int64_t> bucketMb{
      "bucket-mb", cl::location(compile.schedule.bucketMb),
      cl::value_desc("MiB"), cl::cat(planOptions),
      describe("Gradients reduced by one call; what --zero 1 and 2 store, "
               "gather and update as one",
               compile.schedule.bucketMb)};
  Opt<std::string> offload{
      "offload", cl::location(compile.schedule.offload),
      cl::value_desc("none|state|parameters"), cl::cat(planOptions),
      describe("What GPUs keep in pinned memory of the host: state is the "
               "optimizer's, which the update reads and writes there; with "
               "parameters also the parts that --zero makes of parameters, "
               "which are gathered from there",
               compile.schedule.offload)};
  Opt<bool> poisonMemory{
      "poison-memory", cl::location(compile.schedule.poisonMemory),
      cl::cat(planOptions), cl::Hidden,
      cl::desc("For tests: fill memory with NaN where nothing is live")};
  cl::opt<std::string> deviceMemory{
      "device-memory", cl::value_desc("SIZE"), cl::cat(planOptions),
      cl::desc("Refuse a plan that needs more memory on a rank, and name "
               "options that would fit; bytes, or with KiB, MiB, GiB, TiB")};
  cl::opt<std::string> workspace{
      "workspace", cl::value_desc("SIZE"), cl::cat(outputOptions),
      cl::desc("Memory that cuDNN may use for convolutions and attention on a "
               "GPU, 1GiB by default: with less, the gradient of long "
               "attention is computed in more parts")};
  cl::list<std::string> cut{
      "cut", cl::CommaSeparated, cl::cat(planOptions),
      cl::value_desc("cost|parameters|uniform|NODE,..."),
      cl::desc("Where stages begin: balanced by cost (default), by parameters, "
               "by number of ops, or at these nodes")};

  // Other names that the field has for these.
  cl::alias dpAlias{"data-parallel", cl::aliasopt(dp), cl::cat(planOptions),
                    cl::desc("Another name of --dp")};
  cl::alias tpAlias{"tensor-parallel", cl::aliasopt(tp), cl::cat(planOptions),
                    cl::desc("Another name of --tp")};
  cl::alias ppAlias{"pipeline-parallel", cl::aliasopt(pp), cl::cat(planOptions),
                    cl::desc("Another name of --pp")};
  cl::alias spAlias{"sequence-parallel", cl::aliasopt(sp), cl::cat(planOptions),
                    cl::desc("Another name of --sp")};
  cl::alias accumulateAlias{"gradient-accumulation-steps",
                            cl::aliasopt(accumulate), cl::cat(planOptions),
                            cl::desc("Another name of --accumulate")};
  cl::alias recomputeAlias{"activation-checkpointing", cl::aliasopt(recompute),
                           cl::cat(planOptions),
                           cl::desc("Another name of --recompute")};
  cl::alias zeroAlias{"zero-stage", cl::aliasopt(zero), cl::cat(planOptions),
                      cl::desc("Another name of --zero")};
  cl::alias bucketMbAlias{"bucket-cap-mb", cl::aliasopt(bucketMb),
                          cl::cat(planOptions),
                          cl::desc("Another name of --bucket-mb")};

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
                                   "of, if there are several (default of "
                                   "--loss output: the scalar); what only "
                                   "others need is left out")};
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
  OwnOpt<double> labelSmoothing{
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
      "optimizer", cl::location(training.optimizer),
      cl::value_desc(descriptions.emplace_back(listOptimizers("|"))),
      cl::cat(trainingOptions),
      describe("How parameters are updated", training.optimizer)};
  OwnOpt<double> lr{
      "lr", cl::value_desc("X"), cl::cat(trainingOptions),
      describeByOptimizer(
          "Learning rate, if the program is given none",
          [](const Optimizer &optimizer) { return optimizer.lr; })};
  OwnOpt<double> momentum{"momentum", cl::value_desc("X"),
                          cl::cat(trainingOptions),
                          describeSetting("Momentum", "momentum")};
  OwnOpt<bool> nesterov{"nesterov", cl::cat(trainingOptions),
                        cl::desc("Nesterov momentum of sgd")};
  OwnOpt<double> weightDecay{"weight-decay", cl::value_desc("X"),
                             cl::cat(trainingOptions),
                             describeSetting("Weight decay", "weight_decay")};
  OwnOpt<double> alpha{
      "alpha", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("What the average of squares keeps in a step", "alpha")};
  OwnOpt<double> beta1{
      "beta1", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("What the first moment keeps in a step", "beta1")};
  OwnOpt<double> beta2{
      "beta2", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("What the second moment keeps in a step", "beta2")};
  OwnOpt<double> epsilon{
      "epsilon", cl::value_desc("X"), cl::cat(trainingOptions),
      describeSetting("Added to what is divided by", "epsilon")};
  OwnOpt<double> clipNorm{
      "clip-norm", cl::value_desc("X"), cl::cat(trainingOptions),
      cl::desc("Scale all gradients of a step down to this norm, as "
               "clip_grad_norm_ (default: do not); grad_norm and "
               "--dump-gradients are before")};
  cl::alias lrAlias{"learning-rate", cl::aliasopt(lr), cl::cat(trainingOptions),
                    cl::desc("Another name of --lr")};
  cl::alias clipNormAlias{"max-grad-norm", cl::aliasopt(clipNorm),
                          cl::cat(trainingOptions),
                          cl::desc("Another name of --clip-norm")};
  OwnOpt<double> ema{
      "ema", cl::value_desc("DECAY"), cl::cat(trainingOptions),
      cl::desc("Keep a moving average of the trained weights, DECAY of it old "
               "in each step; the program's --save-ema writes it")};
  OwnOpt<bool> skipNonFinite{
      "skip-nonfinite", cl::cat(trainingOptions),
      cl::desc(
          "Steps whose gradients are NaN or infinite change no weight, for "
          "the program's --on-nonfinite skip; always so with --precision "
          "fp16")};
  cl::list<std::string> freeze{
      "freeze", cl::value_desc("GLOB"), cl::cat(trainingOptions),
      cl::desc("Parameters that are not trained; may be repeated")};
  cl::list<std::string> paddingIdx{
      "padding-idx", cl::value_desc("GLOB=N"), cl::cat(trainingOptions),
      cl::desc(
          "Row N of lookup tables of such names is not trained by lookups, "
          "as padding_idx of nn.Embedding (dynamo's files say so "
          "themselves); may be repeated")};
  cl::list<std::string> noDecay{
      "no-decay", cl::value_desc("GLOB|norms-and-biases"),
      cl::cat(trainingOptions),
      cl::desc("Parameters without weight decay; norms-and-biases are those of "
               "one dimension; may be repeated")};
  cl::list<std::string> lrScales{
      "lr-scale", cl::value_desc("GLOB=X"), cl::cat(trainingOptions),
      cl::desc("Multiply the learning rate of such parameters by X; may be "
               "repeated")};

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
                                          "strategy, training, parallel, "
                                          "schedule, lower, link")};
  cl::opt<std::string> emit{"emit", cl::value_desc("PHASE"),
                            cl::cat(outputOptions),
                            cl::desc("Print the IR after a phase, and stop")};
  Opt<std::string> dumpDir{
      "dump-dir", cl::location(options.dumpDir), cl::value_desc("DIR"),
      cl::cat(outputOptions),
      cl::desc("Write the IR after every phase, and the PTX of "
               "device code")};
  Opt<bool> verbose{"verbose", cl::location(options.verbose),
                    cl::cat(outputOptions),
                    cl::desc("Say more of the model: names that are restored, "
                             "tensors that are not trained")};
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
               "docs/Architecture/Report.md)")};
  cl::opt<std::string> profile{
      "profile", cl::value_desc("FILE.json"), cl::cat(outputOptions),
      cl::desc("Simulate the schedule, for --report and --timeline, with the "
               "times that tasks took in a program of the same model and "
               "stages (what it wrote with --trace) instead of FLOPs")};
  Opt<std::string> target{
      "target", cl::location(compile.target.kind), cl::value_desc("cpu|cuda"),
      cl::cat(outputOptions),
      describe("What the program computes on: CPUs over MPI, or NVIDIA GPUs "
               "over NCCL, one for each rank",
               compile.target.kind)};
  Opt<std::string> architecture{
      "arch", cl::location(compile.target.architecture),
      cl::value_desc("sm_NN"), cl::cat(outputOptions),
      describe("GPU to generate code for: sm_80 (A100), sm_86, sm_89, sm_90 "
               "(H100, H200), sm_100 (B200) or sm_120; later ones run it, too",
               compile.target.architecture)};
  cl::opt<std::string> device{
      "device", cl::value_desc("NAME"), cl::cat(outputOptions),
      cl::desc(descriptions.emplace_back(
          "GPU that the program is for (" + Device::listNames() +
          "), with --target cuda, which it implies: what --arch and "
          "--device-memory are by default, and with --report how long a step "
          "is expected to take"))};
  Opt<std::string> cpu{
      "target-cpu", cl::location(compile.target.cpu), cl::value_desc("NAME"),
      cl::cat(outputOptions),
      cl::desc("CPU to generate code for (default: this machine's)")};
  Opt<std::string> runtimeDir{"runtime-dir", cl::location(options.runtimeDir),
                              cl::value_desc("DIR"), cl::cat(outputOptions),
                              cl::desc("Folder of libdtcrt.a (default: beside "
                                       "dtc)")};

  mlir::LogicalResult finish(const char *program);

private:
  mlir::LogicalResult parsePhase(llvm::StringRef name, CompilePhase &phase);
  mlir::LogicalResult
  checkChoice(llvm::StringRef option, llvm::StringRef value,
              std::initializer_list<llvm::StringRef> choices);
  mlir::LogicalResult checkSchedule();
  mlir::LogicalResult checkOutput();
  mlir::LogicalResult finishModel();
  mlir::LogicalResult finishPlan();
  mlir::LogicalResult finishTraining();
  mlir::LogicalResult finishPhases();
  mlir::LogicalResult finishOutput(const char *program);
  mlir::LogicalResult finishOptimizer();
  mlir::LogicalResult finishDevice();
  mlir::LogicalResult finishTopology();
  std::optional<int64_t> parseBytes(const cl::opt<std::string> &option);
  mlir::LogicalResult finishDeviceMemory();
  mlir::LogicalResult finishWorkspace();
  mlir::LogicalResult finishProfile();
};

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

} // namespace dtc

#endif // DTC_LIB_DRIVER_COMMANDLINE_H
