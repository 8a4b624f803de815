// RUN: dtc-opt %s --dtc-add-optimizer=optimizer=sgd | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=sgd settings=momentum=0.9,nesterov=1,weight_decay=0.1" | FileCheck %s --check-prefixes=CHECK,MOMENTUM
// RUN: dtc-opt %s --dtc-add-optimizer | FileCheck %s --check-prefixes=CHECK,ADAMW
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=adam settings=beta1=0.8,beta2=0.9,epsilon=0.1" | FileCheck %s --check-prefixes=CHECK,ADAM
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=rmsprop" | FileCheck %s --check-prefixes=CHECK,RMSPROP
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=rmsprop settings=momentum=0.5" | FileCheck %s --check-prefix=RMSPROP-MOMENTUM
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=adagrad" | FileCheck %s --check-prefixes=CHECK,ADAGRAD
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=lion" | FileCheck %s --check-prefixes=CHECK,LION
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=lamb" | FileCheck %s --check-prefixes=CHECK,LAMB
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=lars settings=weight_decay=0.1" | FileCheck %s --check-prefixes=CHECK,LARS
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=lars settings=momentum=0" | FileCheck %s --check-prefix=LARS-PLAIN
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=sgd clip-norm=0.5" | FileCheck %s --check-prefixes=CHECK,CLIP
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=sgd settings=momentum=0.9 ema=0.75" | FileCheck %s --check-prefix=EMA
// RUN: dtc-opt %s --dtc-add-optimizer="optimizer=sgd skip-nonfinite" | FileCheck %s --check-prefix=SKIP

// If the norm is NaN, clipped gradients are NaN, and the update does not change
// these elements; the number of the update counts completed updates.
// SKIP: %[[UPDATE:arg[0-9]+]]: tensor<f64> {dtc.input = "updates", dtc.kind = "updates"}
// SKIP-DAG: %[[NORM:.+]] = dtc.sqrt
// SKIP-DAG: %[[ONE:.+]] = dtc.constant dense<1.000000e+00> : tensor<f64>
// SKIP: %[[G:.+]] = dtc.clip_by_norm %{{.+}}, %[[NORM]], %[[ONE]] {max_norm = 0x7FF0000000000000 : f64}
// SKIP: dtc.sgd %{{.+}}, %[[G]], %{{.+}} {dtc.skip_nan

// CHECK: func.func @step(%{{.+}}: tensor<4xf32> {dtc.input = "x", dtc.kind = "input"},
// CHECK-SAME: %[[LR:arg[0-9]+]]: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
// CHECK-SAME: %[[STEP:arg[0-9]+]]: tensor<f64> {dtc.input = "step", dtc.kind = "step"},

// SGD-SAME: %[[W:arg[0-9]+]]: tensor<4xf32> {dtc.parameter = "w"},
// SGD-SAME: %{{.+}}: tensor<4xf32> {dtc.frozen, dtc.parameter = "f"},
// SGD-SAME: %[[V:arg[0-9]+]]: tensor<4xf32> {dtc.parameter = "v"})
// SGD-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "grad_norm"},
// SGD-SAME: tensor<4xf32> {dtc.parameter = "w"}, tensor<4xf32> {dtc.parameter = "v"},
// SGD-SAME: tensor<4xf32> {dtc.gradient = "w"}, tensor<4xf32> {dtc.gradient = "v"})

// ADAMW-SAME: {dtc.parameter = "w"}, %[[M:arg[0-9]+]]: tensor<4xf32> {dtc.state = "w.exp_avg"}, %[[S:arg[0-9]+]]: tensor<4xf32> {dtc.state = "w.exp_avg_sq"}
// ADAMW-SAME: {dtc.parameter = "v"}, %{{.+}}: tensor<4xf32> {dtc.state = "v.exp_avg"}
// ADAMW-SAME: -> (tensor<f64> {dtc.output = "loss"}, tensor<f64> {dtc.output = "grad_norm"},
// ADAMW-SAME: tensor<4xf32> {dtc.parameter = "w"}, tensor<4xf32> {dtc.state = "w.exp_avg"}, tensor<4xf32> {dtc.state = "w.exp_avg_sq"},
// ADAMW-SAME: tensor<4xf32> {dtc.parameter = "v"}
// ADAMW-SAME: tensor<4xf32> {dtc.gradient = "w"}, tensor<4xf32> {dtc.gradient = "v"})

// Squares add up on each stage; one scalar of each crosses. A tied parameter
// counts once, on its owner's stage.
// CHECK: %[[LOSS:.+]] = dtc.sum_over_stages
// CHECK: %[[DW:.+]] = dtc.add
// CHECK: %[[DV:.+]] = dtc.mul
// CHECK-NEXT: %[[SW:.+]] = dtc.sum_squares %[[DW]]
// CHECK-NEXT: %[[SV:.+]] = dtc.sum_squares %[[DV]]
// CHECK-NEXT: %[[SQUARES:.+]] = dtc.sum_over_stages %[[SW]], %[[SV]]
// CHECK-NEXT: %[[NORM:.+]] = dtc.sqrt %[[SQUARES]]

// SGD-NEXT: dtc.sgd %[[W]], %[[DW]], %[[LR]] {momentum = 0.000000e+00 : f64, weight_decay = 0.000000e+00 : f64}
// SGD-NEXT: dtc.sgd %[[V]], %[[DV]], %[[LR]]
// MOMENTUM-NEXT: dtc.sgd %{{.+}}, %[[DW]], %[[LR]], %{{.+}} {momentum = {{0.9|9.000000e-01}} : f64, nesterov, weight_decay = {{0.1|1.000000e-01}} : f64}
// ADAMW-NEXT: dtc.adam %{{.+}}, %[[DW]], %[[LR]], %[[STEP]], %[[M]], %[[S]] {beta1 = 9.000000e-01 : f64, beta2 = 0.99{{.*}} : f64, decoupled, epsilon = 1.000000e-08 : f64, weight_decay = 1.000000e-02 : f64}
// ADAM-NEXT: dtc.adam {{.*}} {beta1 = 8.000000e-01 : f64, beta2 = 9.000000e-01 : f64, epsilon = 1.000000e-01 : f64, weight_decay = 0.000000e+00 : f64}
// RMSPROP-NEXT: dtc.rmsprop %{{.+}}, %[[DW]], %[[LR]], %{{.+}} {alpha = 0.98{{9+}} : f64, epsilon = 1.000000e-08 : f64, momentum = 0.000000e+00 : f64, weight_decay = 0.000000e+00 : f64}
// RMSPROP-MOMENTUM: {dtc.state = "w.square_avg"}, %{{.+}}: tensor<4xf32> {dtc.state = "w.momentum_buffer"}
// RMSPROP-MOMENTUM: %{{.+}}, %{{.+}}:2 = dtc.rmsprop {{.*}} momentum = 5.000000e-01 : f64
// ADAGRAD-NEXT: dtc.adagrad %{{.+}}, %[[DW]], %[[LR]], %{{.+}} {epsilon = {{.*}} : f64, weight_decay = 0.000000e+00 : f64}
// LION-NEXT: dtc.lion %{{.+}}, %[[DW]], %[[LR]], %{{.+}} {beta1 = 9.000000e-01 : f64, beta2 = 0.98{{9+}} : f64, weight_decay = 0.000000e+00 : f64}

// The step is as long as the parameter, in proportion to lr.
// LAMB-NEXT: %[[D:.+]], %{{.+}} = dtc.adam_direction %[[W:.+]], %[[DW]], %[[STEP]], %{{.+}} {beta1 = 9.000000e-01 : f64, beta2 = 0.99{{.*}} : f64, epsilon = {{.*}} : f64, weight_decay = 1.000000e-02 : f64}
// LAMB: %[[S1:.+]] = dtc.sum_squares %[[W]]
// LAMB-NEXT: %[[P:.+]] = dtc.sqrt %[[S1]]
// LAMB-NEXT: %[[S2:.+]] = dtc.sum_squares %[[D]]
// LAMB-NEXT: %[[R:.+]] = dtc.sqrt %[[S2]]
// LAMB: %[[RATIO:.+]] = dtc.div %[[P]], %[[R]]
// LAMB: %[[TRUST:.+]] = dtc.select %{{.+}}, %[[RATIO]], %{{.+}}
// LAMB-NEXT: %[[RATE:.+]] = dtc.mul %[[LR]], %[[TRUST]]
// LAMB-NEXT: dtc.sgd %[[W]], %[[D]], %[[RATE]] {momentum = 0.000000e+00 : f64, weight_decay = 0.000000e+00 : f64}

// The local rate is that of the decayed gradient.
// LARS: %[[S1:.+]] = dtc.sum_squares %[[W:.+]] :
// LARS-NEXT: %[[P:.+]] = dtc.sqrt %[[S1]]
// LARS-NEXT: %[[S2:.+]] = dtc.sum_squares %[[DW]]
// LARS-NEXT: %[[G:.+]] = dtc.sqrt %[[S2]]
// LARS: %[[D1:.+]] = dtc.mul %[[P]], %{{.+}}
// LARS-NEXT: %[[D2:.+]] = dtc.add %[[G]], %[[D1]]
// LARS: %[[D3:.+]] = dtc.add %[[D2]], %{{.+}}
// LARS: %[[N:.+]] = dtc.mul %[[P]], %{{.+}}
// LARS-NEXT: %[[RATIO:.+]] = dtc.div %[[N]], %[[D3]]
// LARS: %[[TRUST:.+]] = dtc.select %{{.+}}, %[[RATIO]], %{{.+}}
// LARS-NEXT: %[[RATE:.+]] = dtc.mul %[[LR]], %[[TRUST]]
// LARS-NEXT: dtc.lars %[[W]], %[[DW]], %[[RATE]], %{{.+}} {momentum = 9.000000e-01 : f64, weight_decay = 1.000000e-01 : f64}
// LARS-PLAIN: %[[LR:arg[0-9]+]]: tensor<f64> {dtc.input = "lr"
// LARS-PLAIN: %[[RATE:.+]] = dtc.mul %[[LR]], %{{.+}}
// LARS-PLAIN-NEXT: %{{.+}} = dtc.sgd %{{.+}}, %{{.+}}, %[[RATE]] {momentum = 0.000000e+00 : f64, weight_decay = 0.000000e+00 : f64}

// Results are the norm and the gradients before clipping.
// CLIP-NEXT: %[[CW:.+]] = dtc.clip_by_norm %[[DW]], %[[NORM]] {max_norm = 5.000000e-01 : f64}
// CLIP-NEXT: dtc.sgd %{{.+}}, %[[CW]], %[[LR]]
// CLIP-NEXT: %[[CV:.+]] = dtc.clip_by_norm %[[DV]], %[[NORM]]
// CLIP-NEXT: dtc.sgd %{{.+}}, %[[CV]], %[[LR]]

// EMA: %[[B:arg[0-9]+]]: tensor<4xf32> {dtc.state = "w.momentum_buffer"}, %[[A:arg[0-9]+]]: tensor<4xf32> {dtc.state = "w.ema"}
// EMA: %[[W:.+]], %{{.+}} = dtc.sgd %{{.+}}, %[[B]] {
// EMA-NEXT: %[[A1:.+]] = dtc.average %[[A]], %[[W]] {decay = 7.500000e-01 : f64}
// CHECK: return %[[LOSS]], %[[NORM]], {{.*}}%[[DW]], %[[DV]] :
module {
  func.func @step(%x: tensor<4xf32> {dtc.input = "x", dtc.kind = "input"}, %w: tensor<4xf32> {dtc.parameter = "w"},
                  %f: tensor<4xf32> {dtc.frozen, dtc.parameter = "f"}, %v: tensor<4xf32> {dtc.parameter = "v"})
      -> (tensor<f64> {dtc.output = "loss"}, tensor<4xf32> {dtc.gradient = "w"}, tensor<4xf32> {dtc.gradient = "v"}) {
    %w1 = dtc.boundary %w from 0 to 1 : tensor<4xf32>
    %0 = dtc.mul %w1, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = dtc.sum_squares %0 : (tensor<4xf32>) -> tensor<f64>
    %2 = dtc.sum_over_stages %1 : (tensor<f64>) -> tensor<f64>
    %3 = dtc.boundary %0 from 1 to 0 : tensor<4xf32>
    %4 = dtc.add %3, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = dtc.mul %0, %w1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %2, %4, %5 : tensor<f64>, tensor<4xf32>, tensor<4xf32>
  }
}
