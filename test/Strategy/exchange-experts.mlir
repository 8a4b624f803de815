// RUN: dtc-opt %s --dtc-exchange-experts="ep=2 groups=4" --split-input-file | FileCheck %s
// RUN: dtc-opt %s --dtc-exchange-experts="ep=2 groups=4 capacity=1.5" --split-input-file | FileCheck %s --check-prefix=ROOM
// RUN: dtc-opt %s --dtc-exchange-experts="ep=1 groups=4" --split-input-file | FileCheck %s --check-prefix=ONE

// Ops between two products move into slots, biases of experts and the bias after
// the last product with them. The weight of each row does not. Parameters of
// experts are split. There is room for all rows of a group, or for 1.5 times the
// mean.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[^:]+]]: tensor<64x4xf32>, %[[E:[^:]+]]: tensor<64xi64>, %[[W:[^:]+]]: tensor<8x4x6xf32> {dtc.parameter = "w", dtc.split_dims = {ep = 0 : i64}}, %[[B:[^:]+]]: tensor<8x6xf32> {dtc.parameter = "b", dtc.split_dims = {ep = 0 : i64}}, %[[V:[^:]+]]: tensor<8x3x4xf32> {dtc.parameter = "v", dtc.split_dims = {ep = 0 : i64}}, %[[C:[^:]+]]: tensor<8x4xf32> {dtc.parameter = "c", dtc.split_dims = {ep = 0 : i64}}, %[[P:[^:]+]]: tensor<64x1xf32>
// CHECK-NOT: dtc.gather
// CHECK-DAG: %[[N:.+]] = dtc.count_rows %[[E]] {axis = "ep", capacity = 16 : i64} : (tensor<64xi64>) -> tensor<8x4xi32>
// CHECK-DAG: %[[S:.+]] = dtc.dispatch %[[X]], %[[E]] {axis = "ep"} : (tensor<64x4xf32>, tensor<64xi64>) -> tensor<8x4x16x4xf32>
// CHECK-DAG: %[[Y:.+]] = dtc.expert_matmul %[[S]], %[[W]], %[[N]] {group_rows = 16 : i64} : (tensor<8x4x16x4xf32>, tensor<8x4x6xf32>, tensor<8x4xi32>) -> tensor<8x4x16x6xf32>
// CHECK-DAG: %[[BB:.+]] = dtc.reshape %[[B]] : (tensor<8x6xf32>) -> tensor<8x1x1x6xf32>
// CHECK-DAG: %[[BM:.+]] = dtc.select %{{.+}}, %[[BB]], %{{.+}} : (tensor<8x4x16x1xi1>, tensor<8x1x1x6xf32>, tensor<f32>) -> tensor<8x4x16x6xf32>
// CHECK: %[[A:.+]] = dtc.add %[[Y]], %[[BM]] : (tensor<8x4x16x6xf32>, tensor<8x4x16x6xf32>) -> tensor<8x4x16x6xf32>
// CHECK: %[[H:.+]]:2 = dtc.split %[[A]] axis 3 : (tensor<8x4x16x6xf32>) -> (tensor<8x4x16x3xf32>, tensor<8x4x16x3xf32>)
// CHECK: %[[R:.+]] = dtc.reshape %[[H]]#0 : (tensor<8x4x16x3xf32>) -> tensor<8x4x16x3x1xf32>
// CHECK: %[[T:.+]] = dtc.reshape %[[R]] : (tensor<8x4x16x3x1xf32>) -> tensor<8x4x16x3xf32>
// CHECK: %[[M:.+]] = dtc.mul %[[T]], %[[H]]#1
// CHECK: %[[Z:.+]] = dtc.expert_matmul %[[M]], %[[V]], %[[N]] {group_rows = 16 : i64}
// CHECK: %[[CC:.+]] = dtc.reshape %[[C]] : (tensor<8x4xf32>) -> tensor<8x1x1x4xf32>
// CHECK: %[[CM:.+]] = dtc.select %{{.+}}, %[[CC]], %{{.+}}
// CHECK: %[[O:.+]] = dtc.add %[[Z]], %[[CM]]
// CHECK: %[[ROWS:.+]] = dtc.combine %[[O]], %[[E]] {axis = "ep"} : (tensor<8x4x16x4xf32>, tensor<64xi64>) -> tensor<64x4xf32>
// CHECK: dtc.mul %[[ROWS]], %[[P]]
// ROOM: dtc.count_rows %{{.+}} {axis = "ep", capacity = 3 : i64}
// ROOM: dtc.dispatch {{.+}} -> tensor<8x4x3x4xf32>
// ONE: dtc.grouped_matmul
// ONE-NOT: dtc.dispatch
func.func @step(%x: tensor<64x4xf32>, %e: tensor<64xi64>, %w: tensor<8x4x6xf32> {dtc.parameter = "w"}, %b: tensor<8x6xf32> {dtc.parameter = "b"},
                %v: tensor<8x3x4xf32> {dtc.parameter = "v"}, %c: tensor<8x4xf32> {dtc.parameter = "c"}, %p: tensor<64x1xf32>) -> tensor<64x4xf32> {
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<64x4xf32>, tensor<8x4x6xf32>, tensor<64xi64>) -> tensor<64x6xf32>
  %eb = dtc.gather %b, %e : (tensor<8x6xf32>, tensor<64xi64>) -> tensor<64x6xf32>
  %a = dtc.add %y, %eb : (tensor<64x6xf32>, tensor<64x6xf32>) -> tensor<64x6xf32>
  %h:2 = dtc.split %a axis 1 : (tensor<64x6xf32>) -> (tensor<64x3xf32>, tensor<64x3xf32>)
  %r = dtc.reshape %h#0 : (tensor<64x3xf32>) -> tensor<64x3x1xf32>
  %t = dtc.reshape %r : (tensor<64x3x1xf32>) -> tensor<64x3xf32>
  %m = dtc.mul %t, %h#1 : (tensor<64x3xf32>, tensor<64x3xf32>) -> tensor<64x3xf32>
  %z = dtc.grouped_matmul %m, %v, %e : (tensor<64x3xf32>, tensor<8x3x4xf32>, tensor<64xi64>) -> tensor<64x4xf32>
  %ec = dtc.gather %c, %e : (tensor<8x4xf32>, tensor<64xi64>) -> tensor<64x4xf32>
  %o = dtc.add %z, %ec : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  %q = dtc.mul %o, %p : (tensor<64x4xf32>, tensor<64x1xf32>) -> tensor<64x4xf32>
  return %q : tensor<64x4xf32>
}

// -----

// Rows that an op between the products reads beside theirs move, too. Indices of
// a TopK are distinct for each token, so an expert has room for one row of each.
// CHECK-LABEL: func.func @step
// CHECK: dtc.count_rows %{{.+}} {axis = "ep", capacity = 8 : i64}
// CHECK: dtc.dispatch %{{.+}} -> tensor<4x4x8x4xf32>
// CHECK: dtc.dispatch %{{.+}} -> tensor<4x4x8x1xf32>
// CHECK: dtc.mul %{{.+}} : (tensor<4x4x8x4xf32>, tensor<4x4x8x1xf32>) -> tensor<4x4x8x4xf32>
func.func @step(%x: tensor<64x4xf32>, %ranks: tensor<32x1x4xf32>, %p: tensor<64x1xf32>, %w: tensor<4x4x4xf32> {dtc.parameter = "w"}) -> tensor<64x4xf32> {
  %wanted = dtc.constant dense<[[[0.0], [1.0]]]> : tensor<1x2x1xf32> to tensor<1x2x1xf32>
  %places = dtc.constant dense<[[[0.0, 1.0, 2.0, 3.0]]]> : tensor<1x1x4xf32> to tensor<1x1x4xf32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %is = dtc.compare eq %ranks, %wanted : (tensor<32x1x4xf32>, tensor<1x2x1xf32>) -> tensor<32x2x4xi1>
  %place = dtc.select %is, %places, %zero : (tensor<32x2x4xi1>, tensor<1x1x4xf32>, tensor<f32>) -> tensor<32x2x4xf32>
  %most = dtc.reduce_max %place axes [2] : (tensor<32x2x4xf32>) -> tensor<32x2x1xf32>
  %flat = dtc.reshape %most : (tensor<32x2x1xf32>) -> tensor<64xf32>
  %e = dtc.cast %flat : (tensor<64xf32>) -> tensor<64xi64>
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<64x4xf32>, tensor<4x4x4xf32>, tensor<64xi64>) -> tensor<64x4xf32>
  %m = dtc.mul %y, %p : (tensor<64x4xf32>, tensor<64x1xf32>) -> tensor<64x4xf32>
  %z = dtc.grouped_matmul %m, %w, %e {transpose_weights} : (tensor<64x4xf32>, tensor<4x4x4xf32>, tensor<64xi64>) -> tensor<64x4xf32>
  return %z : tensor<64x4xf32>
}

// -----

// A mask beside rows moves, whatever its type. A scale of all rows is zero in
// empty slots, so that it does not get the gradient that the square root has
// there. A norm stays outside of slots. Stacks of different sizes have slots of
// their own.
// CHECK-LABEL: func.func @step
// CHECK-DAG: dtc.dispatch %{{.+}} : (tensor<16x16xi1>, tensor<16xi64>) -> tensor<4x4x4x16xi1>
// CHECK-DAG: %[[LESS:.+]] = dtc.compare lt %{{.+}}, %{{.+}} : (tensor<1x1x4xi32>, tensor<4x4x1xi32>) -> tensor<4x4x4xi1>
// CHECK-DAG: %[[FILLED:.+]] = dtc.reshape %[[LESS]] : (tensor<4x4x4xi1>) -> tensor<4x4x4x1xi1>
// CHECK-DAG: %[[SCALE:.+]] = dtc.select %[[FILLED]], %arg6, %{{.+}} : (tensor<4x4x4x1xi1>, tensor<16xf32>, tensor<f32>) -> tensor<4x4x4x16xf32>
// CHECK-DAG: %[[ROOT:.+]] = dtc.sqrt %{{.+}} : (tensor<4x4x4x16xf32>)
// CHECK-DAG: dtc.mul %[[ROOT]], %[[SCALE]]
// CHECK-DAG: dtc.layer_norm %{{.+}}, %arg6, %arg6 {{.+}} : (tensor<16x16xf32>
// CHECK-DAG: dtc.expert_matmul %{{.+}} -> tensor<2x4x4x16xf32>
func.func @step(%x: tensor<16x16xf32>, %e: tensor<16xi64>, %w: tensor<4x16x16xf32> {dtc.parameter = "w"}, %v: tensor<4x16x16xf32> {dtc.parameter = "v"}, %u: tensor<2x16x16xf32> {dtc.parameter = "u"},
                %keep: tensor<16x16xi1>, %scale: tensor<16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %y = dtc.grouped_matmul %x, %w, %e : (tensor<16x16xf32>, tensor<4x16x16xf32>, tensor<16xi64>) -> tensor<16x16xf32>
  %d = dtc.select %keep, %y, %zero : (tensor<16x16xi1>, tensor<16x16xf32>, tensor<f32>) -> tensor<16x16xf32>
  %r = dtc.sqrt %d : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %t = dtc.mul %r, %scale : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %z = dtc.grouped_matmul %t, %v, %e : (tensor<16x16xf32>, tensor<4x16x16xf32>, tensor<16xi64>) -> tensor<16x16xf32>
  %n, %mean, %rstd = dtc.layer_norm %z, %scale, %scale {epsilon = 1.0e-5 : f64} : (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16x16xf32>, tensor<16x1xf32>, tensor<16x1xf32>)
  %o = dtc.grouped_matmul %x, %u, %e : (tensor<16x16xf32>, tensor<2x16x16xf32>, tensor<16xi64>) -> tensor<16x16xf32>
  return %n, %o : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// A parameter that has the rows of all experts' matrices one after another is
// split, too. One whose rows are parts of several experts' matrices is not.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %{{.+}}: tensor<32x4xf32> {dtc.parameter = "w", dtc.split_dims = {ep = 0 : i64}}, %{{.+}}: tensor<2x64xf32> {dtc.parameter = "v"})
func.func @step(%x: tensor<16x4xf32>, %e: tensor<16xi64>, %w: tensor<32x4xf32> {dtc.parameter = "w"}, %v: tensor<2x64xf32> {dtc.parameter = "v"}) -> tensor<16x4xf32> {
  %ws = dtc.reshape %w : (tensor<32x4xf32>) -> tensor<8x4x4xf32>
  %vs = dtc.reshape %v : (tensor<2x64xf32>) -> tensor<8x4x4xf32>
  %y = dtc.grouped_matmul %x, %ws, %e : (tensor<16x4xf32>, tensor<8x4x4xf32>, tensor<16xi64>) -> tensor<16x4xf32>
  %z = dtc.grouped_matmul %y, %vs, %e : (tensor<16x4xf32>, tensor<8x4x4xf32>, tensor<16xi64>) -> tensor<16x4xf32>
  return %z : tensor<16x4xf32>
}
