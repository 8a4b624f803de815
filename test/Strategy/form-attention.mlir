// RUN: dtc-opt %s --dtc-form-attention --split-input-file | FileCheck %s

// Scores are scaled; a constant mask hides later keys.
// CHECK-LABEL: func @causal
// CHECK: %[[Q:.+]] = dtc.transpose %arg0 [0, 2, 1, 3]
// CHECK: %[[K:.+]] = dtc.transpose %arg1 [0, 2, 1, 3]
// CHECK: %[[V:.+]] = dtc.transpose %arg2 [0, 2, 1, 3]
// CHECK: %[[Y:.+]], %{{.+}} = dtc.attention %[[Q]], %[[K]], %[[V]] {causal, scale = 5.000000e-01 : f64}
// CHECK: %[[R:.+]] = dtc.transpose %[[Y]] [0, 2, 1, 3]
// CHECK: return %[[R]]
func.func @causal(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %half = dtc.constant dense<0.5> : tensor<f32> to tensor<f32>
  %mask = dtc.constant dense<[[0.0, 0xFF800000, -3.4e38], [0.0, 0.0, -3.4e38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32> to tensor<3x3xf32>
  %0 = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %1 = dtc.mul %0, %half : (tensor<2x4x3x3xf32>, tensor<f32>) -> tensor<2x4x3x3xf32>
  %2 = dtc.add %1, %mask : (tensor<2x4x3x3xf32>, tensor<3x3xf32>) -> tensor<2x4x3x3xf32>
  %3 = dtc.softmax %2 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %4 = dtc.matmul %3, %v : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %4 : tensor<2x4x3x8xf32>
}

// -----

// Queries and keys are scaled each, rows that are NaN become zero, and keys are
// repeated, then transposed; a mask of zeros goes.
// CHECK-LABEL: func @groups
// CHECK-DAG: %[[K:.+]] = dtc.reshape %arg1 : (tensor<2x2x1x3x8xf32>) -> tensor<2x2x3x8xf32>
// CHECK-DAG: %[[KT:.+]] = dtc.transpose %[[K]] [0, 2, 1, 3]
// CHECK-DAG: %[[V:.+]] = dtc.reshape %arg2 : (tensor<2x2x1x3x8xf32>) -> tensor<2x2x3x8xf32>
// CHECK-DAG: %[[VT:.+]] = dtc.transpose %[[V]] [0, 2, 1, 3]
// CHECK: dtc.attention %{{.+}}, %[[KT]], %[[VT]] {scale = 2.500000e-01 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>)
func.func @groups(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x1x3x8xf32>, %v: tensor<2x2x1x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %half = dtc.constant dense<0.5> : tensor<f32> to tensor<f32>
  %two = dtc.constant dense<2.0> : tensor<f32> to tensor<f32>
  %none = dtc.constant dense<0.0> : tensor<1x1x1x1xf32> to tensor<1x1x1x1xf32>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %kb = dtc.broadcast %k : (tensor<2x2x1x3x8xf32>) -> tensor<2x2x2x3x8xf32>
  %vb = dtc.broadcast %v : (tensor<2x2x1x3x8xf32>) -> tensor<2x2x2x3x8xf32>
  %k3 = dtc.reshape %kb : (tensor<2x2x2x3x8xf32>) -> tensor<8x3x8xf32>
  %kt = dtc.transpose %k3 [0, 2, 1] : (tensor<8x3x8xf32>) -> tensor<8x8x3xf32>
  %k4 = dtc.reshape %kt : (tensor<8x8x3xf32>) -> tensor<2x4x8x3xf32>
  %v4 = dtc.reshape %vb : (tensor<2x2x2x3x8xf32>) -> tensor<2x4x3x8xf32>
  %qs = dtc.mul %q, %half : (tensor<2x4x3x8xf32>, tensor<f32>) -> tensor<2x4x3x8xf32>
  %ks = dtc.div %k4, %two : (tensor<2x4x8x3xf32>, tensor<f32>) -> tensor<2x4x8x3xf32>
  %0 = dtc.matmul %qs, %ks : (tensor<2x4x3x8xf32>, tensor<2x4x8x3xf32>) -> tensor<2x4x3x3xf32>
  %1 = dtc.add %0, %none : (tensor<2x4x3x3xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x3x3xf32>
  %2 = dtc.softmax %1 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %3 = dtc.compare ne %2, %2 : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xi1>
  %4 = dtc.select %3, %zero, %2 : (tensor<2x4x3x3xi1>, tensor<f32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %5 = dtc.matmul %4, %v4 : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %5 : tensor<2x4x3x8xf32>
}

// -----

// Keys and values of one group, repeated beside a dimension of size 1.
// CHECK-LABEL: func @one_group
// CHECK: dtc.attention %{{.+}}, %{{.+}}, %{{.+}} {scale = 1.000000e+00 : f64} : (tensor<2x3x4x8xf32>, tensor<2x3x1x8xf32>, tensor<2x3x1x8xf32>)
func.func @one_group(%q: tensor<2x4x3x8xf32>, %k: tensor<2x1x1x1x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %0 = dtc.broadcast %k : (tensor<2x1x1x1x3x8xf32>) -> tensor<2x1x4x1x3x8xf32>
  %1 = dtc.reshape %0 : (tensor<2x1x4x1x3x8xf32>) -> tensor<2x4x3x8xf32>
  %s = dtc.matmul %q, %1 {transpose_rhs} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = dtc.softmax %s : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %o = dtc.matmul %p, %1 : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %o : tensor<2x4x3x8xf32>
}

// -----

// Heads 0 and 2 have one group, which is no group of neighbours; and samples
// that share keys are no heads.
// CHECK-LABEL: func @other_repeats
// CHECK-COUNT-2: dtc.attention {{.*}} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>)
func.func @other_repeats(%q: tensor<2x4x3x8xf32>, %k: tensor<2x1x2x3x8xf32>, %c: tensor<1x1x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) {
  %0 = dtc.broadcast %k : (tensor<2x1x2x3x8xf32>) -> tensor<2x2x2x3x8xf32>
  %1 = dtc.reshape %0 : (tensor<2x2x2x3x8xf32>) -> tensor<2x4x3x8xf32>
  %s = dtc.matmul %q, %1 {transpose_rhs} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = dtc.softmax %s : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %o = dtc.matmul %p, %1 : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  %2 = dtc.broadcast %c : (tensor<1x1x4x3x8xf32>) -> tensor<2x1x4x3x8xf32>
  %3 = dtc.reshape %2 : (tensor<2x1x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  %t = dtc.matmul %q, %3 {transpose_rhs} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %u = dtc.softmax %t : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %x = dtc.matmul %u, %3 : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %o, %x : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>
}

// -----

// Scores without heads; where a condition of the input does not hold, a number
// that absorbs them.
// CHECK-LABEL: func @condition
// CHECK-DAG: %[[Z:.+]] = dtc.constant dense<0.000000e+00>
// CHECK-DAG: %[[F:.+]] = dtc.constant dense<-1.000000e+30>
// CHECK: %[[M:.+]] = dtc.select %arg3, %[[Z]], %[[F]]
// CHECK: %[[M4:.+]] = dtc.reshape %[[M]] : (tensor<2x1x5xf32>) -> tensor<2x1x1x5xf32>
// CHECK: dtc.attention %{{.+}}, %{{.+}}, %{{.+}}, %[[M4]] {scale = 1.000000e+00 : f64} : (tensor<2x3x1x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x1x8xf32>, tensor<2x1x1x5xf32>)
func.func @condition(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>, %c: tensor<2x1x5xi1>) -> tensor<2x3x8xf32> {
  %fill = dtc.constant dense<-1.0e30> : tensor<f32> to tensor<f32>
  %0 = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x3x8xf32>, tensor<2x5x8xf32>) -> tensor<2x3x5xf32>
  %1 = dtc.select %c, %0, %fill : (tensor<2x1x5xi1>, tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
  %2 = dtc.softmax %1 : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %3 = dtc.matmul %2, %v : (tensor<2x3x5xf32>, tensor<2x5x8xf32>) -> tensor<2x3x8xf32>
  return %3 : tensor<2x3x8xf32>
}

// -----

// Not formed: a mask that trains, a fill that scores can exceed, scores that are
// used elsewhere.
// CHECK-LABEL: func @not_formed
// CHECK-NOT: dtc.attention
func.func @not_formed(%q: tensor<2x3x8xf32>, %bias: tensor<3x3xf32> {dtc.parameter = "bias"}, %c: tensor<3x3xi1>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x3xf32>) {
  %fill = dtc.constant dense<-1.0e4> : tensor<f32> to tensor<f32>
  %0 = dtc.matmul %q, %q {transpose_rhs} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x3xf32>
  %1 = dtc.add %0, %bias : (tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
  %2 = dtc.softmax %1 : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %3 = dtc.matmul %2, %q : (tensor<2x3x3xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %4 = dtc.matmul %q, %q {transpose_rhs} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x3xf32>
  %5 = dtc.select %c, %4, %fill : (tensor<3x3xi1>, tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3x3xf32>
  %6 = dtc.softmax %5 : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %7 = dtc.matmul %6, %q : (tensor<2x3x3xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = dtc.matmul %q, %q {transpose_rhs} : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x3xf32>
  %9 = dtc.softmax %8 : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %10 = dtc.matmul %9, %q : (tensor<2x3x3xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %3, %7, %10, %8 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x3xf32>
}

// -----

// A mask that is made of positions for each sample is what it is for one.
// CHECK-LABEL: func.func @causal_by_positions
// CHECK: dtc.attention %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} {causal, scale = 1.000000e+00 : f64} :
// CHECK-NOT: dtc.softmax
// CHECK-NOT: dtc.known
func.func @causal_by_positions(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %positions = dtc.constant dense<[[0, 1, 2]]> : tensor<1x3xi64> to tensor<1x3xi64>
  %each = dtc.broadcast %positions : (tensor<1x3xi64>) -> tensor<2x3xi64>
  %rows = dtc.reshape %each : (tensor<2x3xi64>) -> tensor<2x1x3x1xi64>
  %columns = dtc.reshape %each : (tensor<2x3xi64>) -> tensor<2x1x1x3xi64>
  %seen = dtc.compare le %columns, %rows : (tensor<2x1x1x3xi64>, tensor<2x1x3x1xi64>) -> tensor<2x1x3x3xi1>
  %true = dtc.constant dense<true> : tensor<i1> to tensor<i1>
  %both = dtc.logical_and %true, %seen : (tensor<i1>, tensor<2x1x3x3xi1>) -> tensor<2x1x3x3xi1>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %least = dtc.constant dense<-3.40282347E+38> : tensor<f32> to tensor<f32>
  %mask = dtc.select %both, %zero, %least : (tensor<2x1x3x3xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x3x3xf32>
  %scores = dtc.matmul %q, %k {transpose_rhs} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %masked = dtc.add %scores, %mask : (tensor<2x4x3x3xf32>, tensor<2x1x3x3xf32>) -> tensor<2x4x3x3xf32>
  %weights = dtc.softmax %masked : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %r = dtc.matmul %weights, %v : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// -----

// A part that differs from sample to sample stays the mask; a part that does
// not is a constant. Here rows see one column before them, too.
// CHECK-LABEL: func.func @other_masks
// CHECK: %[[CONSTANT:.*]] = dtc.constant dense<{{.*}}-0.000000e+00, -0.000000e+00, -1.000000e+30], [-0.000000e+00, -0.000000e+00, -0.000000e+00], [-0.000000e+00, -0.000000e+00, -0.000000e+00]]]]> : tensor<1x1x3x3xf32>
// CHECK: %[[WINDOW:.*]] = dtc.reshape %[[CONSTANT]]
// CHECK: dtc.attention %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[WINDOW]] {
// CHECK: %[[SELECT:.*]] = dtc.select
// CHECK: %[[OWN:.*]] = dtc.reshape %[[SELECT]]
// CHECK: dtc.attention %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[OWN]] {
func.func @other_masks(%q: tensor<2x4x3x8xf32>, %lengths: tensor<2x1x1x1xi64>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) {
  %positions = dtc.constant dense<[[0, 1, 2]]> : tensor<1x3xi64> to tensor<1x3xi64>
  %each = dtc.broadcast %positions : (tensor<1x3xi64>) -> tensor<2x3xi64>
  %rows = dtc.reshape %each : (tensor<2x3xi64>) -> tensor<2x1x3x1xi64>
  %columns = dtc.reshape %each : (tensor<2x3xi64>) -> tensor<2x1x1x3xi64>
  %one = dtc.constant dense<1> : tensor<i64> to tensor<i64>
  %last = dtc.add %rows, %one : (tensor<2x1x3x1xi64>, tensor<i64>) -> tensor<2x1x3x1xi64>
  %hidden = dtc.compare gt %columns, %last : (tensor<2x1x1x3xi64>, tensor<2x1x3x1xi64>) -> tensor<2x1x3x3xi1>
  %number = dtc.cast %hidden : (tensor<2x1x3x3xi1>) -> tensor<2x1x3x3xf32>
  %least = dtc.constant dense<-1.0e+30> : tensor<f32> to tensor<f32>
  %window = dtc.mul %number, %least : (tensor<2x1x3x3xf32>, tensor<f32>) -> tensor<2x1x3x3xf32>
  %0 = dtc.matmul %q, %q {transpose_rhs} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %1 = dtc.add %0, %window : (tensor<2x4x3x3xf32>, tensor<2x1x3x3xf32>) -> tensor<2x4x3x3xf32>
  %2 = dtc.softmax %1 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %3 = dtc.matmul %2, %q : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>

  %isPadding = dtc.compare ge %columns, %lengths : (tensor<2x1x1x3xi64>, tensor<2x1x1x1xi64>) -> tensor<2x1x1x3xi1>
  %zero = dtc.constant dense<0.0> : tensor<f32> to tensor<f32>
  %padding = dtc.select %isPadding, %least, %zero : (tensor<2x1x1x3xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x1x3xf32>
  %4 = dtc.matmul %q, %q {transpose_rhs} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %5 = dtc.add %4, %padding : (tensor<2x4x3x3xf32>, tensor<2x1x1x3xf32>) -> tensor<2x4x3x3xf32>
  %6 = dtc.softmax %5 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %7 = dtc.matmul %6, %q : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %3, %7 : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>
}
