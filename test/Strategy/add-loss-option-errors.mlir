// RUN: not dtc-opt %s --dtc-add-loss=loss=hinge 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not dtc-opt %s --dtc-add-loss=reduction=max 2>&1 | FileCheck %s --check-prefix=REDUCTION
// RUN: not dtc-opt %s --dtc-add-loss=output=logit 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not dtc-opt %s --dtc-add-loss=class-axis=2 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not dtc-opt %s --dtc-add-loss=ignore-index=none 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not dtc-opt %s --dtc-add-loss="loss=mse ignore-index=1" 2>&1 | FileCheck %s --check-prefix=MSE
// RUN: not dtc-opt %s --dtc-add-loss=label-smoothing=-0.1 2>&1 | FileCheck %s --check-prefix=SMOOTHING
// RUN: not dtc-opt %s --dtc-add-loss=class-weights=1,2,3 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not dtc-opt %s --dtc-add-loss=class-weights=1,-1,1,1 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not dtc-opt %s --dtc-add-loss="loss=bce label-smoothing=0.1" 2>&1 | FileCheck %s --check-prefix=BCE

// LOSS: error: unknown loss 'hinge', expected cross-entropy, bce, mse, output or output:NAME
// REDUCTION: error: unknown reduction 'max' of the loss, expected mean or sum
// OUTPUT: error: no floating-point output 'logit'; the closest names are 'logits'
// AXIS: error: class axis 2 of logits of type 'tensor<2x4xf32>', expected 1 or -1
// INDEX: error: ignored label is 'none', expected an integer
// MSE: error: ignored label 1 has no meaning for loss 'mse', expected loss cross-entropy
// SMOOTHING: error: label smoothing is -1.000000e-01, expected a number from 0 to 1
// WEIGHTS: error: there are 3 class weights, expected 4, one for each class of logits of type 'tensor<2x4xf32>'
// WEIGHT: error: a class weight is -1.000000e+00, expected numbers of at least 0
// BCE: error: label smoothing and class weights have no meaning for loss 'bce', expected loss cross-entropy
func.func @forward(%x: tensor<2x4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<2x4xf32> {dtc.output = "logits"}) {
  %0 = dtc.mul %x, %w : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
