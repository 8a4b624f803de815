// RUN: dtc-opt %s --dtc-pad-vocabulary=tp=4 --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-pad-vocabulary=tp=1 --split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: dtc-opt %s --dtc-pad-vocabulary=multiple=4 --split-input-file | FileCheck %s --check-prefix=FAST
// RUN: dtc-opt %s --dtc-pad-vocabulary="tp=2 multiple=8" --split-input-file | FileCheck %s --check-prefix=BOTH

// A tied embedding with a bias of its logits: 13 rows become 16, in parameters,
// logits and what lies between; the loss counts 13 classes. Lookups, labels and
// other parameters stay as they are.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<16x4xf32> {dtc.parameter = "wte", dtc.part = {dim = 0 : i64, shape = array<i64: 13, 4>, start = 0 : i64, tensor = "wte"}, dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<16xf32> {dtc.parameter = "b", dtc.part = {dim = 0 : i64, shape = array<i64: 13>, start = 0 : i64, tensor = "b"}, dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: tensor<8x4xf32> {dtc.parameter = "even", dtc.split_dims = {tp = 0 : i64}}
// CHECK: dtc.gather %[[W]], %{{.*}} : (tensor<16x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
// CHECK: dtc.gather %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<2x3xi64>)
// CHECK: dtc.matmul %{{.*}}, %[[W]] {transpose_rhs} : (tensor<6x4xf32>, tensor<16x4xf32>) -> tensor<6x16xf32>
// CHECK: dtc.add %{{.*}}, %[[B]] : (tensor<6x16xf32>, tensor<16xf32>) -> tensor<6x16xf32>
// CHECK: dtc.reshape %{{.*}} : (tensor<6x16xf32>) -> tensor<2x3x16xf32>
// CHECK: dtc.cross_entropy %{{.*}}, %{{.*}} {classes = 13 : i64} : (tensor<2x3x16xf32>, tensor<2x3xi64>) -> tensor<f64>
// WHOLE-LABEL: func @step
// WHOLE: tensor<13x4xf32> {dtc.parameter = "wte", dtc.split
// WHOLE-NOT: classes
func.func @step(%i: tensor<2x3xi64> {dtc.input = "i"}, %t: tensor<2x3xi64> {dtc.input = "t"},
                %wte: tensor<13x4xf32> {dtc.parameter = "wte", dtc.split_dims = {tp = 0}},
                %b: tensor<13xf32> {dtc.parameter = "b", dtc.split_dims = {tp = 0}},
                %even: tensor<8x4xf32> {dtc.parameter = "even", dtc.split_dims = {tp = 0}}) -> tensor<f64> {
  %0 = dtc.gather %wte, %i : (tensor<13x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %1 = dtc.gather %even, %i : (tensor<8x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %2 = dtc.add %0, %1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %3 = dtc.reshape %2 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %4 = dtc.matmul %3, %wte {transpose_rhs} : (tensor<6x4xf32>, tensor<13x4xf32>) -> tensor<6x13xf32>
  %5 = dtc.add %4, %b : (tensor<6x13xf32>, tensor<13xf32>) -> tensor<6x13xf32>
  %6 = dtc.reshape %5 : (tensor<6x13xf32>) -> tensor<2x3x13xf32>
  %7 = dtc.cross_entropy %6, %t : (tensor<2x3x13xf32>, tensor<2x3xi64>) -> tensor<f64>
  return %7 : tensor<f64>
}

// -----

// A table of which a part is cut out along the other dimension: the shape of
// its tensor is noted already.
// CHECK-LABEL: func @step
// CHECK-SAME: tensor<16x4xf32> {dtc.parameter = "w/1", dtc.part = {dim = 1 : i64, shape = array<i64: 13, 8>, start = 4 : i64, tensor = "w"}, dtc.split_dims = {tp = 0 : i64}}
func.func @step(%i: tensor<2x3xi64> {dtc.input = "i"},
                %w: tensor<13x4xf32> {dtc.parameter = "w/1", dtc.part = {dim = 1 : i64, shape = array<i64: 13, 8>, start = 4 : i64, tensor = "w"}, dtc.split_dims = {tp = 0}}) -> tensor<2x3x4xf32> {
  %0 = dtc.gather %w, %i : (tensor<13x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// Logits that the step returns: no column that is padding is the largest.
// CHECK-LABEL: func @step
// CHECK-SAME: -> (tensor<f64>, tensor<6x4xf32>)
// CHECK: %[[Z:.*]] = dtc.matmul {{.*}} -> tensor<6x4xf32>
// CHECK: dtc.cross_entropy %[[Z]], %{{.*}} {classes = 3 : i64}
// CHECK-DAG: %[[C:.*]] = dtc.constant dense<[true, true, true, false]> : tensor<4xi1>
// CHECK-DAG: %[[I:.*]] = dtc.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[M:.*]] = dtc.select %[[C]], %[[Z]], %[[I]]
// CHECK: return %{{.*}}, %[[M]]
func.func @step(%x: tensor<6x4xf32> {dtc.input = "x"}, %t: tensor<6xi64> {dtc.input = "t"},
                %w: tensor<4x3xf32> {dtc.parameter = "w", dtc.split_dims = {tp = 1}}) -> (tensor<f64>, tensor<6x3xf32>) {
  %0 = dtc.matmul %x, %w : (tensor<6x4xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %1 = dtc.cross_entropy %0, %t : (tensor<6x3xf32>, tensor<6xi64>) -> tensor<f64>
  return %1, %0 : tensor<f64>, tensor<6x3xf32>
}

// -----

// A target that reads rows of four: logits of 61 columns get three more, also
// where no rank splits them. Not tables that no loss reads, and not what would
// grow by more than a sixteenth, or what an op needs whole.
// FAST-LABEL: func @columns
// FAST-SAME: tensor<4x64xf32> {dtc.parameter = "head", dtc.part = {dim = 1 : i64, shape = array<i64: 4, 61>, start = 0 : i64, tensor = "head"}}
// FAST-SAME: tensor<4x13xf32> {dtc.parameter = "small"}
// FAST-SAME: tensor<4x62xf32> {dtc.parameter = "whole"}
// FAST-SAME: tensor<61x4xf32> {dtc.parameter = "table"}
// FAST: dtc.cross_entropy %{{.*}}, %{{.*}} {classes = 61 : i64} : (tensor<6x64xf32>, tensor<6xi64>) -> tensor<f64>
// FAST: dtc.cross_entropy %{{.*}}, %{{.*}} : (tensor<6x13xf32>, tensor<6xi64>) -> tensor<f64>
// FAST: dtc.cross_entropy %{{.*}}, %{{.*}} : (tensor<6x62xf32>, tensor<6xi64>) -> tensor<f64>
func.func @columns(%i: tensor<6xi64> {dtc.input = "i"}, %t: tensor<6xi64> {dtc.input = "t"},
                   %head: tensor<4x61xf32> {dtc.parameter = "head"}, %small: tensor<4x13xf32> {dtc.parameter = "small"},
                   %whole: tensor<4x62xf32> {dtc.parameter = "whole"}, %table: tensor<61x4xf32> {dtc.parameter = "table"}) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %x = dtc.gather %table, %i : (tensor<61x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %0 = dtc.matmul %x, %head : (tensor<6x4xf32>, tensor<4x61xf32>) -> tensor<6x61xf32>
  %1 = dtc.matmul %x, %small : (tensor<6x4xf32>, tensor<4x13xf32>) -> tensor<6x13xf32>
  %2 = dtc.matmul %x, %whole : (tensor<6x4xf32>, tensor<4x62xf32>) -> tensor<6x62xf32>
  %3 = dtc.softmax %2 : (tensor<6x62xf32>) -> tensor<6x62xf32>
  %l0 = dtc.cross_entropy %0, %t : (tensor<6x61xf32>, tensor<6xi64>) -> tensor<f64>
  %l1 = dtc.cross_entropy %1, %t : (tensor<6x13xf32>, tensor<6xi64>) -> tensor<f64>
  %l2 = dtc.cross_entropy %3, %t : (tensor<6x62xf32>, tensor<6xi64>) -> tensor<f64>
  return %l0, %l1, %l2 : tensor<f64>, tensor<f64>, tensor<f64>
}

// -----

// A zero of the padding may be the largest of a row, and random numbers are
// those of places: neither is padded.
// FAST-LABEL: func @counted
// FAST-SAME: tensor<4x61xf32> {dtc.parameter = "largest"}
// FAST-SAME: tensor<4x62xf32> {dtc.parameter = "dropped"}
func.func @counted(%x: tensor<6x4xf32> {dtc.input = "x"}, %t: tensor<6xi64> {dtc.input = "t"}, %seed: tensor<i64> {dtc.kind = "seed"}, %step: tensor<f64> {dtc.kind = "step"},
                   %largest: tensor<4x61xf32> {dtc.parameter = "largest"}, %dropped: tensor<4x62xf32> {dtc.parameter = "dropped"}) -> (tensor<f64>, tensor<f64>, tensor<6x1xf32>) {
  %0 = dtc.matmul %x, %largest : (tensor<6x4xf32>, tensor<4x61xf32>) -> tensor<6x61xf32>
  %1 = dtc.matmul %x, %dropped : (tensor<6x4xf32>, tensor<4x62xf32>) -> tensor<6x62xf32>
  %2 = dtc.reduce_max %0 axes [1] : (tensor<6x61xf32>) -> tensor<6x1xf32>
  %3 = dtc.dropout %1, %seed, %step {id = 3 : i64, probability = 2.0e-1 : f64} : (tensor<6x62xf32>, tensor<i64>, tensor<f64>) -> tensor<6x62xf32>
  %l0 = dtc.cross_entropy %0, %t : (tensor<6x61xf32>, tensor<6xi64>) -> tensor<f64>
  %l1 = dtc.cross_entropy %3, %t : (tensor<6x62xf32>, tensor<6xi64>) -> tensor<f64>
  return %l0, %l1, %2 : tensor<f64>, tensor<f64>, tensor<6x1xf32>
}

// -----

// Each of the ranks that share columns has a multiple, of a smaller power of
// two if the padding is large. A vocabulary that tp leaves whole is not padded
// for it.
// BOTH-LABEL: func @shared
// BOTH-SAME: tensor<4x208xf32> {dtc.parameter = "split"
// BOTH-SAME: tensor<4x52xf32> {dtc.parameter = "fewer"
// BOTH-SAME: tensor<4x104xf32> {dtc.parameter = "whole", dtc.part
// BOTH-SAME: tensor<4x3xf32> {dtc.parameter = "few"}
func.func @shared(%x: tensor<6x4xf32> {dtc.input = "x"}, %t: tensor<6xi64> {dtc.input = "t"},
                  %split: tensor<4x201xf32> {dtc.parameter = "split", dtc.split_dims = {tp = 1}}, %fewer: tensor<4x51xf32> {dtc.parameter = "fewer", dtc.split_dims = {tp = 1}},
                  %whole: tensor<4x101xf32> {dtc.parameter = "whole"}, %few: tensor<4x3xf32> {dtc.parameter = "few"}) -> (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) {
  %0 = dtc.matmul %x, %split : (tensor<6x4xf32>, tensor<4x201xf32>) -> tensor<6x201xf32>
  %1 = dtc.matmul %x, %fewer : (tensor<6x4xf32>, tensor<4x51xf32>) -> tensor<6x51xf32>
  %2 = dtc.matmul %x, %whole : (tensor<6x4xf32>, tensor<4x101xf32>) -> tensor<6x101xf32>
  %3 = dtc.matmul %x, %few : (tensor<6x4xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %l0 = dtc.cross_entropy %0, %t : (tensor<6x201xf32>, tensor<6xi64>) -> tensor<f64>
  %l1 = dtc.cross_entropy %1, %t : (tensor<6x51xf32>, tensor<6xi64>) -> tensor<f64>
  %l2 = dtc.cross_entropy %2, %t : (tensor<6x101xf32>, tensor<6xi64>) -> tensor<f64>
  %l3 = dtc.cross_entropy %3, %t : (tensor<6x3xf32>, tensor<6xi64>) -> tensor<f64>
  return %l0, %l1, %l2, %l3 : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>
}
