// RUN: dtc-opt %s --dtc-form-kernels --verify-roundtrip | FileCheck %s

#mesh = #dtc.mesh<pp=1, dp=2>
#d = #dtc.layout<#mesh, dp: split(0)>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial(sum)>

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // Bias and activation are one kernel on local shapes; a matrix product is
  // none. The same kernel serves both layers.
  // CHECK-LABEL: func.func private @forward
  // CHECK: %[[H:.*]] = dtc.matmul
  // CHECK: %[[A:.*]] = dtc.launch @kernels::@kernel_add_relu(%[[H]], %{{.*}}) : (tensor<8x4xf32, #{{.*}}>, tensor<4xf32, #{{.*}}>) -> tensor<8x4xf32, #{{.*}}>
  // CHECK: %[[H2:.*]] = dtc.matmul %[[A]]
  // CHECK: dtc.launch @kernels::@kernel_add_relu(%[[H2]]
  func.func private @forward(%x: tensor<8x4xf32, #d>, %w: tensor<4x4xf32, #r>, %b: tensor<4xf32, #r>) -> tensor<8x4xf32, #d> attributes {dtc.phase = #dtc.phase<forward>} {
    %0 = dtc.matmul %x, %w : (tensor<8x4xf32, #d>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #d>
    %1 = dtc.add %0, %b : (tensor<8x4xf32, #d>, tensor<4xf32, #r>) -> tensor<8x4xf32, #d>
    %2 = dtc.relu %1 : (tensor<8x4xf32, #d>) -> tensor<8x4xf32, #d>
    %3 = dtc.matmul %2, %w : (tensor<8x4xf32, #d>, tensor<4x4xf32, #r>) -> tensor<8x4xf32, #d>
    %4 = dtc.add %3, %b : (tensor<8x4xf32, #d>, tensor<4xf32, #r>) -> tensor<8x4xf32, #d>
    %5 = dtc.relu %4 : (tensor<8x4xf32, #d>) -> tensor<8x4xf32, #d>
    return %5 : tensor<8x4xf32, #d>
  }

  // A product that is only accumulated accumulates itself. A sum over rows ends
  // its kernel: what is made of it is another one, which overwrites.
  // CHECK-LABEL: func.func private @weight
  // CHECK-DAG: %[[P:.*]] = dtc.matmul
  // CHECK-DAG: dtc.accumulate %[[P]]
  // CHECK-DAG: %[[S:.*]]:2 = dtc.launch @kernels::@kernel_neg_reduce_sum
  // CHECK: dtc.launch @kernels::@kernel_accumulate(%[[S]]#1, %{{.*}})
  // CHECK: return
  func.func private @weight(%x: tensor<8x4xf32, #d>, %dy: tensor<8x4xf32, #d>, %a: tensor<4x4xf32, #p> {dtc.update = 0 : i64}, %c: tensor<1x4xf32, #p> {dtc.update = 1 : i64})
      -> (tensor<4x4xf32, #p>, tensor<1x4xf32, #p>, tensor<8x4xf32, #d>) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.matmul %x, %dy {transpose_lhs} : (tensor<8x4xf32, #d>, tensor<8x4xf32, #d>) -> tensor<4x4xf32, #p>
    %1 = dtc.accumulate %0 into %a : tensor<4x4xf32, #p>
    %2 = dtc.neg %dy : (tensor<8x4xf32, #d>) -> tensor<8x4xf32, #d>
    %3 = dtc.reduce_sum %2 axes [0] : (tensor<8x4xf32, #d>) -> tensor<1x4xf32, #p>
    %4 = dtc.accumulate %3 into %c : tensor<1x4xf32, #p>
    return %1, %4, %2 : tensor<4x4xf32, #p>, tensor<1x4xf32, #p>, tensor<8x4xf32, #d>
  }

  // A kernel may read an operand that it overwrites in place, as to join it
  // with others, but must not move it, or not before it is complete.
  // CHECK-LABEL: func.func private @moves
  // CHECK: %[[SUMS:.*]]:2 = dtc.launch @kernels::@kernel_accumulate_neg_concat
  // CHECK: %[[TURNED:.*]] = dtc.launch @kernels::@kernel_split_concat(%[[SUMS]]#0)
  // CHECK: return %[[SUMS]]#0, %[[SUMS]]#1, %[[TURNED]]
  func.func private @moves(%x: tensor<4xf32, #r>, %a: tensor<4xf32, #r> {dtc.update = 0 : i64}) -> (tensor<4xf32, #r>, tensor<8xf32, #r>, tensor<4xf32, #r>) {
    %0 = dtc.accumulate %x into %a : tensor<4xf32, #r>
    %1 = dtc.neg %0 : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
    %2 = dtc.concat %0, %1 axis 0 : (tensor<4xf32, #r>, tensor<4xf32, #r>) -> tensor<8xf32, #r>
    %3:2 = dtc.split %0 axis 0 : (tensor<4xf32, #r>) -> (tensor<2xf32, #r>, tensor<2xf32, #r>)
    %4 = dtc.concat %3#1, %3#0 axis 0 : (tensor<2xf32, #r>, tensor<2xf32, #r>) -> tensor<4xf32, #r>
    return %0, %2, %4 : tensor<4xf32, #r>, tensor<8xf32, #r>, tensor<4xf32, #r>
  }

  // exp and mul share values, but the product lies between them.
  // CHECK-LABEL: func.func private @between
  // CHECK: %[[E:.*]] = dtc.launch @kernels::@kernel_exp
  // CHECK: %[[M:.*]] = dtc.matmul %[[E]]
  // CHECK: dtc.launch @kernels::@kernel_mul(%[[E]], %[[M]])
  func.func private @between(%x: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
    %0 = dtc.exp %x : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %1 = dtc.matmul %0, %0 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %2 = dtc.mul %0, %1 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    return %2 : tensor<4x4xf32, #r>
  }

  // sqrt reads what tanh and exp share nothing of: it joins their kernels.
  // CHECK-LABEL: func.func private @joins
  // CHECK: %[[Y:.*]] = dtc.launch @kernels::@kernel_tanh_exp_mul
  // CHECK-NEXT: return %[[Y]]
  func.func private @joins(%x: tensor<4x4xf32, #r>, %y: tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r> {
    %0 = dtc.tanh %x : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %1 = dtc.exp %y : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %2 = dtc.mul %0, %1 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    return %2 : tensor<4x4xf32, #r>
  }

  // A kernel reads two equal views once.
  // CHECK-LABEL: func.func private @views
  // CHECK-NEXT: %[[V:.*]] = dtc.reshape %[[X:[a-z0-9]+]]
  // CHECK-NEXT: dtc.launch @kernels::@kernel_exp_tanh_mul(%[[V]])
  // CHECK-NEXT: return
  func.func private @views(%x: tensor<16xf32, #r>) -> tensor<4x4xf32, #r> attributes {dtc.phase = #dtc.phase<forward>} {
    %0 = dtc.reshape %x : (tensor<16xf32, #r>) -> tensor<4x4xf32, #r>
    %1 = dtc.exp %0 : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %2 = dtc.reshape %x : (tensor<16xf32, #r>) -> tensor<4x4xf32, #r>
    %3 = dtc.tanh %2 : (tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    %4 = dtc.mul %1, %3 : (tensor<4x4xf32, #r>, tensor<4x4xf32, #r>) -> tensor<4x4xf32, #r>
    return %4 : tensor<4x4xf32, #r>
  }

  // An update is one kernel with what scales its gradient; constants are inside.
  // CHECK-LABEL: func.func private @update
  // CHECK-NEXT: dtc.launch @kernels::@kernel_mul_sgd(
  // CHECK-NEXT: return
  func.func private @update(%w: tensor<4xf32, #r> {dtc.update = 0 : i64}, %g: tensor<4xf32, #r>, %lr: tensor<f64, #r>) -> tensor<4xf32, #r> attributes {dtc.phase = #dtc.phase<update>} {
    %c = dtc.constant dense<0.5> : tensor<f32> to tensor<f32, #r>
    %0 = dtc.mul %g, %c : (tensor<4xf32, #r>, tensor<f32, #r>) -> tensor<4xf32, #r>
    %1 = dtc.sgd %w, %0, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32, #r>, tensor<4xf32, #r>, tensor<f64, #r>) -> tensor<4xf32, #r>
    return %1 : tensor<4xf32, #r>
  }

  // Clipped and averaged in the update's kernel, but after the norm, which needs
  // all of the gradient.
  // CHECK-LABEL: func.func private @clipped_update
  // CHECK: %[[S:.*]] = dtc.launch @kernels::@kernel_sum_squares(%[[G:[a-z0-9]+]])
  // CHECK: dtc.launch @kernels::@kernel_sqrt_clip_by_norm_sgd_average(%[[S]], %[[G]]
  // CHECK-NEXT: return
  func.func private @clipped_update(%w: tensor<4xf32, #r> {dtc.update = 0 : i64}, %a: tensor<4xf32, #r> {dtc.update = 1 : i64}, %g: tensor<4xf32, #r>, %lr: tensor<f64, #r>) -> (tensor<4xf32, #r>, tensor<4xf32, #r>) {
    %0 = dtc.sum_squares %g : (tensor<4xf32, #r>) -> tensor<f64, #r>
    %1 = dtc.sqrt %0 : (tensor<f64, #r>) -> tensor<f64, #r>
    %2 = dtc.clip_by_norm %g, %1 {max_norm = 1.0 : f64} : (tensor<4xf32, #r>, tensor<f64, #r>) -> tensor<4xf32, #r>
    %3 = dtc.sgd %w, %2, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32, #r>, tensor<4xf32, #r>, tensor<f64, #r>) -> tensor<4xf32, #r>
    %4 = dtc.average %a, %3 {decay = 0.5 : f64} : (tensor<4xf32, #r>, tensor<4xf32, #r>) -> tensor<4xf32, #r>
    return %3, %4 : tensor<4xf32, #r>, tensor<4xf32, #r>
  }
}
}

// CHECK: module @kernels
// CHECK: func.func @kernel_add_relu(%[[X:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4xf32>) -> tensor<4x4xf32> attributes {dtc.kernel}
// CHECK-NEXT: %[[Y:.*]] = dtc.add %[[X]], %[[B]]
// CHECK-NEXT: dtc.relu %[[Y]]
// CHECK-NOT: add_relu
// CHECK: func.func @kernel_accumulate(%{{.*}}: tensor<1x4xf32>, %{{.*}}: tensor<1x4xf32> {dtc.update = 0 : i64})
// CHECK: func.func @kernel_mul_sgd(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32> {dtc.update = 0 : i64}
