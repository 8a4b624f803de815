// The errors of the verifiers of losses, updates and boundaries.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

func.func @f(%z: tensor<8x4xf32>, %t: tensor<8xi64>, %d: tensor<f64>) {
  // expected-error@below {{result is 'tensor<4x8xf32>', expected the type of logits 'tensor<8x4xf32>'}}
  %0 = dtc.cross_entropy_grad %z, %t, %d : (tensor<8x4xf32>, tensor<8xi64>, tensor<f64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%y: tensor<8x5xf32>, %t: tensor<8x4xf32>) {
  // expected-error@below {{compares 'tensor<8x5xf32>' with 'tensor<8x4xf32>'}}
  %0 = dtc.squared_error %y, %t : (tensor<8x5xf32>, tensor<8x4xf32>) -> tensor<f64>
  return
}

// -----

func.func @f(%g: tensor<8xf32>, %n: tensor<f64>) {
  // expected-error@below {{result is 'tensor<4xf32>', expected the type of the gradient 'tensor<8xf32>'}}
  %0 = dtc.clip_by_norm %g, %n {max_norm = 1.0 : f64} : (tensor<8xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<8xf32>, %p: tensor<4xf32>) {
  // expected-error@below {{averages 'tensor<4xf32>' in 'tensor<8xf32>' to 'tensor<8xf32>', expected one type}}
  %0 = dtc.average %a, %p {decay = 0.999 : f64} : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@below {{goes from stage 1 to stage 1, expected two different stages from 0 on}}
  %0 = dtc.boundary %x from 1 to 1 : tensor<8xf32>
  return
}

// -----

func.func @f(%p: tensor<8xf32>, %lr: tensor<f64>, %m: tensor<8xf32>) {
  // expected-error@below {{has 1 results, expected 2: the parameter and each state}}
  %0 = dtc.sgd %p, %p, %lr, %m {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f64>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%p: tensor<8xf32>, %lr: tensor<f64>, %m: tensor<8xf32>) {
  // expected-error@below {{updates 'tensor<8xf32>' to 'tensor<4xf32>'}}
  %0, %1 = dtc.sgd %p, %p, %lr, %m {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f64>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%p: tensor<8xf32>, %lr: tensor<f64>, %m: tensor<4xf32>) {
  // expected-error@below {{state is 'tensor<4xf32>', expected 'tensor<8xf32>'}}
  %0, %1 = dtc.sgd %p, %p, %lr, %m {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f64>, tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%p: tensor<8xf32>, %lr: tensor<f64>, %g: tensor<4xf32>) {
  // expected-error@below {{gradient is 'tensor<4xf32>', expected 'tensor<8xf32>'}}
  %0 = dtc.sgd %p, %g, %lr {momentum = 0.9 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32>, tensor<4xf32>, tensor<f64>) -> tensor<8xf32>
  return
}
