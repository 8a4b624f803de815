// RUN: dtc-opt %s --dtc-flatten-parameters="zero=1 dp=4 ep=2 tp=2" | FileCheck %s
// RUN: dtc-opt %s --dtc-flatten-parameters="zero=1 dp=4 ep=2 tp=2" --dtc-add-optimizer=optimizer=sgd --dtc-assign-mesh="dp=4 ep=2 tp=2" --dtc-propagate-layouts --dtc-insert-collectives | FileCheck %s --check-prefix=PLAN

// Experts, which ep and perhaps tp split, are sharded over dp alone. All else is
// sharded over dp and ep.
// CHECK-LABEL: func.func @step
// CHECK-DAG: tensor<1x12xf32> {dtc.members = [{name = "a", {{.+}}], dtc.parameter = "/bucket{{.}}", dtc.split_dims = {dp = 1 : i64, ep = 1 : i64}}
// CHECK-DAG: tensor<2x6xf32> {dtc.members = [{dtc.split_dims = {ep = 0 : i64}, name = "e", {{.+}}], dtc.parameter = "/bucket{{.}}", dtc.split_dims = {dp = 1 : i64, ep = 0 : i64}}
// CHECK-DAG: tensor<4x4xf32> {dtc.members = [{dtc.split_dims = {ep = 0 : i64, tp = 2 : i64}, name = "t", {{.+}}], dtc.parameter = "/bucket{{.}}", dtc.split_dims = {dp = 1 : i64, ep = 0 : i64, tp = 0 : i64}}
// The parts of the last are those of tp, then of ep.
// CHECK: %[[T:.+]] = dtc.reshape %{{.+}} : (tensor<4x4xf32>) -> tensor<2x2x1x2x2xf32>
// CHECK: dtc.transpose %[[T]] [1, 2, 3, 0, 4] : (tensor<2x2x1x2x2xf32>) -> tensor<2x1x2x2x2xf32>
// PLAN-DAG: dtc.reduce_scatter sum %{{.+}} over ["dp"] dim 1 {{.+}} tensor<1x12xf32
// PLAN-DAG: dtc.reduce_scatter sum %{{.+}} over ["ep"] dim 1 {{.+}} tensor<1x12xf32
// PLAN-DAG: dtc.reduce_scatter sum %{{.+}} over ["dp"] dim 1 {{.+}} tensor<2x6xf32
// PLAN-NOT: dtc.reduce_scatter sum %{{.+}} over ["ep"] dim 1 {{.+}} tensor<2x6xf32
func.func @step(%x: tensor<8x11xf32> {dtc.input = "x", dtc.kind = "input"}, %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %a: tensor<11xf32> {dtc.parameter = "a"},
                %e: tensor<2x5xf32> {dtc.parameter = "e", dtc.split_dims = {ep = 0 : i64}},
                %t: tensor<2x2x4xf32> {dtc.parameter = "t", dtc.split_dims = {ep = 0 : i64, tp = 2 : i64}})
    -> (tensor<11xf32> {dtc.gradient = "a"}, tensor<2x5xf32> {dtc.gradient = "e"}, tensor<2x2x4xf32> {dtc.gradient = "t"}) {
  %s = dtc.mul %x, %a : (tensor<8x11xf32>, tensor<11xf32>) -> tensor<8x11xf32>
  %r = dtc.reduce_sum %s axes [0] : (tensor<8x11xf32>) -> tensor<1x11xf32>
  %ga = dtc.reshape %r : (tensor<1x11xf32>) -> tensor<11xf32>
  %q = dtc.reduce_sum %s axes [0, 1] : (tensor<8x11xf32>) -> tensor<1x1xf32>
  %ge = dtc.mul %e, %q : (tensor<2x5xf32>, tensor<1x1xf32>) -> tensor<2x5xf32>
  %gt = dtc.mul %t, %q : (tensor<2x2x4xf32>, tensor<1x1xf32>) -> tensor<2x2x4xf32>
  return %ga, %ge, %gt : tensor<11xf32>, tensor<2x5xf32>, tensor<2x2x4xf32>
}
