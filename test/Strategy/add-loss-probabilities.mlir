// RUN: dtc-opt %s --dtc-add-loss=output=classes 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: dtc-opt %s --dtc-add-loss="output=moved class-axis=1" 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: dtc-opt %s --dtc-add-loss="output=each loss=bce" 2>&1 | FileCheck %s --check-prefix=SIGMOID
// RUN: dtc-opt %s --dtc-add-loss=output=moved 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=warning
// RUN: dtc-opt %s --dtc-add-loss=output=each 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=warning

// Losses that take logits, of a model that ends in probabilities of the classes.
// SOFTMAX: warning: loss cross-entropy takes logits, as in PyTorch, but the model's output is a softmax: the loss applies another; if it is to be of these probabilities, as in Keras, export the model without the softmax
// SOFTMAX: dtc.cross_entropy
// SIGMOID: warning: loss bce takes logits, as in PyTorch, but the model's output is a sigmoid: the loss applies another; if it is to be of these probabilities, as in Keras, export the model without the sigmoid
// OTHER: dtc.cross_entropy
func.func @forward(%x: tensor<2x3x4xf32> {dtc.input = "x"}) -> (tensor<2x3x1x4xf32> {dtc.output = "classes"}, tensor<2x4x3xf32> {dtc.output = "moved"}, tensor<2x3x4xf32> {dtc.output = "each"}) {
  %0 = dtc.softmax %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = dtc.reshape %0 : (tensor<2x3x4xf32>) -> tensor<2x3x1x4xf32>
  %2 = dtc.transpose %0 [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %3 = dtc.sigmoid %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %1, %2, %3 : tensor<2x3x1x4xf32>, tensor<2x4x3xf32>, tensor<2x3x4xf32>
}
