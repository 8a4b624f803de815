// Attention without a library becomes products of blocks. Unit tests compare
// the numbers of each function here with those of the op.
// RUN: dtc-opt %s --dtc-divide-attention=max-block=4096 | FileCheck %s
// RUN: dtc-opt %s --dtc-divide-attention | FileCheck %s --check-prefix=WHOLE
// RUN: dtc-opt %s --dtc-divide-attention="max-block=1024 min-queries=4" | FileCheck %s --check-prefix=QUERIES

#mesh = #dtc.mesh<dp=2, tp=2>
#all = #dtc.layout<#mesh>
#samples = #dtc.layout<#mesh, dp: split(0)>
#heads = #dtc.layout<#mesh, dp: split(0), tp: split(2)>
#rows = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
#queries = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
#queries_lse = #dtc.layout<#mesh, dp: split(0), tp: split(2)>
#summed = #dtc.layout<#mesh, dp: split(0), tp: partial>

// A rank has two samples of two heads with 16 x 16 scores, 2 KiB a sample: both
// at a time. Nothing is sliced.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     dtc.slice
// CHECK:         %[[Q:.*]] = dtc.transpose %arg0 [0, 2, 1, 3] : (tensor<4x16x4x8xf32, #{{.*}}>) -> tensor<4x4x16x8xf32, #[[HEADS:.*]]>
// CHECK:         %[[K:.*]] = dtc.transpose %arg1
// CHECK:         %[[V:.*]] = dtc.transpose %arg2
// CHECK:         %[[S:.*]] = dtc.matmul %[[Q]], %[[K]] {transpose_rhs} : {{.*}} -> tensor<4x4x16x16xf32, #[[HEADS]]>
// CHECK:         %[[T:.*]] = dtc.mul %[[S]]
// CHECK:         %[[SEEN:.*]] = dtc.compare ge
// CHECK:         %[[M:.*]] = dtc.select %[[SEEN]], %[[T]]
// CHECK:         %[[MAX:.*]] = dtc.reduce_max %[[M]] axes [3]
// CHECK:         %[[D:.*]] = dtc.sub %[[M]], %[[MAX]]
// CHECK:         %[[E:.*]] = dtc.exp %[[D]]
// CHECK:         %[[SUM:.*]] = dtc.reduce_sum %[[E]] axes [3]
// CHECK:         %[[P:.*]] = dtc.div %[[E]], %[[SUM]]
// CHECK:         %[[Y:.*]] = dtc.matmul %[[P]], %[[V]] :
// CHECK:         dtc.transpose %[[Y]] [0, 2, 1, 3]
// The gradient makes the scores again, and p is no operand of the other half.
// CHECK:         dtc.matmul {{.*}} {transpose_rhs}
// CHECK:         dtc.reduce_max
// CHECK:         dtc.matmul {{.*}} {transpose_rhs}
// CHECK:         dtc.matmul %{{[0-9]*}}, %{{[0-9]*}} :
// CHECK:         dtc.matmul {{.*}} {transpose_lhs}
// CHECK:         dtc.matmul {{.*}} {transpose_lhs}
// CHECK-NOT:     dtc.attention
func.func @whole(%q: tensor<4x16x4x8xf32, #heads>, %k: tensor<4x16x4x8xf32, #heads>, %v: tensor<4x16x4x8xf32, #heads>, %dy: tensor<4x16x4x8xf32, #heads>) -> (tensor<4x16x4x8xf32, #heads>, tensor<4x4x16xf32, #rows>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>) {
  %y, %lse = dtc.attention %q, %k, %v {causal, divided, scale = 0.35 : f64} : (tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>) -> (tensor<4x16x4x8xf32, #heads>, tensor<4x4x16xf32, #rows>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %y, %lse, %dy {causal, divided, scale = 0.35 : f64} : (tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>, tensor<4x4x16xf32, #rows>, tensor<4x16x4x8xf32, #heads>) -> (tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>)
  return %y, %lse, %dq, %dk, %dv : tensor<4x16x4x8xf32, #heads>, tensor<4x4x16xf32, #rows>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>, tensor<4x16x4x8xf32, #heads>
}

// Each rank's six samples in blocks of two: the largest size that divides them
// and fits. A block is a view. Keys that pad each sample are hidden, perhaps all
// of them.
// CHECK-LABEL: func.func @samples
// CHECK:         dtc.reshape %{{.*}} : (tensor<12x2x12x6xf32, #{{.*}}>) -> tensor<2x3x2x1x1x2x12x6xf32,
// CHECK-NEXT:    dtc.slice %{{.*}} axis 1 from 0 {view} : {{.*}} -> tensor<2x1x2x1x1x2x12x6xf32,
// CHECK-NEXT:    dtc.reshape %{{.*}} -> tensor<4x2x12x6xf32,
// CHECK:         dtc.matmul %{{.*}} {transpose_rhs} : {{.*}} -> tensor<4x2x12x20xf32,
// CHECK:         dtc.slice {{.*}} from 1 {view}
// CHECK:         dtc.slice {{.*}} from 2 {view}
// CHECK:         dtc.concat %{{[0-9]*}}, %{{[0-9]*}}, %{{[0-9]*}} axis 1 : {{.*}} -> tensor<2x3x2x1x1x2x12x10xf32,
// CHECK-NOT:     dtc.attention
// WHOLE-LABEL: func.func @samples
// WHOLE-NOT:     dtc.slice
func.func @samples(%q: tensor<12x12x2x6xf32, #samples>, %k: tensor<12x20x2x6xf32, #samples>, %v: tensor<12x20x2x10xf32, #samples>, %mask: tensor<12x1x1x20xf32, #samples>, %dy: tensor<12x12x2x10xf32, #samples>) -> (tensor<12x12x2x10xf32, #samples>, tensor<12x2x12xf32, #samples>, tensor<12x12x2x6xf32, #samples>, tensor<12x20x2x6xf32, #samples>, tensor<12x20x2x10xf32, #samples>) {
  %y, %lse = dtc.attention %q, %k, %v, %mask {divided, scale = 0.5 : f64} : (tensor<12x12x2x6xf32, #samples>, tensor<12x20x2x6xf32, #samples>, tensor<12x20x2x10xf32, #samples>, tensor<12x1x1x20xf32, #samples>) -> (tensor<12x12x2x10xf32, #samples>, tensor<12x2x12xf32, #samples>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %mask, %y, %lse, %dy {divided, scale = 0.5 : f64} : (tensor<12x12x2x6xf32, #samples>, tensor<12x20x2x6xf32, #samples>, tensor<12x20x2x10xf32, #samples>, tensor<12x1x1x20xf32, #samples>, tensor<12x12x2x10xf32, #samples>, tensor<12x2x12xf32, #samples>, tensor<12x12x2x10xf32, #samples>) -> (tensor<12x12x2x6xf32, #samples>, tensor<12x20x2x6xf32, #samples>, tensor<12x20x2x10xf32, #samples>)
  return %y, %lse, %dq, %dk, %dv : tensor<12x12x2x10xf32, #samples>, tensor<12x2x12xf32, #samples>, tensor<12x12x2x6xf32, #samples>, tensor<12x20x2x6xf32, #samples>, tensor<12x20x2x10xf32, #samples>
}

// One sample is too much: two of a rank's four groups, each of two heads, whose
// queries meet the keys of the group in one product.
// CHECK-LABEL: func.func @groups
// CHECK:         dtc.reshape %{{.*}} : (tensor<4x8x32x4xf32, #{{.*}}>) -> tensor<2x2x1x2x2x2x32x4xf32,
// CHECK-NEXT:    dtc.slice %{{.*}} axis 1 from 0 {view}
// CHECK-NEXT:    dtc.slice %{{.*}} axis 4 from 0 {view} : {{.*}} -> tensor<2x1x1x2x1x2x32x4xf32,
// CHECK-NEXT:    dtc.reshape %{{.*}} -> tensor<2x4x32x4xf32,
// CHECK:         dtc.matmul %{{.*}} {transpose_rhs} : {{.*}} -> tensor<2x4x32x16xf32,
// CHECK:         dtc.reshape %{{.*}} -> tensor<2x8x16x16xf32,
// CHECK:         dtc.concat %{{[0-9]*}}, %{{[0-9]*}} axis 4
// CHECK:         dtc.concat %{{[0-9]*}}, %{{[0-9]*}} axis 1
// CHECK-NOT:     dtc.attention
func.func @groups(%q: tensor<4x16x16x4xf32, #heads>, %k: tensor<4x16x8x4xf32, #heads>, %v: tensor<4x16x8x4xf32, #heads>, %mask: tensor<4x16x16x16xf32, #rows>, %dy: tensor<4x16x16x4xf32, #heads>) -> (tensor<4x16x16x4xf32, #heads>, tensor<4x16x16xf32, #rows>, tensor<4x16x16x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>) {
  %y, %lse = dtc.attention %q, %k, %v, %mask {divided, scale = 0.5 : f64} : (tensor<4x16x16x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>, tensor<4x16x16x16xf32, #rows>) -> (tensor<4x16x16x4xf32, #heads>, tensor<4x16x16xf32, #rows>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %mask, %y, %lse, %dy {divided, scale = 0.5 : f64} : (tensor<4x16x16x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>, tensor<4x16x16x16xf32, #rows>, tensor<4x16x16x4xf32, #heads>, tensor<4x16x16xf32, #rows>, tensor<4x16x16x4xf32, #heads>) -> (tensor<4x16x16x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>)
  return %y, %lse, %dq, %dk, %dv : tensor<4x16x16x4xf32, #heads>, tensor<4x16x16xf32, #rows>, tensor<4x16x16x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>, tensor<4x16x8x4xf32, #heads>
}

// Ranks have parts of the queries, and so of sums for keys and values.
// CHECK-LABEL: func.func @queries
// CHECK-NOT:     dtc.attention
// CHECK:         return
func.func @queries(%q: tensor<4x16x2x8xf32, #queries>, %k: tensor<4x16x2x8xf32, #samples>, %v: tensor<4x16x2x8xf32, #samples>, %mask: tensor<1x2x16x16xf32, #dtc.layout<#mesh, tp: split(2)>>, %dy: tensor<4x16x2x8xf32, #queries>) -> (tensor<4x16x2x8xf32, #queries>, tensor<4x2x16xf32, #queries_lse>, tensor<4x16x2x8xf32, #queries>, tensor<4x16x2x8xf32, #summed>, tensor<4x16x2x8xf32, #summed>) {
  %y, %lse = dtc.attention %q, %k, %v, %mask {divided, scale = 1.0 : f64} : (tensor<4x16x2x8xf32, #queries>, tensor<4x16x2x8xf32, #samples>, tensor<4x16x2x8xf32, #samples>, tensor<1x2x16x16xf32, #dtc.layout<#mesh, tp: split(2)>>) -> (tensor<4x16x2x8xf32, #queries>, tensor<4x2x16xf32, #queries_lse>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %mask, %y, %lse, %dy {divided, scale = 1.0 : f64} : (tensor<4x16x2x8xf32, #queries>, tensor<4x16x2x8xf32, #samples>, tensor<4x16x2x8xf32, #samples>, tensor<1x2x16x16xf32, #dtc.layout<#mesh, tp: split(2)>>, tensor<4x16x2x8xf32, #queries>, tensor<4x2x16xf32, #queries_lse>, tensor<4x16x2x8xf32, #queries>) -> (tensor<4x16x2x8xf32, #queries>, tensor<4x16x2x8xf32, #summed>, tensor<4x16x2x8xf32, #summed>)
  return %y, %lse, %dq, %dk, %dv : tensor<4x16x2x8xf32, #queries>, tensor<4x2x16xf32, #queries_lse>, tensor<4x16x2x8xf32, #queries>, tensor<4x16x2x8xf32, #summed>, tensor<4x16x2x8xf32, #summed>
}

// 16 bits: scores and their softmax are f32, what products read is not.
// CHECK-LABEL: func.func @narrow
// CHECK:         dtc.matmul {{.*}} {transpose_rhs} : (tensor<2x1x4x3xbf16, #{{.*}}>, tensor<2x1x5x3xbf16, #{{.*}}>) -> tensor<2x1x4x5xf32,
// CHECK:         dtc.div {{.*}} -> tensor<2x1x4x5xf32,
// CHECK-NEXT:    dtc.cast {{.*}} -> tensor<2x1x4x5xbf16,
// CHECK:         dtc.matmul {{.*}} : {{.*}} -> tensor<2x1x4x3xbf16,
// CHECK:         dtc.matmul {{.*}} {transpose_rhs} : {{.*}} -> tensor<2x1x4x5xf32,
// CHECK:         dtc.matmul {{.*}} {transpose_rhs} : {{.*}} -> tensor<2x1x4x5xf32,
// CHECK:         dtc.cast {{.*}} -> tensor<2x1x4x5xbf16,
// CHECK-NEXT:    dtc.matmul {{.*}} -> tensor<2x1x4x3xbf16,
func.func @narrow(%q: tensor<2x4x1x3xbf16, #samples>, %k: tensor<2x5x1x3xbf16, #samples>, %dy: tensor<2x4x1x3xbf16, #samples>) -> (tensor<2x4x1x3xbf16, #samples>, tensor<2x4x1x3xbf16, #samples>) {
  %y, %lse = dtc.attention %q, %k, %k {divided, scale = 1.0 : f64} : (tensor<2x4x1x3xbf16, #samples>, tensor<2x5x1x3xbf16, #samples>, tensor<2x5x1x3xbf16, #samples>) -> (tensor<2x4x1x3xbf16, #samples>, tensor<2x1x4xf32, #samples>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %k, %y, %lse, %dy {divided, scale = 1.0 : f64} : (tensor<2x4x1x3xbf16, #samples>, tensor<2x5x1x3xbf16, #samples>, tensor<2x5x1x3xbf16, #samples>, tensor<2x4x1x3xbf16, #samples>, tensor<2x1x4xf32, #samples>, tensor<2x4x1x3xbf16, #samples>) -> (tensor<2x4x1x3xbf16, #samples>, tensor<2x5x1x3xbf16, #samples>, tensor<2x5x1x3xbf16, #samples>)
  return %y, %dq : tensor<2x4x1x3xbf16, #samples>, tensor<2x4x1x3xbf16, #samples>
}

// Attention that a library computes stays.
// CHECK-LABEL: func.func @library
// CHECK:         dtc.attention
func.func @library(%q: tensor<2x4x1x3xf32, #samples>) -> tensor<2x4x1x3xf32, #samples> {
  %y, %lse = dtc.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<2x4x1x3xf32, #samples>, tensor<2x4x1x3xf32, #samples>, tensor<2x4x1x3xf32, #samples>) -> (tensor<2x4x1x3xf32, #samples>, tensor<2x1x4xf32, #samples>)
  return %y : tensor<2x4x1x3xf32, #samples>
}

// 18 causal queries in four blocks; the last has 3. Each block has the keys up
// to its last query, also of the mask. The blocks' gradients of keys are added.
// QUERIES-LABEL: func.func @causal_queries
// QUERIES:         %[[Q:.*]] = dtc.transpose %arg0
// QUERIES:         %[[K:.*]] = dtc.transpose %arg1
// QUERIES:         dtc.slice %[[Q]] axis 2 from 0 : {{.*}} -> tensor<4x4x5x8xf32,
// QUERIES:         dtc.slice %[[K]] axis 2 from 0 : {{.*}} -> tensor<4x2x5x8xf32,
// QUERIES:         dtc.slice %arg3 axis 2 from 0 : {{.*}} -> tensor<4x1x5x18xf32,
// QUERIES:         dtc.slice %{{.*}} axis 3 from 0 : {{.*}} -> tensor<4x1x5x5xf32,
// QUERIES:         dtc.slice %[[Q]] axis 2 from 15 : {{.*}} -> tensor<4x4x3x8xf32,
// QUERIES-NOT:     dtc.slice %[[K]] axis
// QUERIES:         dtc.constant dense<{{\[\[}}15], [16], [17]]> : tensor<3x1xi32>
// QUERIES:         dtc.concat %{{.*}} axis 2 : {{.*}} -> tensor<4x4x18x8xf32,
// QUERIES:         dtc.concat %{{.*}} axis 2 : {{.*}} -> tensor<4x4x18x1xf32,
// QUERIES:         dtc.pad %{{.*}} axis 2 at 0 : (tensor<4x2x5x8xf32, {{.*}}>) -> tensor<4x2x18x8xf32,
// QUERIES-NOT:     dtc.attention
// WHOLE-LABEL: func.func @causal_queries
// WHOLE-NOT:     dtc.slice
func.func @causal_queries(%q: tensor<4x18x4x8xf32, #samples>, %k: tensor<4x18x2x8xf32, #samples>, %v: tensor<4x18x2x8xf32, #samples>, %mask: tensor<4x1x18x18xf32, #samples>, %dy: tensor<4x18x4x8xf32, #samples>) -> (tensor<4x18x4x8xf32, #samples>, tensor<4x4x18xf32, #samples>, tensor<4x18x4x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>) {
  %y, %lse = dtc.attention %q, %k, %v, %mask {causal, divided, scale = 0.35 : f64} : (tensor<4x18x4x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>, tensor<4x1x18x18xf32, #samples>) -> (tensor<4x18x4x8xf32, #samples>, tensor<4x4x18xf32, #samples>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %mask, %y, %lse, %dy {causal, divided, scale = 0.35 : f64} : (tensor<4x18x4x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>, tensor<4x1x18x18xf32, #samples>, tensor<4x18x4x8xf32, #samples>, tensor<4x4x18xf32, #samples>, tensor<4x18x4x8xf32, #samples>) -> (tensor<4x18x4x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>)
  return %y, %lse, %dq, %dk, %dv : tensor<4x18x4x8xf32, #samples>, tensor<4x4x18xf32, #samples>, tensor<4x18x4x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>, tensor<4x18x2x8xf32, #samples>
}

// The two heads of one group have more scores than a block may: six blocks of
// four of their queries.
// QUERIES-LABEL: func.func @long
// QUERIES:         %[[Q:.*]] = dtc.transpose %arg0
// QUERIES:         %[[K:.*]] = dtc.transpose %arg1
// QUERIES:         dtc.slice %[[Q]] axis 2 from 0 : {{.*}} -> tensor<4x4x4x8xf32,
// QUERIES:         dtc.slice %[[Q]] axis 2 from 20 : {{.*}} -> tensor<4x4x4x8xf32,
// QUERIES-NOT:     dtc.slice %[[K]] axis
// QUERIES-NOT:     dtc.pad
// QUERIES-NOT:     dtc.attention
func.func @long(%q: tensor<4x24x4x8xf32, #samples>, %k: tensor<4x30x2x8xf32, #samples>, %v: tensor<4x30x2x8xf32, #samples>, %mask: tensor<4x4x24x30xf32, #samples>, %dy: tensor<4x24x4x8xf32, #samples>) -> (tensor<4x24x4x8xf32, #samples>, tensor<4x4x24xf32, #samples>, tensor<4x24x4x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>) {
  %y, %lse = dtc.attention %q, %k, %v, %mask {divided, scale = 0.35 : f64} : (tensor<4x24x4x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>, tensor<4x4x24x30xf32, #samples>) -> (tensor<4x24x4x8xf32, #samples>, tensor<4x4x24xf32, #samples>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %mask, %y, %lse, %dy {divided, scale = 0.35 : f64} : (tensor<4x24x4x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>, tensor<4x4x24x30xf32, #samples>, tensor<4x24x4x8xf32, #samples>, tensor<4x4x24xf32, #samples>, tensor<4x24x4x8xf32, #samples>) -> (tensor<4x24x4x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>)
  return %y, %lse, %dq, %dk, %dv : tensor<4x24x4x8xf32, #samples>, tensor<4x4x24xf32, #samples>, tensor<4x24x4x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>, tensor<4x30x2x8xf32, #samples>
}
