// RUN: dtc-opt %s --dtc-choose-splits=tp=2 --split-input-file -verify-diagnostics | FileCheck %s

// An MLP: columns of the first weight with its bias, rows of the second. The
// width between blocks is normalised, and stays whole.
// CHECK-LABEL: func @mlp
// CHECK-SAME: tensor<16x4xf32> {dtc.parameter = "w1", dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: tensor<16xf32> {dtc.parameter = "b1", dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: tensor<4x16xf32> {dtc.parameter = "w2", dtc.split_dims = {tp = 1 : i64}}
// CHECK-SAME: tensor<4xf32> {dtc.parameter = "b2"}
// CHECK-SAME: tensor<4xf32> {dtc.parameter = "scale"}
func.func @mlp(%x: tensor<8x4xf32> {dtc.input = "x"}, %w1: tensor<16x4xf32> {dtc.parameter = "w1"},
               %b1: tensor<16xf32> {dtc.parameter = "b1"}, %w2: tensor<4x16xf32> {dtc.parameter = "w2"},
               %b2: tensor<4xf32> {dtc.parameter = "b2"}, %scale: tensor<4xf32> {dtc.parameter = "scale"}) -> tensor<8x4xf32> {
  %0 = dtc.matmul %x, %w1 {transpose_rhs} : (tensor<8x4xf32>, tensor<16x4xf32>) -> tensor<8x16xf32>
  %1 = dtc.add %0, %b1 : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %2 = dtc.relu %1 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = dtc.matmul %2, %w2 {transpose_rhs} : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>
  %4 = dtc.add %3, %b2 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %y, %mean, %rstd = dtc.layer_norm %4, %scale, %scale {epsilon = 1.0e-5 : f64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x1xf32>, tensor<8x1xf32>)
  return %y : tensor<8x4xf32>
}

// -----

// Three products in a row: the second width would split the second weight both
// ways, and stays whole.
// CHECK-LABEL: func @chain
// CHECK-SAME: "w1", dtc.split_dims = {tp = 1 : i64}}
// CHECK-SAME: "w2", dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: "w3"}
func.func @chain(%x: tensor<8x4xf32> {dtc.input = "x"}, %w1: tensor<4x16xf32> {dtc.parameter = "w1"},
                 %w2: tensor<16x32xf32> {dtc.parameter = "w2"}, %w3: tensor<32x4xf32> {dtc.parameter = "w3"}) -> tensor<8x4xf32> {
  %0 = dtc.matmul %x, %w1 : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %2 = dtc.matmul %1, %w3 : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Heads are the major part of queries, keys and values, through scores and
// softmax up to the rows of the output's weight.
// CHECK-LABEL: func @attention
// CHECK-SAME: "q", dtc.split_dims = {tp = 1 : i64}}
// CHECK-SAME: "k", dtc.split_dims = {tp = 1 : i64}}
// CHECK-SAME: "v", dtc.split_dims = {tp = 1 : i64}}
// CHECK-SAME: "o", dtc.split_dims = {tp = 0 : i64}}
func.func @attention(%x: tensor<6x8xf32> {dtc.input = "x"}, %wq: tensor<8x8xf32> {dtc.parameter = "q"},
                     %wk: tensor<8x8xf32> {dtc.parameter = "k"}, %wv: tensor<8x8xf32> {dtc.parameter = "v"},
                     %wo: tensor<8x8xf32> {dtc.parameter = "o"}) -> tensor<6x8xf32> {
  %q = dtc.matmul %x, %wq : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %k = dtc.matmul %x, %wk : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %v = dtc.matmul %x, %wv : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %q1 = dtc.reshape %q : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %k1 = dtc.reshape %k : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %v1 = dtc.reshape %v : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %q2 = dtc.transpose %q1 [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
  %k2 = dtc.transpose %k1 [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
  %v2 = dtc.transpose %v1 [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
  %s = dtc.matmul %q2, %k2 {transpose_rhs} : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x6xf32>
  %p = dtc.softmax %s : (tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %c = dtc.matmul %p, %v2 : (tensor<2x6x6xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
  %t = dtc.transpose %c [1, 0, 2] : (tensor<2x6x4xf32>) -> tensor<6x2x4xf32>
  %f = dtc.reshape %t : (tensor<6x2x4xf32>) -> tensor<6x8xf32>
  %y = dtc.matmul %f, %wo : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// -----

// The vocabulary: of an embedding and of the classes of a cross-entropy. A
// table that is read at constant positions is none.
// CHECK-LABEL: func @vocabulary
// CHECK-SAME: "wte", dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: "wpe"}
func.func @vocabulary(%i: tensor<2x3xi64> {dtc.input = "i"}, %t: tensor<2x3xi64> {dtc.input = "t"},
                      %wte: tensor<10x4xf32> {dtc.parameter = "wte"}, %wpe: tensor<6x4xf32> {dtc.parameter = "wpe"},
                      %scale: tensor<4xf32> {dtc.parameter = "scale"}) -> tensor<f64> {
  %0 = dtc.gather %wte, %i : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %n = dtc.constant dense<[0, 1, 2]> : tensor<3xi64> to tensor<3xi64>
  %1 = dtc.gather %wpe, %n : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %2 = dtc.add %0, %1 : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %y, %mean, %rstd = dtc.layer_norm %2, %scale, %scale {epsilon = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  %3 = dtc.reshape %y : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %4 = dtc.matmul %3, %wte {transpose_rhs} : (tensor<6x4xf32>, tensor<10x4xf32>) -> tensor<6x10xf32>
  %5 = dtc.reshape %4 : (tensor<6x10xf32>) -> tensor<2x3x10xf32>
  %6 = dtc.cross_entropy %5, %t : (tensor<2x3x10xf32>, tensor<2x3xi64>) -> tensor<f64>
  return %6 : tensor<f64>
}

// -----

// expected-error @+1 {{cannot split parameter 'w1' over --tp 2: its dimension 1 has 15 elements, which --tp has to divide; for this model --tp could be 1, 3, 5, 15; --layout 'w1=replicated' would keep it whole}}
func.func @odd(%x: tensor<8x4xf32> {dtc.input = "x"}, %w1: tensor<4x15xf32> {dtc.parameter = "w1"},
               %w2: tensor<15x4xf32> {dtc.parameter = "w2"}) -> tensor<8x4xf32> {
  %0 = dtc.matmul %x, %w1 : (tensor<8x4xf32>, tensor<4x15xf32>) -> tensor<8x15xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<8x15xf32>, tensor<15x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// expected-error @+1 {{no parameter of this model can be split over --tp 2}}
func.func @single(%x: tensor<8x4xf32> {dtc.input = "x"}, %w: tensor<4x4xf32> {dtc.parameter = "w"}) -> tensor<8x4xf32> {
  %0 = dtc.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A vocabulary may be any number: PadVocabulary pads it.
// CHECK-LABEL: func @prime
// CHECK-SAME: "wte", dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: "w1", dtc.split_dims = {tp = 1 : i64}}
// CHECK-SAME: "w2", dtc.split_dims = {tp = 0 : i64}}
func.func @prime(%i: tensor<2x3xi64> {dtc.input = "i"}, %wte: tensor<13x4xf32> {dtc.parameter = "wte"},
                 %w1: tensor<4x16xf32> {dtc.parameter = "w1"}, %w2: tensor<16x4xf32> {dtc.parameter = "w2"}) -> tensor<6x4xf32> {
  %0 = dtc.gather %wte, %i : (tensor<13x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %1 = dtc.reshape %0 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %2 = dtc.matmul %1, %w1 : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32>
  %3 = dtc.matmul %2, %w2 : (tensor<6x16xf32>, tensor<16x4xf32>) -> tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}

// -----

// One that is joined with another dimension has no end to pad. It stays whole,
// and is said to; the width, which nothing here needs whole, is split.
// CHECK-LABEL: func @joined
// CHECK-SAME: "wte", dtc.split_dims = {tp = 2 : i64}}
// expected-warning @+1 {{parameter 'wte' is not split along dimension 0: --tp 2 does not divide its 13 elements, and they cannot be padded: it is joined with another dimension}}
func.func @joined(%i: tensor<6xi64> {dtc.input = "i"}, %wte: tensor<13x3x4xf32> {dtc.parameter = "wte"},
                  %w: tensor<4x5xf32> {dtc.parameter = "w"}) -> tensor<6x5xf32> {
  %0 = dtc.reshape %wte : (tensor<13x3x4xf32>) -> tensor<39x4xf32>
  %1 = dtc.gather %0, %i : (tensor<39x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %2 = dtc.matmul %1, %w : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  return %2 : tensor<6x5xf32>
}

// -----

// Rows that are divided by their norm have no value in padding, which is zero.
// CHECK-LABEL: func @prototypes
// CHECK-SAME: "w"}
// expected-warning @+1 {{parameter 'w' is not split along dimension 0: --tp 2 does not divide its 13 elements, and they cannot be padded: sqrt (node 'norm') is not defined at the zeros of padding}}
func.func @prototypes(%x: tensor<6x4xf32> {dtc.input = "x"}, %t: tensor<6xi64> {dtc.input = "t"}, %w1: tensor<4x16xf32> {dtc.parameter = "w1"},
                      %w2: tensor<16x4xf32> {dtc.parameter = "w2"}, %w: tensor<13x4xf32> {dtc.parameter = "w"}) -> tensor<f64> {
  %0 = dtc.matmul %x, %w1 : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<6x16xf32>, tensor<16x4xf32>) -> tensor<6x4xf32>
  %2 = dtc.mul %w, %w : (tensor<13x4xf32>, tensor<13x4xf32>) -> tensor<13x4xf32>
  %3 = dtc.reduce_sum %2 axes [1] : (tensor<13x4xf32>) -> tensor<13x1xf32>
  %4 = dtc.sqrt %3 : (tensor<13x1xf32>) -> tensor<13x1xf32> loc("norm")
  %5 = dtc.div %w, %4 : (tensor<13x4xf32>, tensor<13x1xf32>) -> tensor<13x4xf32>
  %6 = dtc.matmul %1, %5 {transpose_rhs} : (tensor<6x4xf32>, tensor<13x4xf32>) -> tensor<6x13xf32>
  %l = dtc.cross_entropy %6, %t : (tensor<6x13xf32>, tensor<6xi64>) -> tensor<f64>
  return %l : tensor<f64>
}

// -----

// With a smallest number they have one: they are padded.
// CHECK-LABEL: func @smoothed
// CHECK-SAME: "w", dtc.split_dims = {tp = 0 : i64}}
func.func @smoothed(%x: tensor<6x4xf32> {dtc.input = "x"}, %t: tensor<6xi64> {dtc.input = "t"}, %w1: tensor<4x16xf32> {dtc.parameter = "w1"},
                    %w2: tensor<16x4xf32> {dtc.parameter = "w2"}, %w: tensor<13x4xf32> {dtc.parameter = "w"}) -> tensor<f64> {
  %0 = dtc.matmul %x, %w1 : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<6x16xf32>, tensor<16x4xf32>) -> tensor<6x4xf32>
  %2 = dtc.mul %w, %w : (tensor<13x4xf32>, tensor<13x4xf32>) -> tensor<13x4xf32>
  %3 = dtc.reduce_sum %2 axes [1] : (tensor<13x4xf32>) -> tensor<13x1xf32>
  %epsilon = dtc.constant dense<1.0e-5> : tensor<f32> to tensor<f32>
  %4 = dtc.add %3, %epsilon : (tensor<13x1xf32>, tensor<f32>) -> tensor<13x1xf32>
  %5 = dtc.sqrt %4 : (tensor<13x1xf32>) -> tensor<13x1xf32>
  %6 = dtc.div %w, %5 : (tensor<13x4xf32>, tensor<13x1xf32>) -> tensor<13x4xf32>
  %7 = dtc.matmul %1, %6 {transpose_rhs} : (tensor<6x4xf32>, tensor<13x4xf32>) -> tensor<6x13xf32>
  %l = dtc.cross_entropy %7, %t : (tensor<6x13xf32>, tensor<6xi64>) -> tensor<f64>
  return %l : tensor<f64>
}

// -----

// One that an op needs whole stays whole, and is said to.
// CHECK-LABEL: func @softmax
// CHECK-SAME: "wte"}
// CHECK-SAME: "w1", dtc.split_dims = {tp = 1 : i64}}
// expected-warning @+1 {{parameter 'wte' is not split along dimension 0: softmax (node 'probabilities') needs it whole}}
func.func @softmax(%i: tensor<6xi64> {dtc.input = "i"}, %wte: tensor<13x4xf32> {dtc.parameter = "wte"},
                   %w1: tensor<4x16xf32> {dtc.parameter = "w1"}, %w2: tensor<16x4xf32> {dtc.parameter = "w2"},
                   %scale: tensor<4xf32> {dtc.parameter = "scale"}) -> tensor<6x13xf32> {
  %0 = dtc.gather %wte, %i : (tensor<13x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %y, %mean, %rstd = dtc.layer_norm %0, %scale, %scale {epsilon = 1.0e-5 : f64} : (tensor<6x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<6x4xf32>, tensor<6x1xf32>, tensor<6x1xf32>)
  %1 = dtc.matmul %y, %w1 : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32>
  %2 = dtc.matmul %1, %w2 : (tensor<6x16xf32>, tensor<16x4xf32>) -> tensor<6x4xf32>
  %3 = dtc.matmul %2, %wte {transpose_rhs} : (tensor<6x4xf32>, tensor<13x4xf32>) -> tensor<6x13xf32>
  %4 = dtc.softmax %3 : (tensor<6x13xf32>) -> tensor<6x13xf32> loc("probabilities")
  return %4 : tensor<6x13xf32>
}

// -----

// Rows and columns of the weight are one class through the residual sum.
// expected-error @+1 {{no parameter of this model can be split over --tp 2}}
func.func @residual(%x: tensor<8x4xf32> {dtc.input = "x"}, %in: tensor<4x16xf32> {dtc.parameter = "in"},
                    %w: tensor<16x16xf32> {dtc.parameter = "w"}) -> tensor<8x16xf32> {
  %0 = dtc.matmul %x, %in : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = dtc.matmul %0, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %2 = dtc.add %0, %1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// -----

// Without an op that needs it whole (a norm that is spelled out), the width
// between blocks could be split too, but everything would sum over it.
// CHECK-LABEL: func @spelled
// CHECK-SAME: "scale"}
// CHECK-SAME: "w1", dtc.split_dims = {tp = 1 : i64}}
// CHECK-SAME: "w2", dtc.split_dims = {tp = 0 : i64}}
func.func @spelled(%x: tensor<8x4xf32> {dtc.input = "x"}, %in: tensor<4x12xf32> {dtc.parameter = "in"},
                   %scale: tensor<12xf32> {dtc.parameter = "scale"}, %w1: tensor<12x16xf32> {dtc.parameter = "w1"},
                   %w2: tensor<16x12xf32> {dtc.parameter = "w2"}) -> tensor<8x12xf32> {
  %h = dtc.matmul %x, %in : (tensor<8x4xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
  %q = dtc.mul %h, %h : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %s = dtc.reduce_sum %q axes [1] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %n = dtc.div %h, %s : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  %m = dtc.mul %n, %scale : (tensor<8x12xf32>, tensor<12xf32>) -> tensor<8x12xf32>
  %0 = dtc.matmul %m, %w1 : (tensor<8x12xf32>, tensor<12x16xf32>) -> tensor<8x16xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
  %2 = dtc.add %h, %1 : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  return %2 : tensor<8x12xf32>
}

// -----

// A vocabulary that is padded is not what cannot be split.
// expected-error @+1 {{cannot split parameter 'w1' over --tp 2: its dimension 1 has 15 elements, which --tp has to divide}}
func.func @padded_and_odd(%x: tensor<6x4xf32> {dtc.input = "x"}, %t: tensor<6xi64> {dtc.input = "t"}, %w: tensor<13x4xf32> {dtc.parameter = "w"},
                          %w1: tensor<4x15xf32> {dtc.parameter = "w1"}, %w2: tensor<15x4xf32> {dtc.parameter = "w2"}) -> tensor<f64> {
  %0 = dtc.matmul %x, %w1 : (tensor<6x4xf32>, tensor<4x15xf32>) -> tensor<6x15xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<6x15xf32>, tensor<15x4xf32>) -> tensor<6x4xf32>
  %2 = dtc.matmul %1, %w {transpose_rhs} : (tensor<6x4xf32>, tensor<13x4xf32>) -> tensor<6x13xf32>
  %l = dtc.cross_entropy %2, %t : (tensor<6x13xf32>, tensor<6xi64>) -> tensor<f64>
  return %l : tensor<f64>
}

// -----

// Heads of keys that are split where they are repeated are those of queries.
// CHECK-LABEL: func @repeated_keys
// CHECK-SAME: {dtc.parameter = "q", dtc.split_dims = {tp = 0 : i64}}
// CHECK-SAME: {dtc.parameter = "k"}
// CHECK-SAME: {dtc.parameter = "o", dtc.split_dims = {tp = 0 : i64}}
func.func @repeated_keys(%x: tensor<12x3xf32> {dtc.input = "x"}, %wq: tensor<8x3xf32> {dtc.parameter = "q"},
                         %wk: tensor<3x3xf32> {dtc.parameter = "k"}, %o: tensor<8x5xf32> {dtc.parameter = "o"}) -> tensor<12x5xf32> {
  %rows = dtc.constant {dtc.split_dims = {tp = 0}} dense<[0, 1, 1, 2]> : tensor<4xi64> to tensor<4xi64>
  %w = dtc.gather %wk, %rows : (tensor<3x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %0 = dtc.matmul %x, %wq {transpose_rhs} : (tensor<12x3xf32>, tensor<8x3xf32>) -> tensor<12x8xf32>
  %q = dtc.reshape %0 : (tensor<12x8xf32>) -> tensor<2x6x4x2xf32>
  %1 = dtc.matmul %x, %w {transpose_rhs} : (tensor<12x3xf32>, tensor<4x3xf32>) -> tensor<12x4xf32>
  %k = dtc.reshape %1 : (tensor<12x4xf32>) -> tensor<2x6x2x2xf32>
  %a, %lse = dtc.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<2x6x4x2xf32>, tensor<2x6x2x2xf32>, tensor<2x6x2x2xf32>) -> (tensor<2x6x4x2xf32>, tensor<2x4x6xf32>)
  %r = dtc.reshape %a : (tensor<2x6x4x2xf32>) -> tensor<12x8xf32>
  %y = dtc.matmul %r, %o : (tensor<12x8xf32>, tensor<8x5xf32>) -> tensor<12x5xf32>
  return %y : tensor<12x5xf32>
}
