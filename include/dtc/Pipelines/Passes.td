//===- Passes.td - passes of all phases --------------------*- tablegen -*-===//

#ifndef DTC_PIPELINES_PASSES_TD
#define DTC_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def Verify : Pass<"dtc-verify", "mlir::ModuleOp"> {
  let summary = "check what holds at the end of a phase";
  let description = [{
    Runs one check, which is an error where it fails and else changes nothing:

    | invariant | function | of |
    |---|---|---|
    | `strategy` | `verifyForward` | the strategy phase |
    | `training` | `verifyTraining` | the training phase |
    | `parallel` | `verifyParallel` | the parallel phase |
    | `memory` | `verifyMemory` | the schedule phase |
    | `communication` | `verifyCommunication` | the schedule phase |
    | `lowered-communication` | `verifyLoweredCommunication` | the lower phase |

    ```mlir
    func.func @step(%x: tensor<8x4xf32>) -> (tensor<f64> {dtc.output = "loss"})
    // with invariant=training: argument 0 is not one of dtc.input, dtc.parameter, dtc.state
    ```
  }];
  let options = [
    Option<"invariant", "invariant", "std::string", "",
           "strategy, training, parallel, memory, communication or lowered-communication">,
  ];
}

def RecordWork : Pass<"dtc-record-work", "mlir::ModuleOp"> {
  let summary = "write down what launches and library calls cost";
  let description = [{
    Of the stages of a training step: `dtc.work` has FLOPs and bytes of one
    execution on a rank, and `dtc.model_flops` what the model asks of all ranks
    in a step (RecordWork.h). A program shows how fast it is by them.

    ```mlir
    %1 = dtc.launch @kernels::@kernel_relu(%0) : (tensor<8x10xf32, #dp>) -> tensor<8x10xf32, #dp>
    // with 8 x 10 elements on a rank:
    %1 = dtc.launch @kernels::@kernel_relu(%0) {dtc.work = array<i64: 80, 640>} : ...
    ```
  }];
}

#endif // DTC_PIPELINES_PASSES_TD
