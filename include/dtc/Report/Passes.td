//===- Passes.td - passes that record the cost of plans ----*- tablegen -*-===//

#ifndef DTC_REPORT_PASSES_TD
#define DTC_REPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecordWork : Pass<"dtc-record-work", "mlir::ModuleOp"> {
  let summary = "Record the cost of launches and library calls";
  let description = [{
    In the stages of a training step, `dtc.work` holds the FLOPs and bytes of
    one execution on a rank, and `dtc.model_flops` the model's FLOPs in a step
    over all ranks (`countModelFlops`). The program computes its speed from
    them.

    ```mlir
    %1 = dtc.launch @kernels::@kernel_relu(%0) : (tensor<8x10xf32, #dp>) -> tensor<8x10xf32, #dp>
    // with 8 x 10 elements on a rank:
    %1 = dtc.launch @kernels::@kernel_relu(%0) {dtc.work = array<i64: 80, 640>} : ...
    ```
  }];
}

#endif // DTC_REPORT_PASSES_TD
