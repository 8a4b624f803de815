// RUN: dtc-opt %s --dtc-insert-collectives --split-input-file --verify-diagnostics | FileCheck %s

#mesh = #dtc.mesh<dp=2, tp=2, mb=4>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial, tp: partial, mb: partial>
#d = #dtc.layout<#mesh, dp: split(0)>
#t = #dtc.layout<#mesh, tp: split(0)>
#pd = #dtc.layout<#mesh, dp: partial>

// Accumulation over time, then one reduction over the product of the axes.
// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<8xf32, #p>) -> tensor<8xf32, #r> {
  // CHECK: %[[A:.*]] = dtc.sum_microbatches %{{.*}}
  // CHECK: %[[B:.*]] = dtc.all_reduce sum %[[A]] over ["dp", "tp"]
  // CHECK: return %[[B]]
  %0 = dtc.reshard %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}

// CHECK-LABEL: func @scatter
func.func @scatter(%x: tensor<8xf32, #pd>) -> tensor<8xf32, #d> {
  // CHECK: dtc.reduce_scatter sum %{{.*}} over ["dp"] dim 0
  %0 = dtc.reshard %x : tensor<8xf32, #pd> -> tensor<8xf32, #d>
  return %0 : tensor<8xf32, #d>
}

// Another axis that splits into as many shards: rank (d, t) has shard d and
// gets shard t, from rank (t, d).
// CHECK-LABEL: func @move
func.func @move(%x: tensor<8xf32, #d>) -> tensor<8xf32, #t> {
  // CHECK-NEXT: %[[A:.*]] = dtc.collective_permute %{{.*}} over ["dp", "tp"] sources [0, 2, 1, 3] :
  // CHECK-NEXT: return %[[A]]
  %0 = dtc.reshard %x : tensor<8xf32, #d> -> tensor<8xf32, #t>
  return %0 : tensor<8xf32, #t>
}

// -----

#mesh = #dtc.mesh<dp=2, tp=4, mb=4>
#d = #dtc.layout<#mesh, dp: split(0)>
#t = #dtc.layout<#mesh, tp: split(0)>
#dt = #dtc.layout<#mesh, dp: split(0), tp: split(0)>
#td = #dtc.layout<#mesh, tp: split(0), dp: split(0)>
#t1 = #dtc.layout<#mesh, tp: split(1)>
#d_t1 = #dtc.layout<#mesh, dp: split(0), tp: split(1)>
#dt1 = #dtc.layout<#mesh, dp: split(1), tp: split(1)>
#t1d1 = #dtc.layout<#mesh, tp: split(1), dp: split(1)>
#mb_t1 = #dtc.layout<#mesh, mb: split(0), tp: split(1)>
#mb_t0 = #dtc.layout<#mesh, mb: split(0), tp: split(0)>

// Into more shards than there were: no permutation of them does.
// CHECK-LABEL: func @more_shards
func.func @more_shards(%x: tensor<8xf32, #d>) -> tensor<8xf32, #t> {
  // CHECK-NEXT: %[[A:.*]] = dtc.all_gather %{{.*}} over ["dp"] dim 0
  // CHECK-NEXT: dtc.local_slice %[[A]] over ["tp"] dim 0
  %0 = dtc.reshard %x : tensor<8xf32, #d> -> tensor<8xf32, #t>
  return %0 : tensor<8xf32, #t>
}

// The order of axes: rank (d, t) has shard 4 d + t and gets shard 2 t + d.
// CHECK-LABEL: func @order
func.func @order(%x: tensor<8xf32, #dt>) -> tensor<8xf32, #td> {
  // CHECK-NEXT: %[[A:.*]] = dtc.collective_permute %{{.*}} over ["dp", "tp"] sources [0, 2, 4, 6, 1, 3, 5, 7] :
  // CHECK-NEXT: return %[[A]]
  %0 = dtc.reshard %x : tensor<8xf32, #dt> -> tensor<8xf32, #td>
  return %0 : tensor<8xf32, #td>
}

// Another dimension.
// CHECK-LABEL: func @exchange
func.func @exchange(%x: tensor<8x8xf32, #t>) -> tensor<8x8xf32, #t1> {
  // CHECK-NEXT: %[[A:.*]] = dtc.all_to_all %{{.*}} over ["tp"] from 0 to 1 :
  // CHECK-NEXT: return %[[A]]
  %0 = dtc.reshard %x : tensor<8x8xf32, #t> -> tensor<8x8xf32, #t1>
  return %0 : tensor<8x8xf32, #t1>
}

// The minor axis of a dimension, beside what splits it before.
// CHECK-LABEL: func @exchange_minor
func.func @exchange_minor(%x: tensor<8x8xf32, #dt>) -> tensor<8x8xf32, #d_t1> {
  // CHECK-NEXT: %[[A:.*]] = dtc.all_to_all %{{.*}} over ["tp"] from 0 to 1 :
  // CHECK-NEXT: return %[[A]]
  %0 = dtc.reshard %x : tensor<8x8xf32, #dt> -> tensor<8x8xf32, #d_t1>
  return %0 : tensor<8x8xf32, #d_t1>
}

// Behind what splits the other dimension already.
// CHECK-LABEL: func @exchange_behind
func.func @exchange_behind(%x: tensor<8x8xf32, #d_t1>) -> tensor<8x8xf32, #dt> {
  // CHECK-NEXT: dtc.all_to_all %{{.*}} over ["tp"] from 1 to 0 :
  // CHECK-NEXT: return
  %0 = dtc.reshard %x : tensor<8x8xf32, #d_t1> -> tensor<8x8xf32, #dt>
  return %0 : tensor<8x8xf32, #dt>
}

// Both axes at once, over the group of both.
// CHECK-LABEL: func @exchange_both
func.func @exchange_both(%x: tensor<8x8xf32, #dt>) -> tensor<8x8xf32, #dt1> {
  // CHECK-NEXT: dtc.all_to_all %{{.*}} over ["dp", "tp"] from 0 to 1 :
  // CHECK-NEXT: return
  %0 = dtc.reshard %x : tensor<8x8xf32, #dt> -> tensor<8x8xf32, #dt1>
  return %0 : tensor<8x8xf32, #dt1>
}

// In the other order: tp first, dp behind it.
// CHECK-LABEL: func @exchange_in_turn
func.func @exchange_in_turn(%x: tensor<8x8xf32, #dt>) -> tensor<8x8xf32, #t1d1> {
  // CHECK-NEXT: %[[A:.*]] = dtc.all_to_all %{{.*}} over ["tp"] from 0 to 1 :
  // CHECK-NEXT: %[[B:.*]] = dtc.all_to_all %[[A]] over ["dp"] from 0 to 1 :
  // CHECK-NEXT: return %[[B]]
  %0 = dtc.reshard %x : tensor<8x8xf32, #dt> -> tensor<8x8xf32, #t1d1>
  return %0 : tensor<8x8xf32, #t1d1>
}

// The split of one dimension becomes the major one of the other, so one
// exchange is not enough.
// CHECK-LABEL: func @major
func.func @major(%x: tensor<8x8xf32, #d_t1>) -> tensor<8x8xf32, #td> {
  // CHECK-NEXT: dtc.all_gather %{{.*}} over ["dp"] dim 0
  // CHECK-NEXT: dtc.all_to_all %{{.*}} over ["tp"] from 1 to 0 :
  // CHECK-NEXT: dtc.local_slice %{{.*}} over ["dp"] dim 0
  // CHECK-NEXT: return
  %0 = dtc.reshard %x : tensor<8x8xf32, #d_t1> -> tensor<8x8xf32, #td>
  return %0 : tensor<8x8xf32, #td>
}

// A micro-batch's value: mb splits its rows first.
// CHECK-LABEL: func @exchange_rows
func.func @exchange_rows(%x: tensor<32x8xf32, #mb_t1>) -> tensor<32x8xf32, #mb_t0> {
  // CHECK-NEXT: dtc.all_to_all %{{.*}} over ["tp"] from 1 to 0 :
  // CHECK-NEXT: return
  %0 = dtc.reshard %x : tensor<32x8xf32, #mb_t1> -> tensor<32x8xf32, #mb_t0>
  return %0 : tensor<32x8xf32, #mb_t0>
}

// -----

// Rows of which tp splits the sequence, the major part, and dp the batch, in
// pieces: the sequence is a dimension of its own while its split changes.
#mesh = #dtc.mesh<dp=2, tp=2>
#batch = #dtc.layout<#mesh, dp: split(0 in 6)>
#both = #dtc.layout<#mesh, tp: split(0), dp: split(0 in 3)>
#sum = #dtc.layout<#mesh, dp: split(0 in 6), tp: partial>
#none = #dtc.layout<#mesh>

// CHECK-LABEL: func @slice_major
func.func @slice_major(%x: tensor<48x8xf32, #batch>) -> tensor<48x8xf32, #both> {
  // CHECK-NEXT: %[[A:.*]] = dtc.reshape %{{.*}} -> tensor<6x8x8xf32, #[[BATCH:.*]]>
  // CHECK-NEXT: %[[B:.*]] = dtc.local_slice %[[A]] over ["tp"] dim 0 :
  // CHECK-NEXT: %[[C:.*]] = dtc.reshape %[[B]] {{.*}} -> tensor<48x8xf32, #[[BOTH:.*]]>
  // CHECK-NEXT: return %[[C]]
  %0 = dtc.reshard %x : tensor<48x8xf32, #batch> -> tensor<48x8xf32, #both>
  return %0 : tensor<48x8xf32, #both>
}

// CHECK-LABEL: func @gather_major
func.func @gather_major(%x: tensor<48x8xf32, #both>) -> tensor<48x8xf32, #batch> {
  // CHECK-NEXT: %[[A:.*]] = dtc.reshape
  // CHECK-NEXT: %[[B:.*]] = dtc.all_gather %[[A]] over ["tp"] dim 0 :
  // CHECK-NEXT: dtc.reshape %[[B]]
  // CHECK-NEXT: return
  %0 = dtc.reshard %x : tensor<48x8xf32, #both> -> tensor<48x8xf32, #batch>
  return %0 : tensor<48x8xf32, #batch>
}

// CHECK-LABEL: func @scatter_major
func.func @scatter_major(%x: tensor<48x8xf32, #sum>) -> tensor<48x8xf32, #both> {
  // CHECK-NEXT: %[[A:.*]] = dtc.reshape
  // CHECK-NEXT: %[[B:.*]] = dtc.reduce_scatter sum %[[A]] over ["tp"] dim 0 :
  // CHECK-NEXT: dtc.reshape %[[B]]
  // CHECK-NEXT: return
  %0 = dtc.reshard %x : tensor<48x8xf32, #sum> -> tensor<48x8xf32, #both>
  return %0 : tensor<48x8xf32, #both>
}

// CHECK-LABEL: func @slice_both
func.func @slice_both(%x: tensor<48x8xf32, #none>) -> tensor<48x8xf32, #both> {
  // CHECK-NEXT: %[[A:.*]] = dtc.reshape
  // CHECK-NEXT: %[[B:.*]] = dtc.local_slice %[[A]] over ["tp"] dim 0 :
  // CHECK-NEXT: %[[C:.*]] = dtc.local_slice %[[B]] over ["dp"] dim 1 :
  // CHECK-NEXT: dtc.reshape %[[C]]
  // CHECK-NEXT: return
  %0 = dtc.reshard %x : tensor<48x8xf32, #none> -> tensor<48x8xf32, #both>
  return %0 : tensor<48x8xf32, #both>
}

// Pieces that another axis cannot be a split of: gathered first.
#odd = #dtc.layout<#mesh, dp: split(0 in 3)>
#tp = #dtc.layout<#mesh, tp: split(0)>
// CHECK-LABEL: func @gather_pieces
func.func @gather_pieces(%x: tensor<12x8xf32, #odd>) -> tensor<12x8xf32, #tp> {
  // CHECK-NEXT: %[[A:.*]] = dtc.reshape %{{.*}} -> tensor<3x4x8xf32,
  // CHECK-NEXT: %[[B:.*]] = dtc.all_gather %[[A]] over ["dp"] dim 1 :
  // CHECK-NEXT: %[[C:.*]] = dtc.reshape %[[B]]
  // CHECK-NEXT: %[[D:.*]] = dtc.local_slice %[[C]] over ["tp"] dim 0 :
  // CHECK-NEXT: return %[[D]]
  %0 = dtc.reshard %x : tensor<12x8xf32, #odd> -> tensor<12x8xf32, #tp>
  return %0 : tensor<12x8xf32, #tp>
}

// Pieces of pieces: no dimension of 3 is split as one of 6 is.
#three = #dtc.layout<#mesh, dp: split(0 in 3)>
#six = #dtc.layout<#mesh, dp: split(0 in 6)>
// CHECK-LABEL: func @other_pieces
func.func @other_pieces(%x: tensor<48x8xf32, #three>) -> tensor<48x8xf32, #six> {
  // CHECK-NEXT: %[[A:.*]] = dtc.reshape
  // CHECK-NEXT: %[[B:.*]] = dtc.reshape %[[A]] {{.*}} -> tensor<3x2x8x8xf32,
  // CHECK-NEXT: %[[C:.*]] = dtc.all_to_all %[[B]] over ["dp"] from 1 to 2 :
  // CHECK-NEXT: %[[D:.*]] = dtc.reshape %[[C]] {{.*}} -> tensor<48x8xf32,
  // CHECK-NEXT: return %[[D]]
  %0 = dtc.reshard %x : tensor<48x8xf32, #three> -> tensor<48x8xf32, #six>
  return %0 : tensor<48x8xf32, #six>
}

// -----

// Neither number of pieces is a multiple of the other's parts: by way of a value
// that ranks have whole.
#mesh = #dtc.mesh<dp=8>
#three = #dtc.layout<#mesh, dp: split(0 in 3)>
#six = #dtc.layout<#mesh, dp: split(0 in 6)>
// CHECK-LABEL: func @by_the_whole
func.func @by_the_whole(%x: tensor<48xf32, #three>) -> tensor<48xf32, #six> {
  // CHECK: dtc.all_gather %{{.*}} over ["dp"] dim 1 : {{.*}} -> tensor<3x16xf32,
  // CHECK: dtc.local_slice %{{.*}} over ["dp"] dim 1 : {{.*}} -> tensor<6x8xf32,
  // CHECK: return
  %0 = dtc.reshard %x : tensor<48xf32, #three> -> tensor<48xf32, #six>
  return %0 : tensor<48xf32, #six>
}

// -----

#mesh = #dtc.mesh<mb=8>
#three = #dtc.layout<#mesh, mb: split(0 in 3)>
#six = #dtc.layout<#mesh, mb: split(0 in 6)>
func.func @other_times(%x: tensor<48xf32, #three>) -> tensor<48xf32, #six> {
  // expected-error@+1 {{needs all samples of a batch at once, in dimension 0 of a 48 value, but runs on one micro-batch at a time}}
  %0 = dtc.reshard %x : tensor<48xf32, #three> -> tensor<48xf32, #six>
  return %0 : tensor<48xf32, #six>
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
func.func @time(%x: tensor<8xf32, #b>) -> tensor<8xf32, #r> {
  // expected-error@+1 {{needs all samples of a batch at once, in dimension 0 of a 8 value, but runs on one micro-batch at a time; use one micro-batch, or export a model that processes each sample separately}}
  %0 = dtc.reshard %x : tensor<8xf32, #b> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}

// -----

// Parts over micro-batches can be added, but not compared; of one micro-batch the
// part is all.
#mesh = #dtc.mesh<dp=2, mb=4>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, mb: partial(max)>
func.func @largest(%x: tensor<8xf32, #p>) -> tensor<8xf32, #r> {
  // expected-error@+1 {{needs all samples of a batch at once, in the maximum of them, but runs on one micro-batch at a time; use one micro-batch, or export a model that processes each sample separately}}
  %0 = dtc.reshard %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}

// -----

// CHECK-LABEL: func @largest_of_one
// CHECK: %[[OWN:.+]] = dtc.sum_microbatches %{{.+}} -> tensor<8xf32, #{{.*}}>
// CHECK-NEXT: dtc.all_reduce max %[[OWN]] over ["dp"]
#mesh = #dtc.mesh<dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial(max), mb: partial(max)>
func.func @largest_of_one(%x: tensor<8xf32, #p>) -> tensor<8xf32, #r> {
  %0 = dtc.reshard %x : tensor<8xf32, #p> -> tensor<8xf32, #r>
  return %0 : tensor<8xf32, #r>
}

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
#r = #dtc.layout<#mesh>
#b = #dtc.layout<#mesh, mb: split(0)>
func.func @rows(%x: tensor<8xf32, #r>) -> tensor<8xf32, #b> {
  // expected-error@+1 {{needs a row for each sample of a micro-batch, but has those of the whole batch, in dimension 0 of a 8 value that is no input and whose rows differ; use --dp 1 and one micro-batch; if the file has a fixed batch, export with a dynamic one and optimize=False}}
  %0 = dtc.reshard %x : tensor<8xf32, #r> -> tensor<8xf32, #b>
  return %0 : tensor<8xf32, #b>
}

// -----

// Six elements are not four shards: what tp splits is gathered first.
// CHECK-LABEL: func @six
// CHECK-NEXT: %[[WHOLE:.+]] = dtc.all_gather %{{.+}} over ["tp"] dim 0 : {{.+}} -> tensor<6xf32, #partial_dp>
// CHECK-NEXT: dtc.reduce_scatter sum %[[WHOLE]] over ["dp"] dim 0 : {{.+}} -> tensor<6xf32, #dp>
#mesh = #dtc.mesh<dp=2, tp=2, mb=1>
#d = #dtc.layout<#mesh, dp: split(0)>
#p = #dtc.layout<#mesh, dp: partial, tp: split(0)>
func.func @six(%x: tensor<6xf32, #p>) -> tensor<6xf32, #d> {
  %0 = dtc.reshard %x : tensor<6xf32, #p> -> tensor<6xf32, #d>
  return %0 : tensor<6xf32, #d>
}
