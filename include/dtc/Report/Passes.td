//===- Passes.td - passes that write down what plans cost --*- tablegen -*-===//

#ifndef DTC_REPORT_PASSES_TD
#define DTC_REPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecordWork : Pass<"dtc-record-work", "mlir::ModuleOp"> {
  let summary = "write down what launches and library calls cost";
  let description = [{
    Of the stages of a training step: `dtc.work` has FLOPs and bytes of one
    execution on a rank, and `dtc.model_flops` what the model asks of all ranks
    in a step (`countModelFlops`). A program shows how fast it is by them.

    ```mlir
    %1 = dtc.launch @kernels::@kernel_relu(%0) : (tensor<8x10xf32, #dp>) -> tensor<8x10xf32, #dp>
    // with 8 x 10 elements on a rank:
    %1 = dtc.launch @kernels::@kernel_relu(%0) {dtc.work = array<i64: 80, 640>} : ...
    ```
  }];
}

#endif // DTC_REPORT_PASSES_TD
