// RUN: dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w2=tp:split(1)' | FileCheck %s --check-prefix=COLUMNS
// RUN: dtc-opt %s --dtc-choose-splits='tp=2 layout=*.w1=replicated' | FileCheck %s --check-prefix=WHOLE
// RUN: dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=tp:replicated' | FileCheck %s --check-prefix=WHOLE

// The first two widths of three products in a row compete. The other splits
// follow from the request: the class of the dimension, and the classes that can
// still be split.

// COLUMNS: "a.w1"}
// COLUMNS-SAME: "a.w2", dtc.split_dims = {tp = 1 : i64}}
// COLUMNS-SAME: "a.w3", dtc.split_dims = {tp = 0 : i64}}
// WHOLE: "a.w1"}
// WHOLE-SAME: "a.w2", dtc.split_dims = {tp = 1 : i64}}
// WHOLE-SAME: "a.w3", dtc.split_dims = {tp = 0 : i64}}
func.func @forward(%x: tensor<8x4xf32> {dtc.input = "x"}, %w1: tensor<4x16xf32> {dtc.parameter = "a.w1"},
                   %w2: tensor<16x30xf32> {dtc.parameter = "a.w2"}, %w3: tensor<30x4xf32> {dtc.parameter = "a.w3"},
                   %scale: tensor<4xf32> {dtc.parameter = "scale"}) -> tensor<8x4xf32> {
  %0 = dtc.matmul %x, %w1 : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = dtc.matmul %0, %w2 : (tensor<8x16xf32>, tensor<16x30xf32>) -> tensor<8x30xf32>
  %2 = dtc.matmul %1, %w3 : (tensor<8x30xf32>, tensor<30x4xf32>) -> tensor<8x4xf32>
  %y, %mean, %rstd = dtc.layer_norm %2, %scale, %scale {epsilon = 1.0e-5 : f64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x1xf32>, tensor<8x1xf32>) loc("norm")
  return %y : tensor<8x4xf32>
}

// Each is one line, and says what would do.

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=b.w1=tp:split(1)' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: no parameter matches --layout 'b.w1=tp:split(1)'; the closest names are 'a.w1', 'a.w2', 'a.w3'

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=dp:split(1)' 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: --layout 'a.w1=dp:split(1)' names axis 'dp', expected tp, the one axis that splits parameters

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=split' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=split(1)' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=tp:split(x)' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: --layout is 'a.w1={{.*}}', expected GLOB=tp:split(DIMENSION), GLOB=tp:replicated or GLOB=replicated

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=tp:split(2)' 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: --layout 'a.w1=tp:split(2)' splits dimension 2 of parameter 'a.w1', which has type 'tensor<4x16xf32>' and dimensions below 2

// RUN: not dtc-opt %s --dtc-choose-splits='tp=4 layout=a.w2=tp:split(1)' 2>&1 | FileCheck %s --check-prefix=DIVIDE
// DIVIDE: cannot split parameter 'a.w2' over --tp 4: its dimension 1 has 30 elements, which --tp has to divide; for this model --tp could be 1, 2, 3, 5, 6, 10, 15, 30; --layout 'a.w2=replicated' would keep it whole

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=tp:split(1),a.w2=replicated' 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: cannot split dimension 1 of parameter 'a.w1' (--layout 'a.w1=tp:split(1)') and keep parameter 'a.w2' (--layout 'a.w2=replicated') whole: they are split together

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=tp:split(1),a.w2=tp:split(1)' 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: cannot split both dimension 1 of parameter 'a.w1' (--layout 'a.w1=tp:split(1)') and dimension 1 of parameter 'a.w2' (--layout 'a.w2=tp:split(1)'): matmul has both, and tp can split one of them

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w3=tp:split(1)' 2>&1 | FileCheck %s --check-prefix=NEED
// NEED: cannot split dimension 1 of parameter 'a.w3' (--layout 'a.w3=tp:split(1)'): layer_norm (node 'norm') needs it whole

// RUN: not dtc-opt %s --dtc-choose-splits='tp=2 layout=a.w1=tp:split(0)' 2>&1 | FileCheck %s --check-prefix=DATA
// DATA: cannot split dimension 0 of parameter 'a.w1' (--layout 'a.w1=tp:split(0)'): it is a dimension of the data
