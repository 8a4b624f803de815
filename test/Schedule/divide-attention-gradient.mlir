// A gradient whose scores exceed the library's workspace is that of blocks.
// Unit tests compare the numbers of each function here with those of the op.
// RUN: dtc-opt %s --dtc-divide-attention-gradient=max-scores=65536 | FileCheck %s
// RUN: dtc-opt %s --dtc-divide-attention-gradient | FileCheck %s --check-prefix=FITS
// RUN: dtc-opt %s --dtc-divide-attention-gradient=max-scores=65536 | FileCheck %s --check-prefix=SLICES

#mesh = #dtc.mesh<dp=2, tp=2>
#samples = #dtc.layout<#mesh, dp: split(0)>
#heads = #dtc.layout<#mesh, dp: split(0), tp: split(2)>
#rows = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
#queries = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
#queries_lse = #dtc.layout<#mesh, dp: split(0), tp: split(2)>
#queries_mask = #dtc.layout<#mesh, tp: split(2)>
#summed = #dtc.layout<#mesh, dp: split(0), tp: partial>

// 200 x 200 scores are 128 KiB for each of a group's two heads. Blocks of 100 x
// 100 take 64 KiB: three of the four have keys that a query sees.
// CHECK-LABEL: func.func @causal
// CHECK:         dtc.attention %{{.*}} {causal
// CHECK:         %[[A:.*]], %[[B:.*]], %{{.*}} = dtc.attention_grad {{.*}} {causal, scale = {{.*}}} : (tensor<2x100x4x2xf32, {{.*}}>, tensor<2x100x2x2xf32, {{.*}}>, tensor<2x100x2x2xf32, {{.*}}>, tensor<2x100x4x2xf32, {{.*}}>, tensor<2x4x100xf32, {{.*}}>, tensor<2x100x4x2xf32, {{.*}}>)
// CHECK:         %[[C:.*]], %[[D:.*]], %{{.*}} = dtc.attention_grad {{.*}} {scale
// CHECK:         dtc.add %[[B]], %[[D]]
// CHECK:         %[[E:.*]], %{{.*}}, %{{.*}} = dtc.attention_grad {{.*}} {causal, scale
// CHECK:         %[[Q:.*]] = dtc.add %[[C]], %[[E]]
// CHECK-NOT:     dtc.attention_grad
// CHECK:         dtc.concat %[[A]], %[[Q]] axis 1 : {{.*}} -> tensor<2x200x4x2xf32, #[[HEADS:.*]]>
// FITS-LABEL: func.func @causal
// FITS-NOT:     dtc.slice
// FITS:         dtc.attention_grad
// FITS-NOT:     dtc.attention_grad
// FITS:         return
// SLICES-LABEL: func.func @causal
// SLICES-COUNT-12: dtc.slice
// SLICES-NOT:      dtc.slice
// SLICES:          return
func.func @causal(%q: tensor<2x200x4x2xf32, #heads>, %k: tensor<2x200x2x2xf32, #heads>, %v: tensor<2x200x2x2xf32, #heads>, %dy: tensor<2x200x4x2xf32, #heads>) -> (tensor<2x200x4x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>) {
  %y, %lse = dtc.attention %q, %k, %v {causal, scale = 0.35 : f64} : (tensor<2x200x4x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>) -> (tensor<2x200x4x2xf32, #heads>, tensor<2x4x200xf32, #rows>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %y, %lse, %dy {causal, scale = 0.35 : f64} : (tensor<2x200x4x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>, tensor<2x200x4x2xf32, #heads>, tensor<2x4x200xf32, #rows>, tensor<2x200x4x2xf32, #heads>) -> (tensor<2x200x4x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>)
  return %dq, %dk, %dv : tensor<2x200x4x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>, tensor<2x200x2x2xf32, #heads>
}

// Other numbers of queries than of keys, with a mask of both: two halves of the
// queries with three thirds of the keys.
// CHECK-LABEL: func.func @masked
// CHECK:         dtc.slice %arg3 axis 2 from 0 : (tensor<2x1x260x300xf32, {{.*}}>) -> tensor<2x1x130x300xf32,
// CHECK:         dtc.slice %{{.*}} axis 3 from 0 : (tensor<2x1x130x300xf32, {{.*}}>) -> tensor<2x1x130x100xf32,
// CHECK-COUNT-6: dtc.attention_grad
// CHECK-NOT:     dtc.attention_grad
// CHECK:         return
func.func @masked(%q: tensor<2x260x1x2xf32, #samples>, %k: tensor<2x300x1x2xf32, #samples>, %v: tensor<2x300x1x3xf32, #samples>, %mask: tensor<2x1x260x300xf32, #samples>, %dy: tensor<2x260x1x3xf32, #samples>) -> (tensor<2x260x1x2xf32, #samples>, tensor<2x300x1x2xf32, #samples>, tensor<2x300x1x3xf32, #samples>) {
  %y, %lse = dtc.attention %q, %k, %v, %mask {scale = 0.5 : f64} : (tensor<2x260x1x2xf32, #samples>, tensor<2x300x1x2xf32, #samples>, tensor<2x300x1x3xf32, #samples>, tensor<2x1x260x300xf32, #samples>) -> (tensor<2x260x1x3xf32, #samples>, tensor<2x1x260xf32, #samples>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %mask, %y, %lse, %dy {scale = 0.5 : f64} : (tensor<2x260x1x2xf32, #samples>, tensor<2x300x1x2xf32, #samples>, tensor<2x300x1x3xf32, #samples>, tensor<2x1x260x300xf32, #samples>, tensor<2x260x1x3xf32, #samples>, tensor<2x1x260xf32, #samples>, tensor<2x260x1x3xf32, #samples>) -> (tensor<2x260x1x2xf32, #samples>, tensor<2x300x1x2xf32, #samples>, tensor<2x300x1x3xf32, #samples>)
  return %dq, %dk, %dv : tensor<2x260x1x2xf32, #samples>, tensor<2x300x1x2xf32, #samples>, tensor<2x300x1x3xf32, #samples>
}

// Ranks share the queries, and only keys are cut: what they give keys stays a
// sum over ranks. Queries have a mask of keys alone.
// CHECK-LABEL: func.func @shared
// CHECK:         dtc.attention_grad {{.*}} : (tensor<2x400x1x2xf32, {{.*}}>, tensor<2x100x1x2xf32, {{.*}}>
// CHECK:         dtc.attention_grad
// CHECK:         dtc.concat {{.*}} axis 1 : {{.*}} -> tensor<2x200x1x2xf32, #[[SUMMED:.*]]>
// CHECK:         return
func.func @shared(%q: tensor<2x400x1x2xf32, #queries>, %k: tensor<2x200x1x2xf32, #samples>, %v: tensor<2x200x1x2xf32, #samples>, %mask: tensor<1x1x400x200xf32, #queries_mask>, %dy: tensor<2x400x1x2xf32, #queries>) -> (tensor<2x400x1x2xf32, #queries>, tensor<2x200x1x2xf32, #summed>, tensor<2x200x1x2xf32, #summed>) {
  %y, %lse = dtc.attention %q, %k, %v, %mask {scale = 1.0 : f64} : (tensor<2x400x1x2xf32, #queries>, tensor<2x200x1x2xf32, #samples>, tensor<2x200x1x2xf32, #samples>, tensor<1x1x400x200xf32, #queries_mask>) -> (tensor<2x400x1x2xf32, #queries>, tensor<2x1x400xf32, #queries_lse>)
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v, %mask, %y, %lse, %dy {scale = 1.0 : f64} : (tensor<2x400x1x2xf32, #queries>, tensor<2x200x1x2xf32, #samples>, tensor<2x200x1x2xf32, #samples>, tensor<1x1x400x200xf32, #queries_mask>, tensor<2x400x1x2xf32, #queries>, tensor<2x1x400xf32, #queries_lse>, tensor<2x400x1x2xf32, #queries>) -> (tensor<2x400x1x2xf32, #queries>, tensor<2x200x1x2xf32, #summed>, tensor<2x200x1x2xf32, #summed>)
  return %dq, %dk, %dv : tensor<2x400x1x2xf32, #queries>, tensor<2x200x1x2xf32, #summed>, tensor<2x200x1x2xf32, #summed>
}

// Parts of 16 bits are added in f32, and rounded once.
// CHECK-LABEL: func.func @narrow
// CHECK:         %[[A:.*]], %{{.*}}, %{{.*}} = dtc.attention_grad
// CHECK:         dtc.cast %[[A]] : (tensor<2x65x1x2xbf16, {{.*}}>) -> tensor<2x65x1x2xf32,
// CHECK:         dtc.concat {{.*}} -> tensor<2x130x1x2xf32,
// CHECK-NEXT:    dtc.cast {{.*}} -> tensor<2x130x1x2xbf16,
func.func @narrow(%q: tensor<2x130x1x2xbf16, #samples>, %y: tensor<2x130x1x2xbf16, #samples>, %lse: tensor<2x1x130xf32, #samples>) -> tensor<2x130x1x2xbf16, #samples> {
  %dq, %dk, %dv = dtc.attention_grad %q, %q, %q, %y, %lse, %y {scale = 0.5 : f64} : (tensor<2x130x1x2xbf16, #samples>, tensor<2x130x1x2xbf16, #samples>, tensor<2x130x1x2xbf16, #samples>, tensor<2x130x1x2xbf16, #samples>, tensor<2x1x130xf32, #samples>, tensor<2x130x1x2xbf16, #samples>) -> (tensor<2x130x1x2xbf16, #samples>, tensor<2x130x1x2xbf16, #samples>, tensor<2x130x1x2xbf16, #samples>)
  return %dq : tensor<2x130x1x2xbf16, #samples>
}
