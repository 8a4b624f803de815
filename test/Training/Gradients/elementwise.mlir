// RUN: dtc-opt %s --dtc-differentiate --split-input-file | FileCheck %s

// Gradients: one rule for each elementwise op; broadcast operands get a sum.

// CHECK-LABEL: module @neg
// CHECK: %[[Y:.+]] = dtc.neg
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.neg %[[G]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @neg {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.neg %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @abs
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.abs
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.neg %[[G]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.compare lt %[[X]], %[[V1]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = dtc.select %[[V3]], %[[V2]], %[[V4]] :
// CHECK-NEXT: %[[V6:.+]] = dtc.compare gt %[[X]], %[[V1]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.select %[[V6]], %[[G]], %[[V5]] :
// CHECK-NEXT: return %[[L]], %[[V7]]
module @abs {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.abs %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @exp
// CHECK: %[[Y:.+]] = dtc.exp
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[G]], %[[Y]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @exp {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @log
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.log
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.div %[[G]], %[[X]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @log {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.log %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @sqrt
// CHECK: %[[Y:.+]] = dtc.sqrt
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.div %[[V2]], %[[Y]] :
// CHECK-NEXT: return %[[L]], %[[V3]]
module @sqrt {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.sqrt %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @reciprocal
// CHECK: %[[Y:.+]] = dtc.reciprocal
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[Y]], %[[Y]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.neg %[[V2]] :
// CHECK-NEXT: return %[[L]], %[[V3]]
module @reciprocal {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.reciprocal %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @tanh
// CHECK: %[[Y:.+]] = dtc.tanh
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[Y]], %[[Y]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.sub %[[V1]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.mul %[[G]], %[[V3]] :
// CHECK-NEXT: return %[[L]], %[[V4]]
module @tanh {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.tanh %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @erf
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.erf
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[X]], %[[X]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.neg %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.exp %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.constant dense<1.12837923> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = dtc.mul %[[V3]], %[[V4]] :
// CHECK-NEXT: %[[V6:.+]] = dtc.mul %[[G]], %[[V5]] :
// CHECK-NEXT: return %[[L]], %[[V6]]
module @erf {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.erf %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @sigmoid
// CHECK: %[[Y:.+]] = dtc.sigmoid
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.sub %[[V1]], %[[Y]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[Y]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.mul %[[G]], %[[V3]] :
// CHECK-NEXT: return %[[L]], %[[V4]]
module @sigmoid {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @relu
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.relu
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.compare gt %[[Y]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = dtc.select %[[V2]], %[[G]], %[[V3]] :
// CHECK-NEXT: return %[[L]], %[[V4]]
module @relu {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @sin
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.sin
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.cos %[[X]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[V1]] :
// CHECK-NEXT: return %[[L]], %[[V2]]
module @sin {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.sin %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @cos
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.cos
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.sin %[[X]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.neg %[[V2]] :
// CHECK-NEXT: return %[[L]], %[[V3]]
module @cos {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.cos %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @atan
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.atan
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[X]], %[[X]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V3:.+]] = dtc.add %[[V1]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.div %[[G]], %[[V3]] :
// CHECK-NEXT: return %[[L]], %[[V4]]
module @atan {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.atan %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @floor
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[F:.+]] = dtc.floor %[[X]]
// CHECK: %[[Y:.+]] = dtc.mul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[G]], %[[F]] :
// CHECK: return %[[L]], %[[V1]]
module @floor {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %f = dtc.floor %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %y = dtc.mul %x, %f : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @cast
// CHECK: %[[Y:.+]] = dtc.cast
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.cast %[[G]] :
// CHECK-NEXT: return %[[L]], %[[V1]]
module @cast {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.cast %x : (tensor<2x4xf32>) -> tensor<2x4xf64>
    %l = dtc.sum_squares %y : (tensor<2x4xf64>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @add
// CHECK: %[[Y:.+]] = dtc.add
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.reduce_sum %[[G]] axes [0] :
// CHECK-NEXT: %[[V2:.+]] = dtc.reshape %[[V1]] :
// CHECK-NEXT: return %[[L]], %[[G]], %[[V2]]
module @add {
  func.func @step(%a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.add %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @sub
// CHECK: %[[Y:.+]] = dtc.sub
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.neg %[[G]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.reduce_sum %[[V1]] axes [0] :
// CHECK-NEXT: %[[V3:.+]] = dtc.reshape %[[V2]] :
// CHECK-NEXT: return %[[L]], %[[G]], %[[V3]]
module @sub {
  func.func @step(%a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.sub %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @mul
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.+]] = dtc.mul
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.mul %[[G]], %[[B]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[A]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.reduce_sum %[[V2]] axes [0] :
// CHECK-NEXT: %[[V4:.+]] = dtc.reshape %[[V3]] :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V4]]
module @mul {
  func.func @step(%a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.mul %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @div
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.+]] = dtc.div
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.div %[[G]], %[[B]] :
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[V1]], %[[Y]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.neg %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.reduce_sum %[[V3]] axes [0] :
// CHECK-NEXT: %[[V5:.+]] = dtc.reshape %[[V4]] :
// CHECK-NEXT: return %[[L]], %[[V1]], %[[V5]]
module @div {
  func.func @step(%a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.div %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @pow
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.+]] = dtc.pow
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.sub %[[B]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.pow %[[A]], %[[V2]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = dtc.mul %[[B]], %[[V3]] :
// CHECK-NEXT: %[[V6:.+]] = dtc.mul %[[G]], %[[V5]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.compare ne %[[B]], %[[V4]] :
// CHECK-NEXT: %[[V8:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V9:.+]] = dtc.select %[[V7]], %[[V6]], %[[V8]] :
// CHECK-NEXT: %[[V10:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V11:.+]] = dtc.compare eq %[[A]], %[[V10]] :
// CHECK-NEXT: %[[V12:.+]] = dtc.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V13:.+]] = dtc.select %[[V11]], %[[V12]], %[[A]] :
// CHECK-NEXT: %[[V14:.+]] = dtc.log %[[V13]] :
// CHECK-NEXT: %[[V15:.+]] = dtc.mul %[[Y]], %[[V14]] :
// CHECK-NEXT: %[[V16:.+]] = dtc.mul %[[G]], %[[V15]] :
// CHECK-NEXT: %[[V17:.+]] = dtc.reduce_sum %[[V16]] axes [0] :
// CHECK-NEXT: %[[V18:.+]] = dtc.reshape %[[V17]] :
// CHECK-NEXT: return %[[L]], %[[V9]], %[[V18]]
module @pow {
  func.func @step(%a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.pow %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// The exponent is lowered at compile time; 2 leaves no power.
// CHECK-LABEL: module @square
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.pow
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[X]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.mul %[[G]], %[[V2]] :
// CHECK-NEXT: return %[[L]], %[[V3]]
module @square {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %c = dtc.constant dense<2.0> : tensor<f32> to tensor<f32>
    %y = dtc.pow %x, %c : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @cube
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK: %[[Y:.+]] = dtc.pow
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.pow %[[X]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V4:.+]] = dtc.mul %[[V2]], %[[V3]] :
// CHECK-NEXT: %[[V5:.+]] = dtc.mul %[[G]], %[[V4]] :
// CHECK-NEXT: return %[[L]], %[[V5]]
module @cube {
  func.func @step(%x: tensor<2x4xf32> {dtc.parameter = "x"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %c = dtc.constant dense<3.0> : tensor<f32> to tensor<f32>
    %y = dtc.pow %x, %c : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @maximum
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.+]] = dtc.maximum
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.compare eq %[[A]], %[[B]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = dtc.select %[[V3]], %[[V2]], %[[V4]] :
// CHECK-NEXT: %[[V6:.+]] = dtc.compare gt %[[A]], %[[B]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.select %[[V6]], %[[G]], %[[V5]] :
// CHECK-NEXT: %[[V8:.+]] = dtc.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V9:.+]] = dtc.mul %[[G]], %[[V8]] :
// CHECK-NEXT: %[[V10:.+]] = dtc.compare eq %[[B]], %[[A]] :
// CHECK-NEXT: %[[V11:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V12:.+]] = dtc.select %[[V10]], %[[V9]], %[[V11]] :
// CHECK-NEXT: %[[V13:.+]] = dtc.compare gt %[[B]], %[[A]] :
// CHECK-NEXT: %[[V14:.+]] = dtc.select %[[V13]], %[[G]], %[[V12]] :
// CHECK-NEXT: %[[V15:.+]] = dtc.reduce_sum %[[V14]] axes [0] :
// CHECK-NEXT: %[[V16:.+]] = dtc.reshape %[[V15]] :
// CHECK-NEXT: return %[[L]], %[[V7]], %[[V16]]
module @maximum {
  func.func @step(%a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.maximum %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @minimum
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[Y:.+]] = dtc.minimum
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.mul %[[G]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.compare eq %[[A]], %[[B]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.+]] = dtc.select %[[V3]], %[[V2]], %[[V4]] :
// CHECK-NEXT: %[[V6:.+]] = dtc.compare lt %[[A]], %[[B]] :
// CHECK-NEXT: %[[V7:.+]] = dtc.select %[[V6]], %[[G]], %[[V5]] :
// CHECK-NEXT: %[[V8:.+]] = dtc.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT: %[[V9:.+]] = dtc.mul %[[G]], %[[V8]] :
// CHECK-NEXT: %[[V10:.+]] = dtc.compare eq %[[B]], %[[A]] :
// CHECK-NEXT: %[[V11:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V12:.+]] = dtc.select %[[V10]], %[[V9]], %[[V11]] :
// CHECK-NEXT: %[[V13:.+]] = dtc.compare lt %[[B]], %[[A]] :
// CHECK-NEXT: %[[V14:.+]] = dtc.select %[[V13]], %[[G]], %[[V12]] :
// CHECK-NEXT: %[[V15:.+]] = dtc.reduce_sum %[[V14]] axes [0] :
// CHECK-NEXT: %[[V16:.+]] = dtc.reshape %[[V15]] :
// CHECK-NEXT: return %[[L]], %[[V7]], %[[V16]]
module @minimum {
  func.func @step(%a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<4xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.minimum %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}

// -----

// CHECK-LABEL: module @select
// CHECK-NEXT: func.func @step(
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<4xi1>
// CHECK: %[[Y:.+]] = dtc.select
// CHECK: %[[L:.+]] = dtc.sum_squares
// CHECK: %[[G:.+]] = dtc.mul %[[Y]]
// CHECK-NEXT: %[[V1:.+]] = dtc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V2:.+]] = dtc.select %[[M]], %[[G]], %[[V1]] :
// CHECK-NEXT: %[[V3:.+]] = dtc.select %[[M]], %[[V1]], %[[G]] :
// CHECK-NEXT: %[[V4:.+]] = dtc.reduce_sum %[[V3]] axes [1] :
// CHECK-NEXT: return %[[L]], %[[V2]], %[[V4]]
module @select {
  func.func @step(%m: tensor<4xi1> {dtc.input = "m"}, %a: tensor<2x4xf32> {dtc.parameter = "a"}, %b: tensor<2x1xf32> {dtc.parameter = "b"}) -> (tensor<f64> {dtc.output = "loss"}) {
    %y = dtc.select %m, %a, %b : (tensor<4xi1>, tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    %l = dtc.sum_squares %y : (tensor<2x4xf32>) -> tensor<f64>
    return %l : tensor<f64>
  }
}
