// RUN: dtc-opt %s --dtc-differentiate="freeze=frozen.*,*.late" --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Only what lies between a trainable parameter and the loss is differentiated:
// no gradient for the frozen product, none for inputs. New ops have the
// location of the op that they are the gradient of. Integer parameters are
// frozen by nature.

// CHECK-LABEL: module @freeze
// CHECK: %[[T:arg[0-9]+]]: tensor<2x4xf32> {dtc.input = "labels"
// CHECK-SAME: %[[W:arg[0-9]+]]: tensor<4x4xf32> {dtc.parameter = "w"}
// CHECK-SAME: {dtc.frozen, dtc.parameter = "frozen.w"}
// CHECK-SAME: {dtc.frozen, dtc.parameter = "bias.late"}
// CHECK-SAME: tensor<2xi64> {dtc.frozen, dtc.parameter = "ids"}
// CHECK-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<4x4xf32> {dtc.gradient = "w"})
// CHECK: %[[A:.+]] = dtc.matmul
// CHECK: dtc.matmul {{.*}} loc("second")
// CHECK: %[[L:.+]] = dtc.squared_error
// CHECK: dtc.constant {{.*}} loc("loss")
// CHECK: %[[E:.+]] = dtc.sub {{.*}} loc("loss")
// CHECK-NEXT: %[[G:.+]] = dtc.mul %[[E]], {{.*}} loc("loss")
// CHECK-NEXT: %[[D:.+]] = dtc.matmul %[[A]], %[[G]] {transpose_lhs} : {{.*}} loc("second")
// CHECK-NEXT: return %[[L]], %[[D]]
module @freeze {
  func.func @step(%x: tensor<2x4xf32> {dtc.input = "x"}, %t: tensor<2x4xf32> {dtc.input = "labels"},
                  %w: tensor<4x4xf32> {dtc.parameter = "w"}, %f: tensor<4x4xf32> {dtc.parameter = "frozen.w"},
                  %b: tensor<4xf32> {dtc.parameter = "bias.late"},
                  %i: tensor<2xi64> {dtc.parameter = "ids"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %0 = dtc.matmul %x, %f : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("first")
    %1 = dtc.matmul %0, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("second")
    %2 = dtc.add %1, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32> loc("bias")
    %3 = dtc.squared_error %2, %t : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f64> loc("loss")
    return %3 : tensor<f64>
  }
}

// -----

// A tied parameter: gradients of its uses are added on the stage that owns it,
// after the other one has crossed.

// CHECK-LABEL: module @tied
// CHECK: %[[W:arg[0-9]+]]: tensor<4x4xf32> {dtc.parameter = "w"}
// CHECK: dtc.matmul %{{.+}}, %[[W]]
// CHECK: %[[W1:.+]] = dtc.boundary %[[W]] from 0 to 1
// CHECK: dtc.sum_squares
// CHECK: %[[LATE:.+]] = dtc.matmul {{.*}} {transpose_lhs}
// CHECK: %[[BACK:.+]] = dtc.boundary %[[LATE]] from 1 to 0 : tensor<4x4xf32>
// CHECK: %[[EARLY:.+]] = dtc.matmul {{.*}} {transpose_lhs}
// CHECK-NEXT: %[[SUM:.+]] = dtc.add %[[BACK]], %[[EARLY]]
// CHECK-NEXT: return %{{.+}}, %[[SUM]]
module @tied {
  func.func @step(%x: tensor<2x4xf32> {dtc.input = "x"}, %w: tensor<4x4xf32> {dtc.parameter = "w"},
                  %f: tensor<4xf32> {dtc.parameter = "frozen.b"}, %l: tensor<4xf32> {dtc.parameter = "b.late"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %0 = dtc.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %w1 = dtc.boundary %w from 0 to 1 : tensor<4x4xf32>
    %1 = dtc.boundary %0 from 0 to 1 : tensor<2x4xf32>
    %2 = dtc.matmul %1, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %3 = dtc.sum_squares %2 : (tensor<2x4xf32>) -> tensor<f64>
    return %3 : tensor<f64>
  }
}

// -----

// The gradient of a linear loss is known on every stage: it does not cross.

// CHECK-LABEL: module @linear
// CHECK: dtc.sum_over_stages
// CHECK-NOT: dtc.boundary
// CHECK: return
module @linear {
  func.func @step(%w: tensor<4xf64> {dtc.parameter = "w"}, %f: tensor<4xf32> {dtc.parameter = "frozen.b"},
                  %l: tensor<4xf32> {dtc.parameter = "b.late"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %0 = dtc.boundary %w from 0 to 1 : tensor<4xf64>
    %1 = dtc.reduce_sum %0 axes [0] : (tensor<4xf64>) -> tensor<1xf64>
    %2 = dtc.reshape %1 : (tensor<1xf64>) -> tensor<f64>
    %3 = dtc.sum_over_stages %2 : (tensor<f64>) -> tensor<f64>
    return %3 : tensor<f64>
  }
}

// -----

// d(h * stop(h)) is h, and no dtc.stop_gradient is left, in no function.

// CHECK-LABEL: module @stop
// CHECK: %[[H:.+]] = dtc.mul %{{.*}}, %[[X:arg[0-9]+]] :
// CHECK-NEXT: %[[Y:.+]] = dtc.mul %[[H]], %[[H]] :
// CHECK: %[[G:.+]] = dtc.mul %{{.*}} -> tensor<4xf32> loc("loss")
// CHECK-NEXT: %[[DH:.+]] = dtc.mul %[[G]], %[[H]] :
// CHECK-NEXT: %[[D:.+]] = dtc.mul %[[DH]], %[[X]] :
// CHECK-NEXT: return %{{.*}}, %[[D]]
// CHECK-NOT: stop_gradient
module @stop {
  func.func @step(%x: tensor<4xf32> {dtc.input = "x"}, %t: tensor<4xf32> {dtc.input = "labels"},
                  %w: tensor<4xf32> {dtc.parameter = "w"}, %f: tensor<4xf32> {dtc.parameter = "frozen.b"},
                  %b: tensor<4xf32> {dtc.parameter = "b.late"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %h = dtc.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = dtc.stop_gradient %h : (tensor<4xf32>) -> tensor<4xf32>
    %y = dtc.mul %h, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l = dtc.squared_error %y, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<f64> loc("loss")
    return %l : tensor<f64>
  }
  func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
    %s = dtc.stop_gradient %x : (tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}
