// RUN: dtc-opt %s --dtc-build-eval --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-build-eval="label-smoothing=0.1" --split-input-file | FileCheck %s --check-prefix=SHAPED

// Above five classes, labels among the five largest logits count.

// CHECK-LABEL: module @classes
// CHECK:         {name = "right", size = 1 : i64}, {name = "top5", size = 1 : i64}, {name = "class_hits", size = 8 : i64}
// CHECK-NOT:     dtc.language_model
// CHECK:         dtc.constant dense<7.000000e+00> : tensor<f32>
// CHECK:         dtc.constant dense<3.000000e+00> : tensor<f32>

// The loss of the training has a sum of its own, and its weights.

// SHAPED-LABEL: module @classes
// SHAPED:         {name = "count", size = 1 : i64}, {name = "training_loss", size = 1 : i64}, {name = "training_count", size = 1 : i64}, {name = "right"
// SHAPED:         dtc.cross_entropy
// SHAPED:         dtc.log_softmax
module @classes {
  func.func @step(%z: tensor<2x8xf32> {dtc.parameter = "z"}, %t: tensor<2xi64> {dtc.input = "labels", dtc.kind = "label", dtc.bound = array<i64: 8>})
      -> (tensor<2x8xf32> {dtc.output = "predictions"}) {
    return %z : tensor<2x8xf32>
  }
}

// -----

// Labels from the vocabulary of an input are those of a language model: it has
// a perplexity, and no counts by class.

// CHECK-LABEL: module @language_model
// CHECK:         tensor<3xf64> {dtc.language_model, dtc.output = "eval", dtc.sums = [{name = "loss", size = 1 : i64}, {name = "count", size = 1 : i64}, {name = "right", size = 1 : i64}]}
module @language_model {
  func.func @step(%x: tensor<2x3xi64> {dtc.input = "ids", dtc.kind = "input", dtc.bound = array<i64: 8>}, %z: tensor<2x3x8xf32> {dtc.parameter = "z"},
                  %t: tensor<2x3xi64> {dtc.input = "labels", dtc.kind = "label", dtc.bound = array<i64: 8>})
      -> (tensor<2x3x8xf32> {dtc.output = "predictions"}) {
    return %z : tensor<2x3x8xf32>
  }
}

// -----

// Six columns of logits, of which one is padding: there are five classes.

// CHECK-LABEL: module @padded
// CHECK:         {name = "right", size = 1 : i64}, {name = "class_hits", size = 6 : i64}
// CHECK:         dtc.constant dense<5.000000e+00> : tensor<f32>
module @padded {
  func.func @step(%z: tensor<2x6xf32> {dtc.parameter = "z"}, %t: tensor<2xi64> {dtc.input = "labels", dtc.kind = "label", dtc.bound = array<i64: 5>})
      -> (tensor<2x6xf32> {dtc.output = "predictions"}) {
    return %z : tensor<2x6xf32>
  }
}
