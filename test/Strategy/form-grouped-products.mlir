// RUN: dtc-opt %s --canonicalize --dtc-form-grouped-products --canonicalize | FileCheck %s

// Matrices on the left of one row each, as exporters write them.
// CHECK-LABEL: func.func @left
// CHECK-SAME: (%[[W:.+]]: tensor<8x96x32xf32>, %[[X:.+]]: tensor<64x32xf32>, %[[E:.+]]: tensor<64xi64>)
// CHECK-NOT: dtc.gather
// CHECK: %[[Y:.+]] = dtc.grouped_matmul %[[X]], %[[W]], %[[E]] {transpose_weights} : (tensor<64x32xf32>, tensor<8x96x32xf32>, tensor<64xi64>) -> tensor<64x96xf32>
// CHECK: return %[[Y]]
func.func @left(%w: tensor<8x96x32xf32>, %x: tensor<64x32xf32>, %e: tensor<64xi64>) -> tensor<64x96xf32> {
  %m = dtc.gather %w, %e : (tensor<8x96x32xf32>, tensor<64xi64>) -> tensor<64x96x32xf32>
  %c = dtc.reshape %x : (tensor<64x32xf32>) -> tensor<64x32x1xf32>
  %y = dtc.matmul %m, %c : (tensor<64x96x32xf32>, tensor<64x32x1xf32>) -> tensor<64x96x1xf32>
  %r = dtc.reshape %y : (tensor<64x96x1xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}

// On the right, of indices with two dimensions, which a reshape joins.
// CHECK-LABEL: func.func @right
// CHECK-NOT: dtc.gather
// CHECK: dtc.grouped_matmul %{{.+}}, %{{.+}}, %{{.+}} : (tensor<6x4xf32>, tensor<8x4x5xf32>, tensor<6xi64>) -> tensor<6x5xf32>
func.func @right(%w: tensor<8x4x5xf32>, %x: tensor<6x1x4xf32>, %e: tensor<2x3xi64>) -> tensor<6x1x5xf32> {
  %m = dtc.gather %w, %e : (tensor<8x4x5xf32>, tensor<2x3xi64>) -> tensor<2x3x4x5xf32>
  %f = dtc.reshape %m : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %y = dtc.matmul %x, %f : (tensor<6x1x4xf32>, tensor<6x4x5xf32>) -> tensor<6x1x5xf32>
  return %y : tensor<6x1x5xf32>
}

// Several rows for each index: it is repeated for them. The product with
// matrices on the left is that of the transposed matrices, transposed.
// CHECK-LABEL: func.func @several
// CHECK-SAME: (%[[W:.+]]: tensor<8x5x4xf32>, %[[X:.+]]: tensor<2x4x3xf32>, %[[E:.+]]: tensor<2xi64>)
// CHECK-DAG: %[[ROWS:.+]] = dtc.transpose %[[X]] [0, 2, 1] : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
// CHECK-DAG: %[[FLAT:.+]] = dtc.reshape %[[ROWS]] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-DAG: %[[REPEATED:.+]] = dtc.broadcast %{{.+}} : (tensor<2x1xi64>) -> tensor<2x3xi64>
// CHECK-DAG: %[[INDICES:.+]] = dtc.reshape %[[REPEATED]] : (tensor<2x3xi64>) -> tensor<6xi64>
// CHECK: %[[Y:.+]] = dtc.grouped_matmul %[[FLAT]], %[[W]], %[[INDICES]] {transpose_weights} : (tensor<6x4xf32>, tensor<8x5x4xf32>, tensor<6xi64>) -> tensor<6x5xf32>
// CHECK: %[[SPLIT:.+]] = dtc.reshape %[[Y]] : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
// CHECK: dtc.transpose %[[SPLIT]] [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
func.func @several(%w: tensor<8x5x4xf32>, %x: tensor<2x4x3xf32>, %e: tensor<2xi64>) -> tensor<2x5x3xf32> {
  %m = dtc.gather %w, %e : (tensor<8x5x4xf32>, tensor<2xi64>) -> tensor<2x5x4xf32>
  %y = dtc.matmul %m, %x : (tensor<2x5x4xf32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// Constant indices choose nothing; a reshape that cuts matrices is another
// product; matrices of each sample are no stack.
// CHECK-LABEL: func.func @others
// CHECK-NOT: dtc.grouped_matmul
// CHECK: return
func.func @others(%w: tensor<8x4x6xf32>, %x: tensor<2x1x4xf32>, %z: tensor<2x1x3xf32>, %e: tensor<2xi64>, %own: tensor<2x8x4x6xf32>)
    -> (tensor<2x1x6xf32>, tensor<2x1x8xf32>, tensor<2x1x6xf32>) {
  %c = dtc.constant dense<[1, 0]> : tensor<2xi64> to tensor<2xi64>
  %m = dtc.gather %w, %c : (tensor<8x4x6xf32>, tensor<2xi64>) -> tensor<2x4x6xf32>
  %0 = dtc.matmul %x, %m : (tensor<2x1x4xf32>, tensor<2x4x6xf32>) -> tensor<2x1x6xf32>
  %n = dtc.gather %w, %e : (tensor<8x4x6xf32>, tensor<2xi64>) -> tensor<2x4x6xf32>
  %cut = dtc.reshape %n : (tensor<2x4x6xf32>) -> tensor<2x3x8xf32>
  %1 = dtc.matmul %z, %cut : (tensor<2x1x3xf32>, tensor<2x3x8xf32>) -> tensor<2x1x8xf32>
  %o = dtc.gather %own, %e {batch_dims = 1 : i64} : (tensor<2x8x4x6xf32>, tensor<2xi64>) -> tensor<2x4x6xf32>
  %2 = dtc.matmul %x, %o : (tensor<2x1x4xf32>, tensor<2x4x6xf32>) -> tensor<2x1x6xf32>
  return %0, %1, %2 : tensor<2x1x6xf32>, tensor<2x1x8xf32>, tensor<2x1x6xf32>
}

// Transposed matrices of the stack are those of a product with a flag.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: (%[[W:.+]]: tensor<8x5x4xf32>
// CHECK: dtc.grouped_matmul %{{.+}}, %[[W]], %{{.+}} {transpose_weights} : (tensor<6x4xf32>, tensor<8x5x4xf32>, tensor<6xi64>) -> tensor<6x5xf32>
func.func @transposed(%w: tensor<8x5x4xf32>, %x: tensor<6x1x4xf32>, %e: tensor<6xi64>) -> tensor<6x1x5xf32> {
  %t = dtc.transpose %w [0, 2, 1] : (tensor<8x5x4xf32>) -> tensor<8x4x5xf32>
  %m = dtc.gather %t, %e : (tensor<8x4x5xf32>, tensor<6xi64>) -> tensor<6x4x5xf32>
  %y = dtc.matmul %x, %m : (tensor<6x1x4xf32>, tensor<6x4x5xf32>) -> tensor<6x1x5xf32>
  return %y : tensor<6x1x5xf32>
}

// If the importer does not know that indices are inside of the stack, rows of
// other indices are NaN.
// CHECK-LABEL: func.func @bounds
// CHECK-SAME: %[[INSIDE:[^:]+]]: tensor<6x1x1xi1>
// CHECK: %[[Y:.+]] = dtc.grouped_matmul
// CHECK: %[[C:.+]] = dtc.reshape %[[INSIDE]] : (tensor<6x1x1xi1>) -> tensor<6x1xi1>
// CHECK: dtc.select %[[C]], %[[Y]], %{{.+}} : (tensor<6x1xi1>, tensor<6x5xf32>, tensor<f32>) -> tensor<6x5xf32>
func.func @bounds(%inside: tensor<6x1x1xi1>, %w: tensor<8x4x5xf32>, %x: tensor<6x1x4xf32>, %e: tensor<6xi64>) -> tensor<6x1x5xf32> {
  %nan = dtc.constant dense<0x7FC00000> : tensor<f32> to tensor<f32>
  %m = dtc.gather %w, %e : (tensor<8x4x5xf32>, tensor<6xi64>) -> tensor<6x4x5xf32>
  %s = dtc.select %inside, %m, %nan : (tensor<6x1x1xi1>, tensor<6x4x5xf32>, tensor<f32>) -> tensor<6x4x5xf32>
  %y = dtc.matmul %x, %s : (tensor<6x1x4xf32>, tensor<6x4x5xf32>) -> tensor<6x1x5xf32>
  return %y : tensor<6x1x5xf32>
}
