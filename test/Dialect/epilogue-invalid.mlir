// The errors of the verifiers of products with epilogues and of bias gradients.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4x3xbf16>, %b: tensor<8x8xbf16>, %c: tensor<8xbf16>) {
  // expected-error@below {{is a product of 'tensor<4x3xbf16>' and 'tensor<8x8xbf16>', expected matrices whose contracted sizes agree}}
  %0 = dtc.matmul_epilogue bias %a, %b, %c : (tensor<4x3xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8xf32>) {
  // expected-error@below {{has elements of 'f32' and 'f32', expected both f16 or both bf16}}
  %0 = dtc.matmul_epilogue bias %a, %b, %c : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<8xf16>) {
  // expected-error@below {{has 'tensor<8xf16>' beside a product of 4 x 16}}
  %0 = dtc.matmul_epilogue gelu_grad %a, %b, %c : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<8xf16>) -> tensor<4x16xf16>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<16xf16>) {
  // expected-error@below {{has results of types 'tensor<16x4xf16>', expected 4 x 16}}
  %0 = dtc.matmul_epilogue relu %a, %b, %c : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<16xf16>) -> tensor<16x4xf16>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<16xf16>) {
  // expected-error@below {{has a second result, expected one only of gelu}}
  %0:2 = dtc.matmul_epilogue relu %a, %b, %c : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<16xf16>) -> (tensor<4x16xf16>, tensor<4x16xf16>)
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x12xf16>, %c: tensor<12xf16>) {
  // expected-error@below {{has rows of 12 elements, expected a multiple of 8}}
  %0 = dtc.matmul_epilogue bias %a, %b, %c : (tensor<4x8xf16>, tensor<8x12xf16>, tensor<12xf16>) -> tensor<4x12xf16>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<16xf16>) {
  // expected-error@below {{requires the same element type for all operands and results}}
  %0 = dtc.matmul_epilogue bias %a, %b, %c : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<16xf16>) -> tensor<4x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<16xf16>) {
  // expected-error@below {{has 'tensor<16xf16>' beside a product of 4 x 16}}
  %0 = dtc.matmul_epilogue add %a, %b, %c : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<16xf16>) -> tensor<4x16xf16>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<16xf16>) {
  // expected-error@below {{has a bias 'tensor<16xf16>', expected none, or of add a row of 16}}
  %0 = dtc.matmul_epilogue relu %a, %b, %c, %c : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<16xf16>, tensor<16xf16>) -> tensor<4x16xf16>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %c: tensor<4x16xf16>, %d: tensor<8xf16>) {
  // expected-error@below {{has a bias 'tensor<8xf16>', expected none, or of add a row of 16}}
  %0 = dtc.matmul_epilogue add %a, %b, %c, %d : (tensor<4x8xf16>, tensor<8x16xf16>, tensor<4x16xf16>, tensor<8xf16>) -> tensor<4x16xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %d: tensor<3x16xbf16>) {
  // expected-error@below {{is a product of 'tensor<4x8xbf16>' and 'tensor<3x16xbf16>', expected matrices whose contracted sizes agree}}
  %0:2 = dtc.matmul_bias_grad %x, %d {transpose_lhs} : (tensor<4x8xbf16>, tensor<3x16xbf16>) -> (tensor<8x16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %d: tensor<4x16xf16>) {
  // expected-error@below {{has elements of 'bf16' and 'f16', expected both f16 or both bf16}}
  %0:2 = dtc.matmul_bias_grad %x, %d {transpose_lhs} : (tensor<4x8xbf16>, tensor<4x16xf16>) -> (tensor<8x16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %d: tensor<4x16xbf16>) {
  // expected-error@below {{has results of types 'tensor<8x16xf32>', 'tensor<16xf32>', expected 8 x 16 and 8 of f32}}
  %0:2 = dtc.matmul_bias_grad %x, %d {transpose_lhs, of_lhs} : (tensor<4x8xbf16>, tensor<4x16xbf16>) -> (tensor<8x16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %d: tensor<16x4xbf16>) {
  // expected-error@below {{sums along rows, expected the sum of rows}}
  %0:2 = dtc.matmul_bias_grad %x, %d {transpose_lhs, transpose_rhs} : (tensor<4x8xbf16>, tensor<16x4xbf16>) -> (tensor<8x16xf32>, tensor<16xf32>)
  return
}
