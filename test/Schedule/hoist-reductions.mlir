// RUN: dtc-opt %s --dtc-prepare-update=bucket-mb=0 --split-input-file | FileCheck %s

// The last run has a function of its own, in which each gradient is reduced as
// soon as the last micro-batch has been added. The scalar is left to the update.

#mesh = #dtc.mesh<pp=1, dp=2, mb=2>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
module @reduced {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @weight(%x: tensor<4xf32, #p>, %y: tensor<2xf32, #p>,
                            %a: tensor<4xf32, #p> {dtc.update = 0 : i64},
                            %b: tensor<2xf32, #p> {dtc.update = 1 : i64})
      -> (tensor<4xf32, #p>, tensor<2xf32, #p>) attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.accumulate %x into %a : tensor<4xf32, #p>
    %1 = dtc.accumulate %y into %b : tensor<2xf32, #p>
    return %0, %1 : tensor<4xf32, #p>, tensor<2xf32, #p>
  }
  func.func private @update(%w: tensor<4xf32, #r> {dtc.update = 0 : i64}, %lr: tensor<f64, #r>,
                            %l: tensor<f64, #p> {dtc.update = 2 : i64},
                            %b: tensor<2xf32, #p> {dtc.update = 1 : i64}, %a: tensor<4xf32, #p>)
      -> (tensor<4xf32, #r>, tensor<2xf32, #r>, tensor<f64, #r>) attributes {dtc.phase = #dtc.phase<update>} {
    %h = dtc.all_reduce sum %b over ["dp"] : (tensor<2xf32, #p>) -> tensor<2xf32, #r>
    %g = dtc.all_reduce sum %a over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    %loss = dtc.all_reduce sum %l over ["dp"] : (tensor<f64, #p>) -> tensor<f64, #r>
    %n = dtc.sgd %w, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<4xf32, #r>, tensor<4xf32, #r>, tensor<f64, #r>) -> tensor<4xf32, #r>
    return %n, %h, %loss : tensor<4xf32, #r>, tensor<2xf32, #r>, tensor<f64, #r>
  }
  func.func @plan(%x: tensor<4xf32, #p>, %y: tensor<2xf32, #p>, %w: tensor<4xf32, #r>,
                  %lr: tensor<f64, #r>, %l: tensor<f64, #p>)
      -> (tensor<4xf32, #r>, tensor<2xf32, #r>, tensor<f64, #r>) {
    %a = dtc.zero : tensor<4xf32, #p>
    %b = dtc.zero : tensor<2xf32, #p>
    %0:2 = dtc.run @weight(%x, %y, %a, %b) microbatch 0 : (tensor<4xf32, #p>, tensor<2xf32, #p>, tensor<4xf32, #p>, tensor<2xf32, #p>) -> (tensor<4xf32, #p>, tensor<2xf32, #p>)
    %1:2 = dtc.run @weight(%x, %y, %0#0, %0#1) microbatch 1 : (tensor<4xf32, #p>, tensor<2xf32, #p>, tensor<4xf32, #p>, tensor<2xf32, #p>) -> (tensor<4xf32, #p>, tensor<2xf32, #p>)
    %2:3 = dtc.run @update(%w, %lr, %l, %1#1, %1#0) : (tensor<4xf32, #r>, tensor<f64, #r>, tensor<f64, #p>, tensor<2xf32, #p>, tensor<4xf32, #p>) -> (tensor<4xf32, #r>, tensor<2xf32, #r>, tensor<f64, #r>)
    return %2#0, %2#1, %2#2 : tensor<4xf32, #r>, tensor<2xf32, #r>, tensor<f64, #r>
  }
}
}

// CHECK-LABEL: module @reduced
// CHECK:         @weight(
// CHECK-NOT:       all_reduce
// CHECK:         @weight.last(%[[X:[a-z0-9]+]]: {{[^%]*}}, %[[Y:[a-z0-9]+]]: {{[^%]*}}, %[[A:[a-z0-9]+]]: {{[^%]*}}{dtc.update = [[#GA:]] : i64}, %[[B:[a-z0-9]+]]: {{[^%]*}}{dtc.update = [[#GB:]] : i64})
// CHECK-NEXT:      %[[A1:.*]] = dtc.accumulate %[[X]] into %[[A]]
// CHECK-NEXT:      %[[G:.*]] = dtc.all_reduce sum %[[A1]] over ["dp"]
// CHECK-NEXT:      %[[B1:.*]] = dtc.accumulate %[[Y]] into %[[B]]
// CHECK-NEXT:      %[[H:.*]] = dtc.all_reduce sum %[[B1]] over ["dp"]
// CHECK-NEXT:      return
// CHECK:         @update(%{{[a-z0-9]+}}: {{[^%]*}}{dtc.update = 0 : i64}, %{{[a-z0-9]+}}: {{[^%]*}}, %{{[a-z0-9]+}}: {{[^%]*}}{dtc.update = 1 : i64}, %[[G:[a-z0-9]+]]: tensor<4xf32, #replicated>)
// CHECK-NEXT:      dtc.all_reduce sum %{{.*}} over ["dp"] : (tensor<f64
// CHECK-NEXT:      dtc.sgd %{{.*}}, %[[G]], %
// CHECK:         @plan
// CHECK:           dtc.run @weight(%{{.*}}) microbatch 0
// CHECK-NEXT:      %[[LAST:.*]]:2 = dtc.run @weight.last(%{{.*}}) microbatch 1 : ({{.*}}) -> ({{.*}}#replicated>, {{.*}}#replicated>)
// CHECK-NEXT:      %[[U:.*]]:2 = dtc.run @update(%{{.*}}, %{{.*}}, %{{.*}}, %[[LAST]]#[[#GA]])
// CHECK-NEXT:      return %[[U]]#0, %[[LAST]]#[[#GB]], %[[U]]#1

// -----

// A bucket of ZeRO: what lays gradients side by side comes along, with what it
// needs from before the run. All that is left of the function is its last run.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
#s = #dtc.layout<#mesh, dp: split(0)>
module @bucket {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @weight(%x: tensor<4xf32, #p>, %a: tensor<4xf32, #p> {dtc.update = 0 : i64}) -> tensor<4xf32, #p> attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.accumulate %x into %a : tensor<4xf32, #p>
    return %0 : tensor<4xf32, #p>
  }
  func.func private @update(%a: tensor<4xf32, #p>, %c: tensor<f32, #r>) -> tensor<8xf32, #s> attributes {dtc.phase = #dtc.phase<update>} {
    %0 = dtc.mul %a, %c : (tensor<4xf32, #p>, tensor<f32, #r>) -> tensor<4xf32, #p>
    %1 = dtc.concat %a, %0 axis 0 : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> tensor<8xf32, #p>
    %2 = dtc.reduce_scatter sum %1 over ["dp"] dim 0 : (tensor<8xf32, #p>) -> tensor<8xf32, #s>
    %3 = dtc.mul %2, %2 : (tensor<8xf32, #s>, tensor<8xf32, #s>) -> tensor<8xf32, #s>
    return %3 : tensor<8xf32, #s>
  }
  func.func @plan(%x: tensor<4xf32, #p>, %c: tensor<f32, #r>) -> tensor<8xf32, #s> {
    %a = dtc.zero : tensor<4xf32, #p>
    %0 = dtc.run @weight(%x, %a) microbatch 0 : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> tensor<4xf32, #p>
    %1 = dtc.run @update(%0, %c) : (tensor<4xf32, #p>, tensor<f32, #r>) -> tensor<8xf32, #s>
    return %1 : tensor<8xf32, #s>
  }
}
}

// CHECK-LABEL: module @bucket
// CHECK-NOT:     @weight(
// CHECK:         @weight.last(%[[X:[a-z0-9]+]]: {{[^%]*}}, %[[A:[a-z0-9]+]]: {{[^%]*}}{dtc.update = 0 : i64}, %[[C:[a-z0-9]+]]: tensor<f32, #replicated>)
// CHECK-NEXT:      %[[G:.*]] = dtc.accumulate %[[X]] into %[[A]]
// CHECK-NEXT:      %[[M:.*]] = dtc.mul %[[G]], %[[C]]
// CHECK-NEXT:      %[[B:.*]] = dtc.concat %[[G]], %[[M]]
// CHECK-NEXT:      %[[S:.*]] = dtc.reduce_scatter sum %[[B]]
// CHECK-NEXT:      return %[[G]], %[[S]]
// CHECK:         @update(%[[S:[a-z0-9]+]]: {{[^%]*}}) ->
// CHECK-NEXT:      dtc.mul %[[S]], %[[S]]
// CHECK:         @plan(%[[X:[a-z0-9]+]]: {{[^%]*}}, %[[C:[a-z0-9]+]]:
// CHECK:           %[[LAST:.*]]:2 = dtc.run @weight.last(%[[X]], %{{.*}}, %[[C]])
// CHECK-NEXT:      dtc.run @update(%[[LAST]]#1)

// -----

// A reduction stays if another op reads its operand before, or if its operand
// is a result of another run.

#mesh = #dtc.mesh<pp=1, dp=2, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
module @stays {
module @stage0 attributes {dtc.stage = 0 : i64} {
  func.func private @weight(%x: tensor<4xf32, #p>, %a: tensor<4xf32, #p> {dtc.update = 0 : i64}) -> tensor<4xf32, #p> attributes {dtc.phase = #dtc.phase<weight>} {
    %0 = dtc.accumulate %x into %a : tensor<4xf32, #p>
    return %0 : tensor<4xf32, #p>
  }
  func.func private @reduce(%a: tensor<4xf32, #p>) -> tensor<4xf32, #p> attributes {dtc.phase = #dtc.phase<reduce>} {
    %0 = dtc.add %a, %a : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> tensor<4xf32, #p>
    return %0 : tensor<4xf32, #p>
  }
  func.func private @update(%a: tensor<4xf32, #p> {dtc.update = 0 : i64}, %b: tensor<4xf32, #p> {dtc.update = 1 : i64}) -> (tensor<4xf32, #r>, tensor<4xf32, #r>) attributes {dtc.phase = #dtc.phase<update>} {
    %0 = dtc.all_reduce sum %a over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    %1 = dtc.all_reduce sum %b over ["dp"] : (tensor<4xf32, #p>) -> tensor<4xf32, #r>
    return %0, %1 : tensor<4xf32, #r>, tensor<4xf32, #r>
  }
  func.func @plan(%x: tensor<4xf32, #p>) -> (tensor<4xf32, #r>, tensor<4xf32, #r>) {
    %a = dtc.zero : tensor<4xf32, #p>
    %0 = dtc.run @weight(%x, %a) microbatch 0 : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> tensor<4xf32, #p>
    %1 = dtc.run @reduce(%0) : (tensor<4xf32, #p>) -> tensor<4xf32, #p>
    %2:2 = dtc.run @update(%0, %1) : (tensor<4xf32, #p>, tensor<4xf32, #p>) -> (tensor<4xf32, #r>, tensor<4xf32, #r>)
    return %2#0, %2#1 : tensor<4xf32, #r>, tensor<4xf32, #r>
  }
}
}

// CHECK-LABEL: module @stays
// CHECK-NOT:     weight.last
// CHECK:         @update
// CHECK-COUNT-2:   dtc.all_reduce
// CHECK-NOT:     weight.last
