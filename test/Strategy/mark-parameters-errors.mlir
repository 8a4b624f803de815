// RUN: not dtc-opt %s --dtc-mark-parameters="no-decay=fc9.*" 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not dtc-opt %s --dtc-mark-parameters="no-decay=[" 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not dtc-opt %s --dtc-mark-parameters="lr-scale=fc9.*=2" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not dtc-opt %s --dtc-mark-parameters="lr-scale=fc1.*" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not dtc-opt %s --dtc-mark-parameters="lr-scale=fc1.*=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not dtc-opt %s --dtc-mark-parameters="lr-scale=fc1.*=2,*=0.5" 2>&1 | FileCheck %s --check-prefix=TWICE

// DECAY: error: no parameter matches --no-decay 'fc9.*'; the closest names are 'fc1.w'
// GLOB: error: cannot match names by --no-decay '[':
// SCALE: error: no parameter matches --lr-scale 'fc9.*'; the closest names are 'fc1.w'
// NUMBER: error: --lr-scale is 'fc1.*', expected GLOB=X with a number of at least 0
// NEGATIVE: error: --lr-scale is 'fc1.*=-1', expected GLOB=X with a number of at least 0
// TWICE: error: parameter 'fc1.w' matches --lr-scale 'fc1.*=2' and '*=0.5', expected one of them
func.func @forward(%w: tensor<4xf32> {dtc.parameter = "fc1.w"}) -> (tensor<4xf32> {dtc.output = "y"}) {
  return %w : tensor<4xf32>
}
