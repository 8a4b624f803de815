// RUN: dtc-opt %s --dtc-form-bias-gradients --split-input-file | FileCheck %s

// Weights of both orders, through views, sums first; samples are split, so both
// results are partial.

#mesh = #dtc.mesh<dp=2, mb=1>
#rows = #dtc.layout<#mesh, dp: split(0)>
#partial = #dtc.layout<#mesh, dp: partial>
#whole = #dtc.layout<#mesh>
module @sums {
  func.func @step(%x: tensor<16x8xbf16, #rows>, %g: tensor<16x8xbf16, #rows>, %w: tensor<8x24xbf16, #whole>)
      -> (tensor<24xf32, #partial>, tensor<8x24xf32, #partial>, tensor<24x8xf32, #partial>, tensor<1x24xf32, #partial>) {
    %p = dtc.matmul %g, %w : (tensor<16x8xbf16, #rows>, tensor<8x24xbf16, #whole>) -> tensor<16x24xbf16, #rows>
    %d = dtc.reshape %p : (tensor<16x24xbf16, #rows>) -> tensor<4x4x24xbf16, #rows>
    %s = dtc.reduce_sum %d axes [0, 1] : (tensor<4x4x24xbf16, #rows>) -> tensor<1x1x24xf32, #partial>
    %db = dtc.reshape %s : (tensor<1x1x24xf32, #partial>) -> tensor<24xf32, #partial>
    %e = dtc.reshape %d : (tensor<4x4x24xbf16, #rows>) -> tensor<16x24xbf16, #rows>
    %dw = dtc.matmul %x, %e {transpose_lhs} : (tensor<16x8xbf16, #rows>, tensor<16x24xbf16, #rows>) -> tensor<8x24xf32, #partial>

    %q = dtc.matmul %x, %w : (tensor<16x8xbf16, #rows>, tensor<8x24xbf16, #whole>) -> tensor<16x24xbf16, #rows>
    %dv = dtc.matmul %q, %x {transpose_lhs} : (tensor<16x24xbf16, #rows>, tensor<16x8xbf16, #rows>) -> tensor<24x8xf32, #partial>
    %dc = dtc.reduce_sum %q axes [0] : (tensor<16x24xbf16, #rows>) -> tensor<1x24xf32, #partial>
    return %db, %dw, %dv, %dc : tensor<24xf32, #partial>, tensor<8x24xf32, #partial>, tensor<24x8xf32, #partial>, tensor<1x24xf32, #partial>
  }
}

// CHECK-LABEL: module @sums
// CHECK-NEXT:    func.func @step(%[[X:[a-z0-9]+]]: {{.*}}, %[[G:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: {{.*}})
// CHECK-NEXT:      %[[P:.*]] = dtc.matmul %[[G]], %[[W]]
// CHECK-NEXT:      %[[DW:.*]], %[[S:.*]] = dtc.matmul_bias_grad %[[X]], %[[P]] {transpose_lhs}
// CHECK-NEXT:      %[[T:.*]] = dtc.reshape %[[S]]
// CHECK-NEXT:      %[[DB:.*]] = dtc.reshape %[[T]]
// CHECK-NEXT:      %[[Q:.*]] = dtc.matmul %[[X]], %[[W]]
// CHECK-NEXT:      %[[DV:.*]], %[[U:.*]] = dtc.matmul_bias_grad %[[Q]], %[[X]] {of_lhs, transpose_lhs}
// CHECK-NEXT:      %[[DC:.*]] = dtc.reshape %[[U]]
// CHECK-NEXT:      return %[[DB]], %[[DW]], %[[DV]], %[[DC]]

// -----

// A kernel makes these rows, or reads them besides: it sums them on the way. A
// weight whose product reads the rows along has none.

module @apart {
  func.func @step(%x: tensor<16x8xbf16>, %g: tensor<16x8xbf16>, %w: tensor<8x24xbf16>, %v: tensor<8x16xbf16>)
      -> (tensor<1x8xf32>, tensor<8x8xf32>, tensor<1x24xf32>, tensor<8x24xf32>, tensor<16x24xbf16>, tensor<1x16xf32>, tensor<8x24xf32>) {
    %t = dtc.tanh %g : (tensor<16x8xbf16>) -> tensor<16x8xbf16>
    %db = dtc.reduce_sum %t axes [0] : (tensor<16x8xbf16>) -> tensor<1x8xf32>
    %dw = dtc.matmul %x, %t {transpose_lhs} : (tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<8x8xf32>

    %p = dtc.matmul %g, %w : (tensor<16x8xbf16>, tensor<8x24xbf16>) -> tensor<16x24xbf16>
    %dc = dtc.reduce_sum %p axes [0] : (tensor<16x24xbf16>) -> tensor<1x24xf32>
    %dv = dtc.matmul %x, %p {transpose_lhs} : (tensor<16x8xbf16>, tensor<16x24xbf16>) -> tensor<8x24xf32>
    %u = dtc.tanh %p : (tensor<16x24xbf16>) -> tensor<16x24xbf16>

    %q = dtc.matmul %g, %x {transpose_rhs} : (tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<16x16xbf16>
    %dd = dtc.reduce_sum %q axes [0] : (tensor<16x16xbf16>) -> tensor<1x16xf32>
    %r = dtc.matmul %v, %q {transpose_rhs} : (tensor<8x16xbf16>, tensor<16x16xbf16>) -> tensor<8x16xbf16>
    %e = dtc.matmul %r, %p : (tensor<8x16xbf16>, tensor<16x24xbf16>) -> tensor<8x24xf32>
    return %db, %dw, %dc, %dv, %u, %dd, %e : tensor<1x8xf32>, tensor<8x8xf32>, tensor<1x24xf32>, tensor<8x24xf32>, tensor<16x24xbf16>, tensor<1x16xf32>, tensor<8x24xf32>
  }
}

// CHECK-LABEL: module @apart
// CHECK-NOT:     matmul_bias_grad
