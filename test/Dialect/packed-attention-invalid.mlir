// The errors of the verifiers of packed attention.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x16x4x3x16xbf16>) {
  // expected-error@below {{has 'tensor<2x16x4x3x16xbf16>', expected rank 5 and 3 parts in dimension 2}}
  %o, %lse = dtc.packed_attention %x {scale = 1.0 : f64} : (tensor<2x16x4x3x16xbf16>) -> (tensor<2x16x3x16xbf16>, tensor<2x3x16xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x16x3x4x16xbf16>) {
  // expected-error@below {{has 'tensor<2x16x3x4x16xbf16>', expected rank 5 and 3 parts in dimension 3}}
  %o, %lse = dtc.packed_attention %x {by_head, scale = 1.0 : f64} : (tensor<2x16x3x4x16xbf16>) -> (tensor<2x16x3x16xbf16>, tensor<2x3x16xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x16x3x4x16xbf16>, %o: tensor<2x16x4x16xbf16>, %lse: tensor<2x4x16xf32>, %do: tensor<2x16x3x16xbf16>) {
  // expected-error@below {{has a result or its gradient 'tensor<2x16x3x16xbf16>', expected shape [2, 16, 4, 16]}}
  %d = dtc.packed_attention_grad %x, %o, %lse, %do {scale = 1.0 : f64} : (tensor<2x16x3x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>, tensor<2x16x3x16xbf16>) -> tensor<2x16x3x4x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x16x3x4x16xbf16>, %o: tensor<2x16x4x16xbf16>, %lse: tensor<2x3x16xf32>) {
  // expected-error@below {{has lse 'tensor<2x3x16xf32>', expected shape [2, 4, 16]}}
  %d = dtc.packed_attention_grad %x, %o, %lse, %o {scale = 1.0 : f64} : (tensor<2x16x3x4x16xbf16>, tensor<2x16x4x16xbf16>, tensor<2x3x16xf32>, tensor<2x16x4x16xbf16>) -> tensor<2x16x3x4x16xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x16xbf16>) {
  // expected-error@below {{has 'tensor<2x16xbf16>', expected rank 5 and 3 parts in dimension 2}}
  %o, %lse = dtc.packed_attention %x {scale = 1.0 : f64} : (tensor<2x16xbf16>) -> (tensor<2x16x3x16xbf16>, tensor<2x3x16xf32>)
  return
}
