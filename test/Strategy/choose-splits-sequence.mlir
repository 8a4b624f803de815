// RUN: dtc-opt %s --dtc-choose-splits="tp=2 sp" --split-input-file -verify-diagnostics | FileCheck %s

// The stream that the first split product reads begins with the embedding.
// CHECK-LABEL: func @forward
// CHECK: dtc.gather {{.*}} {dtc.split_dims = {tp = 1 : i64}}
// CHECK-NOT: dtc.split
func.func @forward(%i: tensor<2x6xi64> {dtc.input = "i"}, %wte: tensor<10x4xf32> {dtc.parameter = "wte"},
                   %scale: tensor<4xf32> {dtc.parameter = "scale"}, %w1: tensor<4x16xf32> {dtc.parameter = "w1"},
                   %w2: tensor<16x4xf32> {dtc.parameter = "w2"}) -> tensor<12x4xf32> {
  %0 = dtc.gather %wte, %i : (tensor<10x4xf32>, tensor<2x6xi64>) -> tensor<2x6x4xf32>
  %y, %mean, %rstd = dtc.layer_norm %0, %scale, %scale {epsilon = 1.0e-5 : f64} : (tensor<2x6x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x6x4xf32>, tensor<2x6x1xf32>, tensor<2x6x1xf32>)
  %1 = dtc.reshape %y : (tensor<2x6x4xf32>) -> tensor<12x4xf32>
  %2 = dtc.matmul %1, %w1 : (tensor<12x4xf32>, tensor<4x16xf32>) -> tensor<12x16xf32>
  %3 = dtc.matmul %2, %w2 : (tensor<12x16xf32>, tensor<16x4xf32>) -> tensor<12x4xf32>
  return %3 : tensor<12x4xf32>
}

// -----

// The experts of a token, of which there is one, are no sequence.
// CHECK-LABEL: func @one_expert
// CHECK: dtc.gather {{.*}} {dtc.split_dims = {tp = 1 : i64}}
// CHECK-NOT: dtc.split
func.func @one_expert(%i: tensor<2x6xi64> {dtc.input = "i"}, %wte: tensor<10x4xf32> {dtc.parameter = "wte"},
                      %w1: tensor<4x16xf32> {dtc.parameter = "w1"}, %w2: tensor<16x4xf32> {dtc.parameter = "w2"}) -> tensor<12x4xf32> {
  %0 = dtc.gather %wte, %i : (tensor<10x4xf32>, tensor<2x6xi64>) -> tensor<2x6x4xf32>
  %1 = dtc.reshape %0 : (tensor<2x6x4xf32>) -> tensor<12x4xf32>
  %2 = dtc.reshape %1 : (tensor<12x4xf32>) -> tensor<12x1x4xf32>
  %3 = dtc.reshape %2 : (tensor<12x1x4xf32>) -> tensor<12x4xf32>
  %4 = dtc.matmul %3, %w1 : (tensor<12x4xf32>, tensor<4x16xf32>) -> tensor<12x16xf32>
  %5 = dtc.matmul %4, %w2 : (tensor<12x16xf32>, tensor<16x4xf32>) -> tensor<12x4xf32>
  return %5 : tensor<12x4xf32>
}

// -----

// The batch is no sequence, wherever it is.
// CHECK-LABEL: func @time_major
// CHECK: dtc.reshape {{.*}} {dtc.split_dims = {tp = 0 : i64}} : {{.*}} -> tensor<6x2x4xf32>
// CHECK-NOT: dtc.split
func.func @time_major(%x: tensor<2x6x3xf32> {dtc.input = "x"}, %w0: tensor<3x4xf32> {dtc.parameter = "w0"}, %scale: tensor<4xf32> {dtc.parameter = "scale"},
                      %w1: tensor<4x16xf32> {dtc.parameter = "w1"}, %w2: tensor<16x4xf32> {dtc.parameter = "w2"}) -> tensor<2x6x4xf32> {
  %0 = dtc.transpose %x [1, 0, 2] : (tensor<2x6x3xf32>) -> tensor<6x2x3xf32>
  %1 = dtc.reshape %0 : (tensor<6x2x3xf32>) -> tensor<12x3xf32>
  %2 = dtc.matmul %1, %w0 : (tensor<12x3xf32>, tensor<3x4xf32>) -> tensor<12x4xf32>
  %3 = dtc.reshape %2 : (tensor<12x4xf32>) -> tensor<6x2x4xf32>
  %y, %mean, %rstd = dtc.layer_norm %3, %scale, %scale {epsilon = 1.0e-5 : f64} : (tensor<6x2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<6x2x4xf32>, tensor<6x2x1xf32>, tensor<6x2x1xf32>)
  %7 = dtc.reshape %y : (tensor<6x2x4xf32>) -> tensor<12x4xf32>
  %8 = dtc.matmul %7, %w1 : (tensor<12x4xf32>, tensor<4x16xf32>) -> tensor<12x16xf32>
  %9 = dtc.matmul %8, %w2 : (tensor<12x16xf32>, tensor<16x4xf32>) -> tensor<12x4xf32>
  %10 = dtc.reshape %9 : (tensor<12x4xf32>) -> tensor<6x2x4xf32>
  %11 = dtc.transpose %10 [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
  return %11 : tensor<2x6x4xf32>
}

// -----

func.func @odd(%i: tensor<2x5xi64> {dtc.input = "i"}, %wte: tensor<10x4xf32> {dtc.parameter = "wte"},
               %w1: tensor<4x16xf32> {dtc.parameter = "w1"}, %w2: tensor<16x4xf32> {dtc.parameter = "w2"}) -> tensor<10x4xf32> {
  // expected-error @+1 {{has a sequence of 5 elements, which --sp cannot split over --tp 2; use a sequence length that 2 divides, or leave out --sp}}
  %0 = dtc.gather %wte, %i : (tensor<10x4xf32>, tensor<2x5xi64>) -> tensor<2x5x4xf32>
  %1 = dtc.reshape %0 : (tensor<2x5x4xf32>) -> tensor<10x4xf32>
  %2 = dtc.matmul %1, %w1 : (tensor<10x4xf32>, tensor<4x16xf32>) -> tensor<10x16xf32>
  %3 = dtc.matmul %2, %w2 : (tensor<10x16xf32>, tensor<16x4xf32>) -> tensor<10x4xf32>
  return %3 : tensor<10x4xf32>
}

// -----

// expected-error @+1 {{has no value with a sequence dimension between its split parts, expected [batch, sequence, width]; leave out --sp}}
func.func @flat(%x: tensor<8x4xf32> {dtc.input = "x"}, %w1: tensor<4x16xf32> {dtc.parameter = "w1"},
                %w2: tensor<16x4xf32> {dtc.parameter = "w2"}) -> tensor<8x4xf32> {
  %0 = dtc.matmul %x, %w1 : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// Positions that share a dimension with the batch are the sequence: the two
// experts of a position are none, although their number divides.
// CHECK-LABEL: func @experts
// CHECK: dtc.gather {{.*}} {dtc.split_dims = {tp = 1 : i64}}
// CHECK-NOT: dtc.split_dims
// CHECK: return
func.func @experts(%i: tensor<2x6xi64> {dtc.input = "i"}, %wte: tensor<10x4xf32> {dtc.parameter = "wte"},
                   %w1: tensor<4x16xf32> {dtc.parameter = "w1"}, %w2: tensor<16x4xf32> {dtc.parameter = "w2"}) -> tensor<12x2x4xf32> {
  %0 = dtc.gather %wte, %i : (tensor<10x4xf32>, tensor<2x6xi64>) -> tensor<2x6x4xf32>
  %1 = dtc.reshape %0 : (tensor<2x6x4xf32>) -> tensor<12x1x4xf32>
  %2 = dtc.broadcast %1 : (tensor<12x1x4xf32>) -> tensor<12x2x4xf32>
  %3 = dtc.reshape %2 : (tensor<12x2x4xf32>) -> tensor<24x4xf32>
  %4 = dtc.matmul %3, %w1 : (tensor<24x4xf32>, tensor<4x16xf32>) -> tensor<24x16xf32>
  %5 = dtc.matmul %4, %w2 : (tensor<24x16xf32>, tensor<16x4xf32>) -> tensor<24x4xf32>
  %6 = dtc.reshape %5 : (tensor<24x4xf32>) -> tensor<12x2x4xf32>
  return %6 : tensor<12x2x4xf32>
}
