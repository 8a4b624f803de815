//===- Passes.td - passes of all phases --------------------*- tablegen -*-===//

#ifndef DTC_PIPELINES_PASSES_TD
#define DTC_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def Verify : Pass<"dtc-verify", "mlir::ModuleOp"> {
  let summary = "Check the invariants of a phase";
  let description = [{
    Runs one check. It emits an error if the invariant is broken, and changes
    nothing:

    | invariant | function | phase |
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

#endif // DTC_PIPELINES_PASSES_TD
