//===- Program.h - the compiled plan, read from its manifest ----*- C++ -*-===//
//
// The structs mirror the manifest documented in ABI.h.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_PROGRAM_PROGRAM_H
#define DTC_LIB_RUNTIME_PROGRAM_PROGRAM_H

#include "Mesh.h"
#include "dtc/Runtime/ABI.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dtc::rt {

/// The name of the state that is a parameter's moving average.
constexpr const char *averageState = "ema";
/// The name of the state that is the last average of all workers' parameters.
constexpr const char *anchorState = "anchor";
/// The program that replaces each worker's parameters by their mean.
constexpr const char *averageProgram = "average";
/// The program of a server, which applies what a worker has pushed.
constexpr const char *applyProgram = "apply";

enum class InputKind {
  input,
  label,
  learningRate,
  step,
  seed,
  microbatch, ///< the numbers of the step's micro-batches
  lossScale,  ///< of fp16
  updates,    ///< the number of the update, if steps may be skipped
  replicas,   ///< number of replicas, if the launch sets it
  replica,    ///< index of the rank's replica
};

struct InputInfo {
  std::string name;
  dtc_dtype dtype;
  std::vector<int64_t> shape; ///< of the global batch; empty for scalars
  InputKind kind;
  /// Exclusive upper bounds of whole numbers: one for all, or one for each
  /// element of a sample, 0 where it is unknown; empty if there is none.
  std::vector<int64_t> bounds;
  std::optional<int64_t> ignoreIndex; ///< a label outside the bound, allowed

  bool isData() const {
    return kind == InputKind::input || kind == InputKind::label;
  }
  std::vector<int64_t> sampleShape() const {
    return {shape.begin() + 1, shape.end()};
  }
};

/// A dimension that an axis splits.
struct AxisSplit {
  int axis, dim;
};

struct ParameterInfo {
  std::string name;
  dtc_dtype dtype;
  std::vector<int64_t> shape;
  std::vector<AxisSplit> splits;
  /// The model's tensor that contains this parameter, and the parameter's place
  /// in it.
  std::string tensor;
  std::vector<int64_t> tensorShape, start;
  /// Other names that the tensor is saved under.
  std::vector<std::string> aliases;
  bool trainable;
  enum class Init { file, zeros, ones, normal } init;
  double initScale = 0; ///< deviation of `normal`

  /// Size of the part that a rank holds.
  int64_t bytes(const Mesh &mesh) const;
};

/// The layout of a stage's arena.
struct Stage {
  struct Input {
    int index;
    int64_t offset;
  };
  /// The place of a parameter, a state or a gradient.
  struct Place {
    struct Shard {
      std::vector<int> axes; ///< that split the row, major to minor
      int64_t start, length; ///< elements of the row

      bool isSplitBy(int axis) const;
      /// The number of parts of the row, and the part of a rank.
      int64_t countParts(const Mesh &mesh) const;
      int64_t partOf(const Mesh &mesh, int rank) const;
    };
    int64_t offset;
    std::optional<Shard> shard;
  };
  /// Whether the positions of an axis have tensors of their own. These are rows
  /// of a tensor with one more dimension in front.
  enum class Rows {
    none,
    terms, ///< of a sum
    each,  ///< values of workers
  };
  struct State {
    std::string name;
    Place place;
    /// The state as a tensor, if it is not like the parameter.
    std::optional<ParameterInfo> own;
    Rows rows = Rows::none;
    /// Whether a checkpoint may lack it, or have another shape; it is zero
    /// then.
    bool isOptional = false;
    bool isTransient = false; ///< no checkpoint has it
  };
  struct Parameter {
    int index;
    Place place;
    /// The tensor of all workers' parameters, if each has its own.
    std::optional<ParameterInfo> own;
    std::optional<Place> gradient;
    std::vector<State> state;

    /// Null if there is none of this name.
    const State *findState(std::string_view name) const;
  };
  int64_t arenaBytes;
  int64_t hostBytes = 0; ///< of the host's memory, beside a GPU's
  std::vector<Input> inputs;
  std::vector<Parameter> parameters;
  int64_t loss, gradientNorm; ///< f64 scalars
  int64_t eval;               ///< f64: the sums of an evaluation
};

/// A program that runs between steps.
struct ProgramBetweenSteps {
  std::string name;
  /// It runs after step t if t modulo `period` is `turn`; 0: on request.
  int64_t period = 0, turn = 0;

  bool follows(int64_t step) const { return period && step % period == turn; }
};

/// The rules of a server, which has the parameters and updates them by what
/// workers push. ABI.h says more.
struct ServerInfo {
  int64_t ahead;
  bool rateByStaleness;
};

/// One of the sums of an evaluation, or one for each class.
struct EvalSum {
  std::string name;
  int64_t size;
};

/// The model's output, which evaluations can write. Dimensions are those of a
/// sample.
struct RecordInfo {
  dtc_dtype dtype;
  std::vector<int64_t> shape;    ///< of all ranks that share it
  std::vector<int64_t> unpadded; ///< as the model has it
  std::vector<AxisSplit> splits;
  int stage; ///< that computes it
};

/// A launch or a library call.
struct OpInfo {
  std::string name;
  std::string node;     ///< of the model; empty: not known
  int64_t flops, bytes; ///< of one execution on a rank; 0: not known
};

enum class LossKind { crossEntropy, bce, mse, output };

struct Program {
  uint64_t manifestHash; ///< of the manifest's text
  std::string model;
  std::string dtype;
  LossKind loss;
  Mesh mesh;
  std::vector<int> batchAxes; ///< that split the batch, major to minor
  int64_t microbatches;
  int64_t globalBatch;  ///< of one replica while the mesh has an open axis
  int replicaAxis = -1; ///< the launch sets its size; -1: none
  int workerAxis = -1;  ///< its positions train apart; -1: all ranks together
  std::optional<ServerInfo> server; ///< at position 0 of this axis
  std::vector<ProgramBetweenSteps> between;
  int64_t modelFlops = 0;      ///< of a step, on all ranks; 0: not known
  double peakFlops = 0;        ///< of a rank's device, a second; 0: not known
  bool skipsNonFinite = false; ///< compiled with --skip-nonfinite
  /// Whether the loss is scaled, as in fp16.
  bool scalesLoss() const { return hasInput(InputKind::lossScale); }
  /// Whether a step with NaN or infinite gradients changes no weight.
  bool skipsSteps() const { return skipsNonFinite || scalesLoss(); }
  std::string weightsFile; ///< empty if they follow the executable's code
  /// The optimizer's name and settings without the learning rate, as text.
  std::string optimizer;
  double learningRate;
  std::vector<std::vector<int>> groups; ///< axes of each collective group
  /// For each member of a group, by index, the member whose input it gets.
  std::vector<std::vector<int>> permutations;
  /// Stage functions: "F", "F.1" for chunk 1, "update".
  std::vector<std::string> functions;
  std::vector<OpInfo> ops; ///< of stage functions
  std::vector<InputInfo> inputs;
  std::vector<ParameterInfo> parameters;
  /// Tensors of the weights file that are saved as they are.
  std::vector<std::string> buffers;
  std::vector<Stage> stages;
  std::vector<EvalSum> evalSums;
  bool isLanguageModel = false; ///< the loss has a perplexity
  bool mixesSamples = false;    ///< computes with pairs of samples of a batch
  std::optional<RecordInfo> record;

  const dtc_step_fn *steps, *evals, *programs;
  std::string executable = "/proc/self/exe";

  /// Sets the number of ranks of an open mesh; the mesh and the batch follow.
  /// checkRankCount reports a number that does not fit.
  void setRanks(int ranks);
  void setReplicas(int replicas);

  bool hasWorkers() const { return workerAxis >= 0; }
  /// The positions that share the batch; 1 if all ranks train together.
  int countWorkers() const {
    return hasWorkers() ? mesh.axes[size_t(workerAxis)].size - (server ? 1 : 0)
                        : 1;
  }
  /// The place of this name in `between`; throws an Error if there is none.
  size_t findBetween(std::string_view name) const;
  /// The function of a stage in a program between steps, by its index.
  dtc_step_fn functionOf(size_t number, int stage) const {
    return programs[number * stages.size() + size_t(stage)];
  }

  bool hasInput(InputKind kind) const {
    for (const InputInfo &input : inputs)
      if (input.kind == kind)
        return true;
    return false;
  }
  /// The number of ranks that share the batch, and the index of a rank among
  /// them. A server's ranks have the index of the first worker's.
  int batchRanks() const;
  int batchRank(int rank) const;
  /// Rows of one micro-batch on one rank.
  int64_t blockRows() const {
    return globalBatch / (microbatches * batchRanks());
  }
  /// The number of sums of an evaluation.
  int64_t countEvalSums() const;
  /// 0 if there is no such sum.
  int64_t sizeOfEvalSum(std::string_view name) const;
  /// The length of a sample that is a sequence of tokens, from the labels or
  /// else from an input that indexes a table. 0 for other samples.
  int64_t tokensPerSample() const;
  /// Whether any rank reads the file of weights.
  bool readsWeights() const;
  /// Whether trained parameters have moving averages.
  bool hasAverages() const;
  /// "8 ranks (pp 2 x dp 4)", "a multiple of 2 ranks (pp 2 x dp auto)".
  std::string describeRanks() const;
  /// "32 samples", "16 samples a replica".
  std::string describeBatch() const;
  /// Human-readable plan, for --describe.
  std::string describe() const;
};

/// The rank of a name in alphabetical order. It is the same under every plan,
/// unlike its index, which follows the stages.
template <typename Info>
uint32_t orderOf(const std::vector<Info> &all, const std::string &name,
                 std::string Info::*field) {
  std::set<std::string> before;
  for (const Info &other : all)
    if (other.*field < name)
      before.insert(other.*field);
  return uint32_t(before.size());
}

/// Parses and checks what an object file exports.
Program readProgram(const dtc_program &exported);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_PROGRAM_PROGRAM_H
