// RUN: dtc-opt %s --dtc-plan-memory --split-input-file --verify-diagnostics

// expected-error @below {{has no module with 'dtc.stage'}}
module {
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // expected-error @below {{has no body; schedule micro-batches first}}
  func.func private @plan()
}
}

// -----

module {
// expected-error @below {{is stage 1, expected stage 0 here}}
module @stage1 attributes {dtc.stage = 1 : i64} {
}
}

// -----

// The old value is read after it has been overwritten.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%x: tensor<4xf32>, %a: tensor<4xf32> {dtc.update = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-error @below {{overwrites a value that is still needed; compute what needs it first, or copy it}}
    %0 = dtc.accumulate %x into %a : tensor<4xf32>
    // expected-note @below {{needed here}}
    %1 = dtc.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func @plan() {
    return
  }
}
}

// -----

// In a plan: a run overwrites what a later run needs.
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%x: tensor<4xf32>, %a: tensor<4xf32> {dtc.update = 0 : i64}) -> tensor<4xf32> {
    %0 = dtc.accumulate %x into %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @plan(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{overwrites a value that is still needed}}
    %0 = dtc.run @update(%x, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{needed here}}
    %1 = dtc.run @update(%0, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{overwrites argument 1 of 'update', which does not have 'dtc.update'}}
    %0 = dtc.accumulate %x into %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @plan() {
    return
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c = dtc.constant dense<1.0> : tensor<4xf32> to tensor<4xf32>
    // expected-error @below {{overwrites a constant}}
    %0 = dtc.accumulate %x into %c : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @plan() {
    return
  }
}
}

// -----

// One operand is an argument, the other lies in the frame.
#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @update(%a: tensor<4xf32, #p> {dtc.update = 0 : i64}) -> tensor<4xf32, #r> {
    %b = dtc.neg %a : (tensor<4xf32, #p>) -> tensor<4xf32, #p>
    // expected-error @below {{has operands in and outside the frame of its function, which cannot be adjacent}}
    %0:2 = dtc.all_reduce sum %a, %b over ["dp"] : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> (tensor<4xf32, #r>, tensor<4xf32, #r>)
    return %0#0 : tensor<4xf32, #r>
  }
  func.func @plan() {
    return
  }
}
}

// -----

module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func @plan(%w: tensor<4xf32> {dtc.parameter = "w"}) {
    return
  }
}
module @eval0 attributes {dtc.program = "eval", dtc.stage = 0 : i64} {
  // expected-error @below {{argument 0 of another program is not an argument of the training step}}
  func.func @plan(%w: tensor<4xf32> {dtc.parameter = "v"}) {
    return
  }
}
}
