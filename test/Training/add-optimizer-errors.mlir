// RUN: not dtc-opt %s --dtc-add-optimizer=optimizer=adafactor 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dtc-opt %s --dtc-add-optimizer="optimizer=adam settings=momentum=0.9" 2>&1 | FileCheck %s --check-prefix=ADAM
// RUN: not dtc-opt %s --dtc-add-optimizer="optimizer=sgd settings=momentum=1" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not dtc-opt %s --dtc-add-optimizer="optimizer=sgd settings=nesterov=1" 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not dtc-opt %s --dtc-add-optimizer="settings=beta2=1.5" 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not dtc-opt %s --dtc-add-optimizer="settings=epsilon=-1" 2>&1 | FileCheck %s --check-prefix=EPSILON
// RUN: not dtc-opt %s --dtc-add-optimizer="optimizer=lars settings=trust_coefficient=inf" 2>&1 | FileCheck %s --check-prefix=TRUST
// RUN: not dtc-opt %s --dtc-add-optimizer="settings=epsilon" 2>&1 | FileCheck %s --check-prefix=SETTING
// RUN: not dtc-opt %s --dtc-add-optimizer="clip-norm=-1" 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: not dtc-opt %s --dtc-add-optimizer="ema=1" 2>&1 | FileCheck %s --check-prefix=EMA
// RUN: not dtc-opt %s --dtc-add-optimizer 2>&1 | FileCheck %s --check-prefix=GRADIENT

// NAME: error: unknown optimizer 'adafactor', expected sgd or adam or adamw or rmsprop or adagrad or lion or lamb or lars
// ADAM: error: adam has no momentum, expected beta1, beta2, epsilon, weight_decay
// MOMENTUM: error: momentum is 1, expected a number of at least 0 and below 1
// NESTEROV: error: nesterov needs a momentum above 0
// BETA: error: beta2 is 1.5, expected a number of at least 0 and below 1
// EPSILON: error: epsilon is -1, expected a number above 0
// TRUST: error: trust_coefficient is inf, expected a number above 0
// SETTING: error: setting of the optimizer is 'epsilon', expected NAME=NUMBER
// CLIP: error: norm to clip to is -1.000000e+00, expected a number above 0, or 0 for none
// EMA: error: decay of the moving average is 1.000000e+00, expected a number above 0 and below 1, or 0 for none
// GRADIENT: error: there is nothing to train: no gradient by a parameter reaches the loss, as through rounding and comparisons; take it of another output with --loss-of NAME
func.func @step(%w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.sum_squares %w : (tensor<4xf32>) -> tensor<f64>
  return %0 : tensor<f64>
}
