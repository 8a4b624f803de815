//===- Options.h - options of the training phase ----------------*- C++ -*-===//
//
// What the user says about loss, optimizer and pipeline stages. Defaults are
// PyTorch's.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_OPTIONS_H
#define DTC_TRAINING_OPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dtc {

struct TrainingOptions {
  /// Samples of a step, for a model in which they are fixed; 0: as they are.
  int64_t batch = 0;

  //===--- Pipeline stages ------------------------------------------------===//

  /// How to cut: {"cost"}, {"parameters"}, {"uniform"}, or the names of the
  /// nodes that begin stages 1, 2, ...
  std::vector<std::string> cut = {"cost"};

  //===--- Precision ------------------------------------------------------===//

  /// What products are computed and activations kept in: fp32, bf16 or fp16.
  std::string precision = "fp32";

  //===--- Tensor parallelism ---------------------------------------------===//

  /// What is split of parameters, instead of what the compiler chooses:
  /// GLOB=tp:split(DIM), GLOB=tp:replicated or GLOB=replicated.
  std::vector<std::string> layouts;

  //===--- Batch normalisation --------------------------------------------===//

  /// Whose statistics normalise: global, micro, local or frozen.
  std::string batchNorm = "global";

  //===--- Loss -----------------------------------------------------------===//

  /// cross-entropy, bce, mse, output or output:NAME.
  std::string loss = "cross-entropy";
  /// The model output that the loss is taken of; empty if there is only one.
  std::string output;
  /// Labels with this value do not count.
  std::optional<int64_t> ignoreIndex;
  /// The dimension of the logits that holds the classes; negative from the
  /// end.
  int64_t classAxis = -1;
  /// mean or sum.
  std::string reduction = "mean";

  /// Share of each label of cross-entropy that is spread over all classes.
  double labelSmoothing = 0;
  /// Weights of cross-entropy, one for each class; empty: all are one.
  std::vector<double> classWeights;

  //===--- Optimizer ------------------------------------------------------===//

  /// One of those in Optimizers.h.
  std::string optimizer = "adamw";
  /// The training program's default, which may be given another one when it
  /// starts. None: the optimizer's.
  std::optional<double> lr;
  /// Settings by name, instead of the optimizer's defaults.
  std::map<std::string, double> optimizerSettings;
  /// GLOB=N: the row of lookup tables that lookups do not train.
  std::vector<std::string> paddingIdx;
  /// Parameters without weight decay: globs of their names, or
  /// norms-and-biases.
  std::vector<std::string> noDecay;
  /// GLOB=X: what the learning rate of parameters is multiplied by.
  std::vector<std::string> lrScales;
  /// Norm that the gradients are scaled down to, all together; 0: they are not.
  double clipNorm = 0;
  /// Decay of a moving average of each trained parameter; 0: there is none.
  double ema = 0;
  /// Whether a step whose gradients are no numbers changes no parameter.
  bool skipNonFinite = false;
  /// Parameters that are not trained, as globs of their names.
  std::vector<std::string> freeze;
};

} // namespace dtc

#endif // DTC_TRAINING_OPTIONS_H
