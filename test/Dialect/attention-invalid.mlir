// The errors of attention's verifiers, each message once.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @shapes(%q: tensor<2x8x4x6xf32>, %k: tensor<2x8x4x5xf32>) {
  // expected-error@below {{has queries 'tensor<2x8x4x6xf32>', keys 'tensor<2x8x4x5xf32>' and values 'tensor<2x8x4x5xf32>', expected [batch, queries, heads, width] and twice [batch, keys, groups, width]}}
  %0:2 = dtc.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x4x5xf32>, tensor<2x8x4x5xf32>) -> (tensor<2x8x4x5xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @groups(%q: tensor<2x8x4x6xf32>, %k: tensor<2x8x3x6xf32>) {
  // expected-error@below {{has 4 heads and 3 groups, expected a multiple of these}}
  %0:2 = dtc.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x3x6xf32>, tensor<2x8x3x6xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @causal(%q: tensor<2x8x4x6xf32>, %k: tensor<2x9x4x6xf32>) {
  // expected-error@below {{is causal with 8 queries and 9 keys, expected as many}}
  %0:2 = dtc.attention %q, %k, %k {causal, scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x9x4x6xf32>, tensor<2x9x4x6xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @mask(%q: tensor<2x8x4x6xf32>, %m: tensor<1x2x8x8xf32>) {
  // expected-error@below {{has a mask 'tensor<1x2x8x8xf32>', expected one that broadcasts to [2, 4, 8, 8]}}
  %0:2 = dtc.attention %q, %q, %q, %m {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<1x2x8x8xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @mask_type(%q: tensor<2x8x4x6xf32>, %m: tensor<1x1x8x8xbf16>) {
  // expected-error@below {{has a mask 'tensor<1x1x8x8xbf16>', expected the element type of 'tensor<2x8x4x6xf32>'}}
  %0:2 = dtc.attention %q, %q, %q, %m {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<1x1x8x8xbf16>) -> (tensor<2x8x4x6xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @result(%q: tensor<2x8x4x6xf32>, %y: tensor<2x8x4x5xf32>, %lse: tensor<2x4x8xf32>) {
  // expected-error@below {{has a result or its gradient 'tensor<2x8x4x5xf32>', expected shape [2, 8, 4, 6]}}
  %0:3 = dtc.attention_grad %q, %q, %q, %y, %lse, %y {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x5xf32>, tensor<2x4x8xf32>, tensor<2x8x4x5xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>)
  return
}

// -----

func.func @lse(%q: tensor<2x8x4x6xf32>, %lse: tensor<2x8x4xf32>) {
  // expected-error@below {{has lse 'tensor<2x8x4xf32>', expected shape [2, 4, 8]}}
  %0:3 = dtc.attention_grad %q, %q, %q, %q, %lse, %q {scale = 1.0 : f64} : (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4xf32>, tensor<2x8x4x6xf32>) -> (tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>, tensor<2x8x4x6xf32>)
  return
}
