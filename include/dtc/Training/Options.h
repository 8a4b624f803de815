//===- Options.h - options of the training phase ----------------*- C++ -*-===//
//
// What the user says about loss, optimizer and pipeline stages. Defaults are
// PyTorch's.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_OPTIONS_H
#define DTC_TRAINING_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dtc {

struct TrainingOptions {
  //===--- Pipeline stages ------------------------------------------------===//

  int64_t stages = 1;
  /// How to cut: {"cost"}, {"parameters"}, {"uniform"}, or the names of the
  /// nodes that begin stages 1, 2, ...
  std::vector<std::string> cut = {"cost"};

  //===--- Tensor parallelism ---------------------------------------------===//

  /// Ranks that share each split product.
  int64_t tensorParallel = 1;
  /// Values between split products are split along the sequence.
  bool sequenceParallel = false;

  //===--- Loss -----------------------------------------------------------===//

  /// cross-entropy, mse, output or output:NAME.
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

  //===--- Optimizer ------------------------------------------------------===//

  /// sgd, adam or adamw.
  std::string optimizer = "adamw";
  /// The training program's default; it takes another one when it starts.
  double lr = 1e-3;
  double momentum = 0;
  bool nesterov = false;
  /// None: 0.01 for adamw, else 0.
  std::optional<double> weightDecay;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// Parameters that are not trained, as globs of their names.
  std::vector<std::string> freeze;
};

} // namespace dtc

#endif // DTC_TRAINING_OPTIONS_H
