// RUN: dtc-opt %s --dtc-assign-mesh="tp=2" --dtc-propagate-layouts --cse --split-input-file | FileCheck %s

// Columns, then rows: one reduction where something else than a sum needs the
// product. Its gradient goes back the same way.
// CHECK-LABEL: func @step
// CHECK: %[[H:.*]] = dtc.matmul %arg0, %arg1 {{.*}} -> tensor<8x16xf32, #mb_tp1>
// CHECK: %[[Y:.*]] = dtc.matmul %[[H]], %arg2 {{.*}} -> tensor<8x4xf32, #mb_partial_tp>
// CHECK: %[[R:.*]] = dtc.reshard %[[Y]] : tensor<8x4xf32, #mb_partial_tp> -> tensor<8x4xf32, #mb>
// CHECK: %[[B:.*]] = dtc.add %[[R]], %arg3 {{.*}} -> tensor<8x4xf32, #mb>
// CHECK: dtc.matmul %[[H]], %[[B]] {transpose_lhs} {{.*}} -> tensor<16x4xf32, #tp_partial_mb>
// CHECK: %[[DB:.*]] = dtc.reduce_sum %[[B]] axes [0] {{.*}} -> tensor<1x4xf32, #partial_mb>
// The bias is whole on every rank: its gradient counts once.
// CHECK: dtc.reshape %[[DB]] {{.*}} -> tensor<4xf32, #partial_mb>
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %w1: tensor<4x16xf32> {dtc.parameter = "w1", dtc.split_dims = {tp = 1}},
                %w2: tensor<16x4xf32> {dtc.parameter = "w2", dtc.split_dims = {tp = 0}},
                %b2: tensor<4xf32> {dtc.parameter = "b2"}) -> (tensor<16x4xf32> {dtc.gradient = "w2"}, tensor<4xf32> {dtc.gradient = "b2"}) {
  %h = dtc.matmul %x, %w1 : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %y = dtc.matmul %h, %w2 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %z = dtc.add %y, %b2 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %dw = dtc.matmul %h, %z {transpose_lhs} : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %db = dtc.reduce_sum %z axes [0] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %db1 = dtc.reshape %db : (tensor<1x4xf32>) -> tensor<4xf32>
  return %dw, %db1 : tensor<16x4xf32>, tensor<4xf32>
}

// -----

// Two products of one input: their gradients are added in parts, then reduced
// once.
// CHECK-LABEL: func @step
// CHECK: %[[D:.*]] = dtc.reshard %arg0 {{.*}} -> tensor<8x16xf32, #mb_tp1>
// CHECK: %[[A:.*]] = dtc.matmul %[[D]], %arg1 {{.*}} #mb_partial_tp>
// CHECK: %[[B:.*]] = dtc.matmul %[[D]], %arg2 {{.*}} #mb_partial_tp>
// CHECK: %[[S:.*]] = dtc.add %[[A]], %[[B]] {{.*}} #mb_partial_tp>
// CHECK: %[[R:.*]] = dtc.reshard %[[S]] : {{.*}} -> tensor<8x4xf32, #mb>
// CHECK: dtc.mul %[[R]], %[[R]]
func.func @step(%d: tensor<8x16xf32> {dtc.input = "d", dtc.kind = "input"},
                %w1: tensor<16x4xf32> {dtc.parameter = "w1", dtc.split_dims = {tp = 0}},
                %w2: tensor<16x4xf32> {dtc.parameter = "w2", dtc.split_dims = {tp = 0}}) -> tensor<8x4xf32> {
  %a = dtc.matmul %d, %w1 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %b = dtc.matmul %d, %w2 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %s = dtc.add %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %q = dtc.mul %s, %s : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %q : tensor<8x4xf32>
}

// -----

// Sequence parallel: the embedding's parts become a part of the sequence each;
// the product reads all of it; its result goes back, through the bias, to
// where the residual lies.
// CHECK-LABEL: func @step
// CHECK: %[[STARTS:.*]] = dtc.constant dense<[0, 5]>
// CHECK: %[[MINE:.*]] = dtc.reshard %[[STARTS]] : {{.*}} -> tensor<2xi64, #tp>
// CHECK: %[[E:.*]] = dtc.gather %arg1, %arg0, %[[MINE]] {{.*}} -> tensor<2x6x4xf32, #mb_partial_tp>
// CHECK: %[[X:.*]] = dtc.reshard %[[E]] {{.*}} -> tensor<2x6x4xf32, #mb_tp1>
// CHECK: %[[ALL:.*]] = dtc.reshard %[[X]] {{.*}} -> tensor<2x6x4xf32, #mb>
// CHECK: %[[F:.*]] = dtc.reshape %[[ALL]]
// CHECK: %[[H:.*]] = dtc.matmul %[[F]], %arg2 {{.*}} -> tensor<12x16xf32, #mb_tp1>
// CHECK: %[[Y:.*]] = dtc.matmul %[[H]], %arg3 {{.*}} -> tensor<12x4xf32, #mb_partial_tp>
// CHECK: %[[P:.*]] = dtc.reshape %[[Y]] {{.*}} -> tensor<2x6x4xf32, #mb_partial_tp>
// CHECK: %[[R:.*]] = dtc.reshard %[[P]] {{.*}} -> tensor<2x6x4xf32, #mb_tp1>
// CHECK: %[[Z:.*]] = dtc.add %[[R]], %arg4 {{.*}} -> tensor<2x6x4xf32, #mb_tp1>
// CHECK: dtc.add %[[Z]], %[[X]] {{.*}} -> tensor<2x6x4xf32, #mb_tp1>
func.func @step(%i: tensor<2x6xi64> {dtc.input = "i", dtc.kind = "input"},
                %wte: tensor<10x4xf32> {dtc.parameter = "wte", dtc.split_dims = {tp = 0}},
                %w1: tensor<4x16xf32> {dtc.parameter = "w1", dtc.split_dims = {tp = 1}},
                %w2: tensor<16x4xf32> {dtc.parameter = "w2", dtc.split_dims = {tp = 0}},
                %b2: tensor<4xf32> {dtc.parameter = "b2"}) -> tensor<2x6x4xf32> {
  %x = dtc.gather %wte, %i {dtc.split_dims = {tp = 1}} : (tensor<10x4xf32>, tensor<2x6xi64>) -> tensor<2x6x4xf32>
  %f = dtc.reshape %x : (tensor<2x6x4xf32>) -> tensor<12x4xf32>
  %h = dtc.matmul %f, %w1 : (tensor<12x4xf32>, tensor<4x16xf32>) -> tensor<12x16xf32>
  %y = dtc.matmul %h, %w2 : (tensor<12x16xf32>, tensor<16x4xf32>) -> tensor<12x4xf32>
  %p = dtc.reshape %y : (tensor<12x4xf32>) -> tensor<2x6x4xf32>
  %z = dtc.add %p, %b2 : (tensor<2x6x4xf32>, tensor<4xf32>) -> tensor<2x6x4xf32>
  %r = dtc.add %z, %x : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  return %r : tensor<2x6x4xf32>
}

// -----

// In a sum of scalars, those that every rank has become the first rank's part:
// one reduction at the end.
// CHECK-LABEL: func @step
// CHECK: %[[A:.*]] = dtc.sum_squares %arg0 {{.*}} -> tensor<f64, #partial_tp>
// CHECK: %[[B:.*]] = dtc.sum_squares %arg1 {{.*}} -> tensor<f64, #replicated>
// CHECK: %[[RANKS:.*]] = dtc.constant dense<[0, 1]>
// CHECK: %[[RANK:.*]] = dtc.reshard %[[RANKS]] : {{.*}} -> tensor<2xi64, #tp>
// CHECK: %[[FIRST:.*]] = dtc.compare eq %[[RANK]], {{.*}} -> tensor<2xi1, #tp>
// CHECK: %[[M:.*]] = dtc.select %[[FIRST]], %[[B]], {{.*}} -> tensor<2xf64, #tp>
// CHECK: %[[P:.*]] = dtc.reduce_sum %[[M]] axes [0] {{.*}} -> tensor<1xf64, #partial_tp>
// CHECK: %[[PART:.*]] = dtc.reshape %[[P]]
// CHECK: dtc.add %[[A]], %[[PART]] {{.*}} -> tensor<f64, #partial_tp>
func.func @step(%a: tensor<4xf32> {dtc.parameter = "a", dtc.split_dims = {tp = 0}},
                %b: tensor<4xf32> {dtc.parameter = "b"}) -> tensor<f64> {
  %0 = dtc.sum_squares %a : (tensor<4xf32>) -> tensor<f64>
  %1 = dtc.sum_squares %b : (tensor<4xf32>) -> tensor<f64>
  %2 = dtc.add %0, %1 : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %2 : tensor<f64>
}

// -----

// A table's gradient is made in the table's parts.
// CHECK-LABEL: func @step
// CHECK: dtc.scatter_add %arg0, %arg1, %{{.*}} {{.*}} -> tensor<10x4xf32, #tp_partial_mb>
func.func @step(%i: tensor<2x6xi64> {dtc.input = "i", dtc.kind = "input"},
                %d: tensor<2x6x4xf32> {dtc.input = "d", dtc.kind = "input"},
                %lr: tensor<f64> {dtc.input = "lr", dtc.kind = "lr"},
                %wte: tensor<10x4xf32> {dtc.parameter = "wte", dtc.split_dims = {tp = 0}}) -> (tensor<10x4xf32> {dtc.parameter = "wte"}) {
  %g = dtc.scatter_add %i, %d : (tensor<2x6xi64>, tensor<2x6x4xf32>) -> tensor<10x4xf32>
  %w = dtc.sgd %wte, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<10x4xf32>, tensor<10x4xf32>, tensor<f64>) -> tensor<10x4xf32>
  return %w : tensor<10x4xf32>
}

// -----

// Labels are looked for where the classes are: each part has its own columns.
// CHECK-LABEL: func @step
// CHECK: %[[Z:.*]] = dtc.matmul %arg0, %arg2 {{.*}} -> tensor<8x6xf32, #mb_tp1>
// CHECK: %[[STARTS:.*]] = dtc.constant dense<[0, 3]>
// CHECK: %[[MINE:.*]] = dtc.reshard %[[STARTS]] : {{.*}} -> tensor<2xi64, #tp>
// CHECK: %[[HOT:.*]] = dtc.one_hot %arg1, %[[MINE]] {{.*}} -> tensor<8x6xi1, #mb_tp1>
// CHECK: %[[OWN:.*]] = dtc.select %[[HOT]], %[[Z]], {{.*}} -> tensor<8x6xf32, #mb_tp1>
// CHECK: dtc.reduce_sum %[[OWN]] axes [1] {{.*}} -> tensor<8x1xf32, #mb_partial_tp>
func.func @step(%x: tensor<8x4xf32> {dtc.input = "x", dtc.kind = "input"},
                %t: tensor<8xi64> {dtc.input = "labels", dtc.kind = "label"},
                %w: tensor<4x6xf32> {dtc.parameter = "w", dtc.split_dims = {tp = 1}}) -> tensor<8x1xf32> {
  %z = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %h = dtc.one_hot %t : (tensor<8xi64>) -> tensor<8x6xi1>
  %0 = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %s = dtc.select %h, %z, %0 : (tensor<8x6xi1>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
  %r = dtc.reduce_sum %s axes [1] : (tensor<8x6xf32>) -> tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// -----

// Columns that are padding: a constant says which are classes, and each part
// has its own of it. They are left out of the maximum and of the sum.
// CHECK-LABEL: func @step
// CHECK: %[[C:.*]] = dtc.constant dense<[true, true, true, false]>
// CHECK: %[[MINE:.*]] = dtc.reshard %[[C]] : {{.*}} -> tensor<4xi1, #tp>
// CHECK: %[[X:.*]] = dtc.select %[[MINE]], %arg0, %{{.*}} -> tensor<8x4xf32, #tp1>
// CHECK: dtc.reduce_max %[[X]] axes [1]
// CHECK: %[[E:.*]] = dtc.exp
// CHECK: %[[S:.*]] = dtc.select %[[MINE]], %[[E]], %{{.*}} -> tensor<8x4xf32, #tp1>
// CHECK: dtc.reduce_sum %[[S]] axes [1]
// CHECK-NOT: dtc.cross_entropy
func.func @step(%z: tensor<8x4xf32> {dtc.parameter = "z", dtc.split_dims = {tp = 1}}, %t: tensor<8xi64> {dtc.input = "t", dtc.kind = "label"}) -> tensor<f64> {
  %l = dtc.cross_entropy %z, %t {classes = 3} : (tensor<8x4xf32>, tensor<8xi64>) -> tensor<f64>
  return %l : tensor<f64>
}
