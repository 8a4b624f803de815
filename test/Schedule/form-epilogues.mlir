// RUN: dtc-opt %s --dtc-form-epilogues --split-input-file | FileCheck %s

// GELU and its gradient, in the form that one exporter and the gradient rules
// write: the product before it and the one behind it have epilogues, and what
// only the formulas needed is gone.

module @gelu {
  func.func @step(%a: tensor<16x8xbf16>, %w: tensor<8x32xbf16>, %b: tensor<32xbf16>,
                  %g: tensor<16x8xbf16>, %v: tensor<32x8xbf16>)
      -> (tensor<16x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>) {
    %p = dtc.matmul %a, %w : (tensor<16x8xbf16>, tensor<8x32xbf16>) -> tensor<16x32xbf16>
    %x = dtc.add %p, %b : (tensor<16x32xbf16>, tensor<32xbf16>) -> tensor<16x32xbf16>
    %half = dtc.constant dense<0.5> : tensor<f32> to tensor<f32>
    %one = dtc.constant dense<1.0> : tensor<f32> to tensor<f32>
    %c = dtc.constant dense<4.471500e-02> : tensor<f32> to tensor<f32>
    %s = dtc.constant dense<0.797884583> : tensor<f32> to tensor<f32>
    %h = dtc.mul %x, %half : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %x2 = dtc.mul %x, %x : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %x3 = dtc.mul %x2, %x : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %0 = dtc.mul %x3, %c : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %1 = dtc.add %x, %0 : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %2 = dtc.mul %1, %s : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %t = dtc.tanh %2 : (tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %u = dtc.add %t, %one : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %y = dtc.mul %h, %u : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>

    %t2 = dtc.mul %t, %t : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %n = dtc.sub %one, %t2 : (tensor<f32>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %three = dtc.constant dense<0.134145> : tensor<f32> to tensor<f32>
    %3 = dtc.mul %x2, %three : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %4 = dtc.add %3, %one : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %dy = dtc.matmul %g, %v {transpose_rhs} : (tensor<16x8xbf16>, tensor<32x8xbf16>) -> tensor<16x32xbf16>
    %du = dtc.mul %dy, %u : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %dt = dtc.mul %dy, %h : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %d2 = dtc.mul %dt, %n : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %d1 = dtc.mul %d2, %s : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %e = dtc.mul %d1, %4 : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %f = dtc.mul %du, %half : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %dx = dtc.add %e, %f : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>

    // An intermediate value of this gradient has another user.
    %dy_o = dtc.matmul %g, %v {transpose_rhs} : (tensor<16x8xbf16>, tensor<32x8xbf16>) -> tensor<16x32xbf16>
    %du_o = dtc.mul %dy_o, %u : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %dt_o = dtc.mul %dy_o, %h : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %d2_o = dtc.mul %dt_o, %n : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %d1_o = dtc.mul %d2_o, %s : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %e_o = dtc.mul %d1_o, %4 : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %f_o = dtc.mul %du_o, %half : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %dx_o = dtc.add %e_o, %f_o : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    return %y, %dx, %dx_o, %dt_o : tensor<16x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>
  }
}

// CHECK-LABEL: module @gelu
// CHECK-NEXT:    func.func @step(%[[A:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: {{.*}}, %[[G:[a-z0-9]+]]: {{.*}}, %[[V:[a-z0-9]+]]: {{.*}})
// CHECK-NEXT:      %[[Y:.*]], %[[X:.*]] = dtc.matmul_epilogue gelu %[[A]], %[[W]], %[[B]] : (tensor<16x8xbf16>, tensor<8x32xbf16>, tensor<32xbf16>) -> (tensor<16x32xbf16>, tensor<16x32xbf16>)
// CHECK:           %[[DX:.*]] = dtc.matmul_epilogue gelu_grad %[[G]], %[[V]], %[[X]] {transpose_rhs}
// CHECK-NEXT:      %[[DY:.*]] = dtc.matmul %[[G]], %[[V]]
// CHECK-NEXT:      dtc.mul %[[DY]],
// CHECK:           return %[[Y]], %[[DX]]

// -----

// A bias with ReLU; a bias that no kernel reads; one that a kernel reads, which
// adds it on the way; a function that is not GELU; a product of f32.

module @others {
  func.func @step(%a: tensor<16x8xf16>, %w: tensor<8x8xf16>, %b: tensor<8xf16>,
                  %c: tensor<16x8xf32>, %v: tensor<8x8xf32>, %d: tensor<8xf32>)
      -> (tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf32>) {
    %p = dtc.matmul %a, %w : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
    %x = dtc.add %p, %b : (tensor<16x8xf16>, tensor<8xf16>) -> tensor<16x8xf16>
    %y = dtc.relu %x : (tensor<16x8xf16>) -> tensor<16x8xf16>
    %q = dtc.matmul %y, %w : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
    %z = dtc.add %q, %b : (tensor<16x8xf16>, tensor<8xf16>) -> tensor<16x8xf16>
    %r = dtc.matmul %z, %w : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
    %u = dtc.add %r, %b : (tensor<16x8xf16>, tensor<8xf16>) -> tensor<16x8xf16>
    %s = dtc.sigmoid %u : (tensor<16x8xf16>) -> tensor<16x8xf16>
    %silu = dtc.mul %u, %s : (tensor<16x8xf16>, tensor<16x8xf16>) -> tensor<16x8xf16>
    %f = dtc.matmul %c, %v : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    %e = dtc.add %f, %d : (tensor<16x8xf32>, tensor<8xf32>) -> tensor<16x8xf32>
    %k = dtc.relu %e : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return %y, %z, %silu, %k : tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf32>
  }
}

// CHECK-LABEL: module @others
// CHECK:           %[[Y:.*]] = dtc.matmul_epilogue relu
// CHECK-NEXT:      %[[Z:.*]] = dtc.matmul_epilogue bias %[[Y]],
// CHECK-NEXT:      %[[R:.*]] = dtc.matmul %[[Z]],
// CHECK-NEXT:      dtc.add %[[R]]
// CHECK:           %[[F:.*]] = dtc.matmul
// CHECK-NEXT:      dtc.add %[[F]]

// -----

// Nothing else may read the product.

module @shared {
  func.func @step(%a: tensor<16x8xbf16>, %w: tensor<8x8xbf16>, %b: tensor<8xbf16>)
      -> (tensor<16x8xbf16>, tensor<16x8xbf16>) {
    %p = dtc.matmul %a, %w : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %x = dtc.add %p, %b : (tensor<16x8xbf16>, tensor<8xbf16>) -> tensor<16x8xbf16>
    %y = dtc.relu %x : (tensor<16x8xbf16>) -> tensor<16x8xbf16>
    return %p, %y : tensor<16x8xbf16>, tensor<16x8xbf16>
  }
}

// CHECK-LABEL: module @shared
// CHECK:           %[[P:.*]] = dtc.matmul
// CHECK-NEXT:      dtc.add %[[P]]

// -----

// A function that is GELU only where nothing is clipped is not GELU.

module @clipped {
  func.func @step(%a: tensor<16x8xbf16>, %w: tensor<8x32xbf16>, %b: tensor<32xbf16>) -> tensor<16x32xbf16> {
    %p = dtc.matmul %a, %w : (tensor<16x8xbf16>, tensor<8x32xbf16>) -> tensor<16x32xbf16>
    %s = dtc.add %p, %b : (tensor<16x32xbf16>, tensor<32xbf16>) -> tensor<16x32xbf16>
    %limit = dtc.constant dense<20.0> : tensor<f32> to tensor<f32>
    %x = dtc.minimum %s, %limit : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %half = dtc.constant dense<0.5> : tensor<f32> to tensor<f32>
    %one = dtc.constant dense<1.0> : tensor<f32> to tensor<f32>
    %c = dtc.constant dense<4.471500e-02> : tensor<f32> to tensor<f32>
    %k = dtc.constant dense<0.797884583> : tensor<f32> to tensor<f32>
    %h = dtc.mul %x, %half : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %x2 = dtc.mul %x, %x : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %x3 = dtc.mul %x2, %x : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %0 = dtc.mul %x3, %c : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %1 = dtc.add %x, %0 : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %2 = dtc.mul %1, %k : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %t = dtc.tanh %2 : (tensor<16x32xbf16>) -> tensor<16x32xbf16>
    %u = dtc.add %t, %one : (tensor<16x32xbf16>, tensor<f32>) -> tensor<16x32xbf16>
    %y = dtc.mul %h, %u : (tensor<16x32xbf16>, tensor<16x32xbf16>) -> tensor<16x32xbf16>
    return %y : tensor<16x32xbf16>
  }
}

// CHECK-LABEL: module @clipped
// CHECK-NOT:     matmul_epilogue

// -----

// The bias may come first, but not from where the library cannot read it.

module @order {
  func.func @step(%a: tensor<16x8xbf16>, %w: tensor<8x8xbf16>, %b: tensor<8xbf16>, %f: tensor<40xbf16>)
      -> (tensor<16x8xbf16>, tensor<16x8xbf16>, tensor<16x8xbf16>) {
    %p = dtc.matmul %a, %w : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %x = dtc.add %b, %p : (tensor<8xbf16>, tensor<16x8xbf16>) -> tensor<16x8xbf16>
    %b1 = dtc.slice %f axis 0 from 16 {view} : (tensor<40xbf16>) -> tensor<8xbf16>
    %p1 = dtc.matmul %x, %w : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %x1 = dtc.add %p1, %b1 : (tensor<16x8xbf16>, tensor<8xbf16>) -> tensor<16x8xbf16>
    %b2 = dtc.slice %f axis 0 from 3 {view} : (tensor<40xbf16>) -> tensor<8xbf16>
    %p2 = dtc.matmul %x1, %w : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %x2 = dtc.add %p2, %b2 : (tensor<16x8xbf16>, tensor<8xbf16>) -> tensor<16x8xbf16>
    return %x, %x1, %x2 : tensor<16x8xbf16>, tensor<16x8xbf16>, tensor<16x8xbf16>
  }
}

// CHECK-LABEL: module @order
// CHECK:         dtc.matmul_epilogue bias
// CHECK:         dtc.matmul_epilogue bias
// CHECK:         dtc.matmul %

// -----

// A residual, which the op before reads, with a bias; a sum of two products;
// one of three. A value that a kernel makes only for the sum stays apart.

module @matrices {
  func.func @step(%r: tensor<2x8x8xbf16>, %w: tensor<8x8xbf16>, %b: tensor<8xbf16>, %a: tensor<16x8xbf16>)
      -> (tensor<2x8x8xbf16>, tensor<16x8xbf16>, tensor<16x8xbf16>) {
    %t = dtc.tanh %r : (tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
    %x = dtc.reshape %t : (tensor<2x8x8xbf16>) -> tensor<16x8xbf16>
    %p = dtc.matmul %x, %w : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %q = dtc.reshape %p : (tensor<16x8xbf16>) -> tensor<2x8x8xbf16>
    %s = dtc.add %q, %b : (tensor<2x8x8xbf16>, tensor<8xbf16>) -> tensor<2x8x8xbf16>
    %y = dtc.add %r, %s : (tensor<2x8x8xbf16>, tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>

    %p1 = dtc.matmul %a, %w : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %p2 = dtc.matmul %a, %w {transpose_rhs} : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %p3 = dtc.matmul %x, %w {transpose_rhs} : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %s2 = dtc.add %p1, %p2 : (tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<16x8xbf16>
    %s3 = dtc.add %s2, %p3 : (tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<16x8xbf16>

    %p4 = dtc.matmul %s3, %w : (tensor<16x8xbf16>, tensor<8x8xbf16>) -> tensor<16x8xbf16>
    %k = dtc.tanh %a : (tensor<16x8xbf16>) -> tensor<16x8xbf16>
    %s4 = dtc.add %p4, %k : (tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<16x8xbf16>
    return %y, %s3, %s4 : tensor<2x8x8xbf16>, tensor<16x8xbf16>, tensor<16x8xbf16>
  }
}

// CHECK-LABEL: module @matrices
// CHECK-NEXT:    func.func @step(%[[R:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: {{.*}}, %[[A:[a-z0-9]+]]: {{.*}})
// CHECK:           %[[X:.*]] = dtc.reshape
// CHECK-NEXT:      %[[M:.*]] = dtc.reshape %[[R]]
// CHECK-NEXT:      %[[P:.*]] = dtc.matmul_epilogue add %[[X]], %[[W]], %[[M]], %[[B]]
// CHECK-NEXT:      %[[Y:.*]] = dtc.reshape %[[P]]
// CHECK-NEXT:      %[[P2:.*]] = dtc.matmul %[[A]], %[[W]] {transpose_rhs}
// CHECK-NEXT:      %[[S2:.*]] = dtc.matmul_epilogue add %[[A]], %[[W]], %[[P2]]
// CHECK-NEXT:      %[[S3:.*]] = dtc.matmul_epilogue add %[[X]], %[[W]], %[[S2]] {transpose_rhs}
// CHECK-NEXT:      %[[P4:.*]] = dtc.matmul %[[S3]], %[[W]]
// CHECK-NEXT:      %[[K:.*]] = dtc.tanh
// CHECK-NEXT:      %[[S4:.*]] = dtc.add %[[P4]], %[[K]]
// CHECK-NEXT:      return %[[Y]], %[[S3]], %[[S4]]

// -----

// Parts of a sum over ranks are added before it is made, by a kernel.

#mesh = #dtc.mesh<tp=2, mb=1>
#rows = #dtc.layout<#mesh, tp: split(0)>
#columns = #dtc.layout<#mesh, tp: split(1)>
#partial = #dtc.layout<#mesh, tp: partial>
module @partial {
  func.func @step(%a: tensor<16x8xbf16, #columns>, %w: tensor<8x8xbf16, #rows>, %v: tensor<8x8xbf16, #rows>) -> tensor<16x8xbf16, #partial> {
    %p = dtc.matmul %a, %w : (tensor<16x8xbf16, #columns>, tensor<8x8xbf16, #rows>) -> tensor<16x8xbf16, #partial>
    %q = dtc.matmul %a, %v : (tensor<16x8xbf16, #columns>, tensor<8x8xbf16, #rows>) -> tensor<16x8xbf16, #partial>
    %s = dtc.add %p, %q : (tensor<16x8xbf16, #partial>, tensor<16x8xbf16, #partial>) -> tensor<16x8xbf16, #partial>
    return %s : tensor<16x8xbf16, #partial>
  }
}

// CHECK-LABEL: module @partial
// CHECK-NOT:     matmul_epilogue
