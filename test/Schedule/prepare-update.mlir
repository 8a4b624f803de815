// RUN: dtc-opt %s --dtc-prepare-update=bucket-mb=1 | FileCheck %s

#mesh = #dtc.mesh<pp=1, dp=4, mb=1>
#r = #dtc.layout<#mesh>
#p = #dtc.layout<#mesh, dp: partial>
#pp = #dtc.layout<#mesh, pp: partial>
module {
module @stage0 attributes {dtc.stage = 0 : i64} {
  // Three gradients of slightly less than half a MiB: two fit. The user of the
  // first follows the bucket. Another type has another bucket. A sum over
  // stages stays alone, because other stages have other buckets.
  // CHECK-LABEL: func.func private @update(
  // CHECK-SAME:    %[[A:[a-z0-9]+]]: {{.*}}update = 0{{.*}}, %[[B:[a-z0-9]+]]: {{.*}}update = 1{{.*}}, %[[C:[a-z0-9]+]]: {{.*}}update = 2{{.*}}, %[[D:[a-z0-9]+]]: {{.*}}update = 3{{.*}}, %[[E:[a-z0-9]+]]: {{.*}}update = 4
  // CHECK-NEXT:    dtc.all_reduce sum %[[E]] over ["pp"]
  // CHECK-NEXT:    %[[G:.*]]:2 = dtc.all_reduce sum %[[A]], %[[B]] over ["dp"]
  // CHECK-NEXT:    %[[N:.*]] = dtc.sum_squares %[[G]]#0
  // CHECK-NEXT:    dtc.sqrt %[[N]]
  // CHECK-NEXT:    dtc.all_reduce sum %[[C]] over ["dp"]
  // CHECK-NEXT:    dtc.all_reduce sum %[[D]] over ["dp"]
  // CHECK-NEXT:    return %[[G]]#0, %[[G]]#1
  func.func private @update(%a: tensor<100000xf32, #p> {dtc.update = 0 : i64}, %b: tensor<100000xf32, #p> {dtc.update = 1 : i64},
                            %c: tensor<100000xf32, #p> {dtc.update = 2 : i64}, %d: tensor<f64, #p> {dtc.update = 3 : i64},
                            %e: tensor<f64, #pp> {dtc.update = 4 : i64})
      -> (tensor<100000xf32, #r>, tensor<100000xf32, #r>, tensor<100000xf32, #r>, tensor<f64, #r>, tensor<f64, #r>) attributes {dtc.phase = #dtc.phase<update>} {
    %0 = dtc.all_reduce sum %a over ["dp"] : (tensor<100000xf32, #p>) -> tensor<100000xf32, #r>
    %1 = dtc.sum_squares %0 : (tensor<100000xf32, #r>) -> tensor<f64, #r>
    %2 = dtc.sqrt %1 : (tensor<f64, #r>) -> tensor<f64, #r>
    %5 = dtc.all_reduce sum %e over ["pp"] : (tensor<f64, #pp>) -> tensor<f64, #r>
    %3 = dtc.all_reduce sum %b over ["dp"] : (tensor<100000xf32, #p>) -> tensor<100000xf32, #r>
    %4 = dtc.all_reduce sum %c over ["dp"] : (tensor<100000xf32, #p>) -> tensor<100000xf32, #r>
    %6 = dtc.all_reduce sum %d over ["dp"] : (tensor<f64, #p>) -> tensor<f64, #r>
    return %0, %3, %4, %6, %5 : tensor<100000xf32, #r>, tensor<100000xf32, #r>, tensor<100000xf32, #r>, tensor<f64, #r>, tensor<f64, #r>
  }
  func.func @plan() {
    return
  }
}
}
