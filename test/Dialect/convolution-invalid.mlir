// The errors of the verifiers of windows over images, each message once.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<6x6x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@below {{has images 'tensor<6x6x4xf32>' and positions 'tensor<2x4x4x6xf32>', expected [batch, height, width, channels] of one batch}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<6x6x4xf32>, tensor<6x3x3x4xf32>) -> tensor<2x4x4x6xf32>
  return
}

// -----

func.func @filters(%x: tensor<2x6x6x4xf32>, %w: tensor<6x4xf32>) {
  // expected-error@below {{has filters 'tensor<6x4xf32>', expected [filters, height, width, channels]}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<6x4xf32>) -> tensor<2x4x4x6xf32>
  return
}

// -----

func.func @sides(%x: tensor<2x6x6x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@below {{expected two sizes, two strides, two dilations and padding of four sides}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<6x3x3x4xf32>) -> tensor<2x4x4x6xf32>
  return
}

// -----

func.func @stride(%x: tensor<2x6x6x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@below {{window has width 3, stride 0, dilation 1 and padding 0 and 0, expected positive numbers, and padding that is not negative}}
  %0 = dtc.conv2d %x, %w strides [1, 0] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<6x3x3x4xf32>) -> tensor<2x4x4x6xf32>
  return
}

// -----

// C2 of convolutions, C1 of pooling
func.func @positions(%x: tensor<2x6x6x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@below {{window has 5 positions along the height of 6, expected 4}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<6x3x3x4xf32>) -> tensor<2x5x4x6xf32>
  return
}

// -----

// C1 of convolutions
func.func @groups(%x: tensor<2x6x6x4xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@below {{filters 'tensor<6x3x3x3xf32>' do not fit images of 4 channels: expected groups of 3 channels, as many as divide 6 filters}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<6x3x3x3xf32>) -> tensor<2x4x4x6xf32>
  return
}

// -----

// C1 of convolutions
func.func @groups_of_filters(%x: tensor<2x6x6x4xf32>, %w: tensor<5x3x3x2xf32>) {
  // expected-error@below {{filters 'tensor<5x3x3x2xf32>' do not fit images of 4 channels: expected groups of 2 channels, as many as divide 5 filters}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<5x3x3x2xf32>) -> tensor<2x4x4x5xf32>
  return
}

// -----

func.func @channels(%x: tensor<2x6x6x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@below {{positions 'tensor<2x4x4x4xf32>' do not have the 6 filters as channels}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<6x3x3x4xf32>) -> tensor<2x4x4x4xf32>
  return
}

// -----

// The same for gradients.
func.func @input_grad(%y: tensor<2x4x3x6xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@below {{window has 3 positions along the width of 6, expected 4}}
  %0 = dtc.conv2d_input_grad %y, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x4x3x6xf32>, tensor<6x3x3x4xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

func.func @filter_grad(%x: tensor<2x6x6x4xf32>, %y: tensor<2x4x4x6xf32>) {
  // expected-error@below {{filters 'tensor<6x3x3x3xf32>' do not fit images of 4 channels: expected groups of 3 channels, as many as divide 6 filters}}
  %0 = dtc.conv2d_filter_grad %x, %y strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<2x4x4x6xf32>) -> tensor<6x3x3x3xf32>
  return
}

// -----

// C2 of pooling
func.func @taps(%x: tensor<2x6x6x4xf32>) {
  // expected-error@below {{window lies in the padding at some position along the height, expected less padding}}
  %0 = dtc.max_pool2d %x kernel [2, 2] strides [2, 2] padding [2, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>) -> tensor<2x4x3x4xf32>
  return
}

// -----

func.func @pooled_channels(%x: tensor<2x6x6x4xf32>) {
  // expected-error@below {{pools 'tensor<2x6x6x4xf32>' to 'tensor<2x3x3x2xf32>', expected the same channels}}
  %0 = dtc.max_pool2d %x kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>) -> tensor<2x3x3x2xf32>
  return
}

// -----

func.func @pool_grad(%x: tensor<2x6x6x4xf32>, %y: tensor<2x3x3x4xf32>) {
  // expected-error@below {{gives 'tensor<2x6x7x4xf32>', expected the shape of 'tensor<2x6x6x4xf32>'}}
  %0 = dtc.max_pool2d_grad %x, %y kernel [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32>, tensor<2x3x3x4xf32>) -> tensor<2x6x7x4xf32>
  return
}

// -----

// C1 of batch_norm
func.func @statistics(%x: tensor<2x6x6x4xf32>, %s: tensor<4xf32>, %v: tensor<6xf32>) {
  // expected-error@below {{scale, bias, mean or variance is 'tensor<6xf32>', expected the last dimension of 'tensor<2x6x6x4xf32>'}}
  %0 = dtc.batch_norm %x, %s, %s, %s, %v {epsilon = 1.0e-5 : f64, momentum = 0.9 : f64} : (tensor<2x6x6x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<6xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

// The same for ops with layouts: sharding rules rely on the op's checks.
#mesh = #dtc.mesh<dp=2>
#r = #dtc.layout<#mesh>
#d = #dtc.layout<#mesh, dp: split(0)>
func.func @layouts(%x: tensor<2x6x6x4xf32, #d>, %w: tensor<6x3x3x0xf32, #r>) {
  // expected-error@below {{do not fit images of 4 channels: expected groups of 0 channels, as many as divide 6 filters}}
  %0 = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<2x6x6x4xf32, #d>, tensor<6x3x3x0xf32, #r>) -> tensor<2x4x4x6xf32, #d>
  return
}

// -----

func.func @stored(%x: tensor<1x4x4x2xbf16>, %w: tensor<3x1x1x2xbf16>) -> tensor<1x4x4x3xf16> {
  // expected-error @below {{gives 'tensor<1x4x4x3xf16>' from 'tensor<1x4x4x2xbf16>', expected that element type, or the one it is computed in}}
  %y = dtc.conv2d %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<1x4x4x2xbf16>, tensor<3x1x1x2xbf16>) -> tensor<1x4x4x3xf16>
  return %y : tensor<1x4x4x3xf16>
}

// -----

func.func @mixed(%x: tensor<4xf64>, %y: tensor<4xbf16>) -> tensor<4xf64> {
  // expected-error @below {{operands have one element type, f16 and bf16 counting as f32}}
  %z = dtc.add %x, %y : (tensor<4xf64>, tensor<4xbf16>) -> tensor<4xf64>
  return %z : tensor<4xf64>
}
