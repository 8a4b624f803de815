// RUN: not dtc-opt %s --dtc-choose-cuts="stages=2 cut=fc2,fc3" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not dtc-opt %s --dtc-choose-cuts="cut=fc2" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not dtc-opt %s --dtc-choose-cuts="stages=2 cut=fc9" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dtc-opt %s --dtc-choose-cuts="stages=3 cut=fc3,fc2" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not dtc-opt %s --dtc-choose-cuts="stages=0" 2>&1 | FileCheck %s --check-prefix=ZERO

// COUNT: error: cut at 2 nodes gives 3 stages, expected 2, --pp times --virtual-stages
// ONE: error: cut at 1 node gives 2 stages, expected 1, --pp times --virtual-stages
// NAME: error: no node 'fc9' to cut at; the closest names are 'fc1', 'fc2', 'fc3'
// ORDER: error: cut at 'fc2' leaves the stage before it empty, expected nodes in the order of the graph
// ZERO: error: cannot cut the graph into 0 pipeline stages, expected 1 to 3
func.func @forward(%x: tensor<4xf32> {dtc.input = "x"}, %w: tensor<4xf32> {dtc.parameter = "w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
  %0 = dtc.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("fc1")
  %1 = dtc.relu %0 : (tensor<4xf32>) -> tensor<4xf32> loc("fc2")
  %2 = dtc.tanh %1 : (tensor<4xf32>) -> tensor<4xf32> loc("fc3")
  return %2 : tensor<4xf32>
}
