// One case for each constraint of meshes, layouts and types with layouts.
// RUN: dtc-opt %s --split-input-file --verify-diagnostics

// Mesh C1
// expected-error@below {{a mesh needs at least one axis}}
#mesh = #dtc.mesh<>

// -----

// Mesh C2
// expected-error@below {{mesh axis 'dp' is listed twice}}
#mesh = #dtc.mesh<dp=2, dp=4>

// -----

// Mesh C3
// expected-error@below {{mesh axis 'dp' has size 0, expected at least 1}}
#mesh = #dtc.mesh<dp=0>

// -----

#mesh = #dtc.mesh<dp=2>
// Layout C1
// expected-error@below {{layout names axis 'tp', which is not in the mesh}}
#layout = #dtc.layout<#mesh, tp: split(0)>

// -----

#mesh = #dtc.mesh<dp=2>
// expected-error@below {{layout uses axis 'dp' twice}}
#layout = #dtc.layout<#mesh, dp: split(0), dp: split(1)>

// -----

#mesh = #dtc.mesh<dp=2>
// expected-error@below {{unknown layout 'sliced', expected split, partial or each}}
#layout = #dtc.layout<#mesh, dp: sliced(0)>

// -----

#mesh = #dtc.mesh<dp=2>
// expected-error@below {{unknown reduction 'mean', expected sum or max}}
#layout = #dtc.layout<#mesh, dp: partial(mean)>

// -----

#mesh = #dtc.mesh<dp=2>
// Layout C2
// expected-error@below {{layout splits dimension 1 of a tensor of rank 1}}
func.func private @f(tensor<4xf32, #dtc.layout<#mesh, dp: split(1)>>)

// -----

#mesh = #dtc.mesh<dp=2, mb=4>
// Layout C3
// expected-error@below {{dimension 0 of size 4 does not divide into 8 parts as its layout says}}
func.func private @f(tensor<4xf32, #dtc.layout<#mesh, mb: split(0), dp: split(0)>>)

// -----

#mesh = #dtc.mesh<dp=2>
// expected-error@below {{dimension 0 of size 8 does not divide into 6 parts as its layout says}}
func.func private @f(tensor<8xf32, #dtc.layout<#mesh, dp: split(0 in 3)>>)

// -----

#mesh = #dtc.mesh<dp=2>
// expected-error@below {{layout splits a dimension in 0 pieces, expected at least 1}}
#layout = #dtc.layout<#mesh, dp: split(0 in 0)>
