// Layouts with several named axes print, parse and stay canonical.
// RUN: dtc-opt %s --verify-roundtrip | FileCheck %s

#mesh = #dtc.mesh<pp=2, dp=4, tp=2, mb=2>
// CHECK-DAG: #[[MESH:mesh]] = #dtc.mesh<pp=2, dp=4, tp=2, mb=2>

// Splits come first, by dimension; partials follow by mesh order.
// CHECK-DAG: = #dtc.layout<#[[MESH]], dp: split(0), tp: split(2), mb: partial(sum)>
#a = #dtc.layout<#mesh, mb: partial, tp: split(2), dp: split(0)>
// The order on one dimension is kept: major to minor.
// CHECK-DAG: = #dtc.layout<#[[MESH]], mb: split(0), dp: split(0)>
#b = #dtc.layout<#mesh, mb: split(0), dp: split(0)>
// CHECK-DAG: = #dtc.layout<#[[MESH]], tp: partial(max)>
#c = #dtc.layout<#mesh, tp: partial(max)>
// Each of 4 pieces of a dimension is split.
// CHECK-DAG: = #dtc.layout<#[[MESH]], mb: split(0 in 4), dp: split(0)>
#d = #dtc.layout<#mesh, mb: split(0 in 4), dp: split(0)>

#unit = #dtc.mesh<dp=2, mb=1>
// CHECK-DAG: #[[UNIT:mesh1]] = #dtc.mesh<dp=2, mb=1>
// An axis of size 1 splits before others, and may split no dimension.
// CHECK-DAG: = #dtc.layout<#[[UNIT]], mb: split(0), dp: split(0)>
#e = #dtc.layout<#unit, dp: split(0), mb: split(0)>
// CHECK-DAG: = #dtc.layout<#[[UNIT]], mb: each, dp: split(0)>
#f = #dtc.layout<#unit, dp: split(0), mb: each>

// CHECK-LABEL: func @types
func.func @types(%a: tensor<8x3x4xf32, #a>, %b: tensor<16xf32, #b>, %c: tensor<f32, #c>,
                 %d: tensor<32xf32, #d>, %e: tensor<8xf32, #e>, %f: tensor<8xf32, #f>) {
  return
}
