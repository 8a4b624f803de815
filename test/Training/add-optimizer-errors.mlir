// RUN: not dtc-opt %s --dtc-add-optimizer=optimizer=lion 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dtc-opt %s --dtc-add-optimizer="optimizer=adam momentum=0.9" 2>&1 | FileCheck %s --check-prefix=ADAM
// RUN: not dtc-opt %s --dtc-add-optimizer="optimizer=sgd momentum=1" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not dtc-opt %s --dtc-add-optimizer="optimizer=sgd nesterov=true" 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not dtc-opt %s --dtc-add-optimizer="beta2=1.5" 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not dtc-opt %s --dtc-add-optimizer="epsilon=-1" 2>&1 | FileCheck %s --check-prefix=EPSILON
// RUN: not dtc-opt %s --dtc-add-optimizer 2>&1 | FileCheck %s --check-prefix=GRADIENT

// NAME: error: unknown optimizer 'lion', expected sgd, adam or adamw
// ADAM: error: momentum and nesterov belong to sgd, the optimizer is adam
// MOMENTUM: error: momentum is 1.000000e+00, expected 0 <= momentum < 1
// NESTEROV: error: nesterov needs a momentum above 0
// BETA: error: betas are 9.000000e-01 and 1.500000e+00, expected 0 <= beta < 1
// EPSILON: error: epsilon is -1.000000e+00, expected 0 or more
// GRADIENT: error: no result is the gradient of a parameter; differentiate first
func.func @step(%w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<f64> {dtc.output = "loss"}) {
  %0 = dtc.sum_squares %w : (tensor<4xf32>) -> tensor<f64>
  return %0 : tensor<f64>
}
