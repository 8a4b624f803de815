// RUN: dtc-opt %s --dtc-add-optimizer="settings=weight_decay=0.5" | FileCheck %s
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=lars settings=weight_decay=0.5" | FileCheck %s --check-prefix=LARS

// One rate for all parameters with one scale; one weight decay, or none.
// CHECK: func.func @step(%[[LR:arg[0-9]+]]: tensor<f64> {dtc.input = "lr"
// CHECK: %[[SCALE:.+]] = dtc.constant dense<2.500000e-01> : tensor<f64>
// CHECK: %[[RATE:.+]] = dtc.mul %[[LR]], %[[SCALE]]
// CHECK: dtc.adam %{{.+}}, %{{.+}}, %[[RATE]], {{.*}} weight_decay = 5.000000e-01
// CHECK-NOT: dtc.mul
// CHECK: dtc.adam %{{.+}}, %{{.+}}, %[[RATE]], {{.*}} weight_decay = 0.000000e+00
// CHECK: dtc.adam %{{.+}}, %{{.+}}, %[[RATE]], {{.*}} weight_decay = 0.000000e+00
// CHECK: dtc.adam %{{.+}}, %{{.+}}, %[[LR]], {{.*}} weight_decay = 0.000000e+00
// CHECK: dtc.adam %{{.+}}, %{{.+}}, %[[LR]], {{.*}} weight_decay = 5.000000e-01

// LARS gives no local rate to parameters that do not decay.
// LARS: func.func @step(%[[LR:arg[0-9]+]]: tensor<f64> {dtc.input = "lr"
// LARS: %[[RATE:.+]] = dtc.mul %[[LR]], %{{.+}}
// LARS: %[[LOCAL:.+]] = dtc.mul %[[RATE]], %{{.+}}
// LARS: dtc.lars %{{.+}}, %{{.+}}, %[[LOCAL]], {{.*}} weight_decay = 5.000000e-01
// LARS: dtc.lars %{{.+}}, %{{.+}}, %[[RATE]], {{.*}} weight_decay = 0.000000e+00
// LARS: dtc.lars %{{.+}}, %{{.+}}, %[[RATE]], {{.*}} weight_decay = 0.000000e+00
// LARS: dtc.lars %{{.+}}, %{{.+}}, %[[LR]], {{.*}} weight_decay = 0.000000e+00
// LARS: %[[HEAD:.+]] = dtc.mul %[[LR]], %{{.+}}
// LARS: dtc.lars %{{.+}}, %{{.+}}, %[[HEAD]], {{.*}} weight_decay = 5.000000e-01
func.func @step(%a: tensor<4x4xf32> {dtc.lr_scale = 2.5e-1 : f64, dtc.parameter = "fc.weight"}, %b: tensor<4xf32> {dtc.lr_scale = 2.5e-1 : f64, dtc.no_decay, dtc.parameter = "fc.bias"},
                %c: tensor<4x1x1xf32> {dtc.lr_scale = 2.5e-1 : f64, dtc.no_decay, dtc.parameter = "gn"}, %d: tensor<4x4xf32> {dtc.no_decay, dtc.parameter = "embed"},
                %e: tensor<4x1xf32> {dtc.parameter = "head"})
    -> (tensor<f64> {dtc.output = "loss"}, tensor<4x4xf32> {dtc.gradient = "fc.weight"}, tensor<4xf32> {dtc.gradient = "fc.bias"},
        tensor<4x1x1xf32> {dtc.gradient = "gn"}, tensor<4x4xf32> {dtc.gradient = "embed"}, tensor<4x1xf32> {dtc.gradient = "head"}) {
  %0 = dtc.sum_squares %a : (tensor<4x4xf32>) -> tensor<f64>
  return %0, %a, %b, %c, %d, %e : tensor<f64>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x1x1xf32>, tensor<4x4xf32>, tensor<4x1xf32>
}
