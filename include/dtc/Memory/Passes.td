//===- Passes.td - passes of memory ------------------------*- tablegen -*-===//

#ifndef DTC_MEMORY_PASSES_TD
#define DTC_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"dtc-plan-memory", "mlir::ModuleOp"> {
  let summary = "give every buffer a static offset";
  let description = [{
    Each function gets a frame for the values that are neither its arguments
    nor its results; each plan an arena for its arguments, its values and the
    frames of its runs. Values share bytes when their lifetimes are disjoint,
    or when `AliasInterface` says that they are the same memory. The new value of
    an argument that does not overwrite it takes its place, which is free from
    the last use of the one to the other; if there is no such time, it is copied
    there in the end. An evaluation
    shares the arena of its stage: its arguments are where the step has them, and
    all else lies around what the step keeps.

    Before: `%0 = dtc.relu %x : ...`

    After: `%0 = dtc.relu %x {dtc.offsets = array<i64: 256>} : ...` in a
    function with `dtc.frame_bytes = 1024`; offset -1 is memory of the caller.

    With `offload`, arguments of a plan that hold optimizer state, and with
    `offload=parameters` those that hold parts of parameters, lie in memory of
    the host, `dtc.host_bytes` of it, whose offsets begin at 2^62.

    Before: `%m: tensor<1x32768xf32, #dp1> {dtc.state = "/bucket0.exp_avg"}`

    After: `%m: ... {dtc.offset = 4611686018427387904, dtc.state = "/bucket0.exp_avg"}`
  }];
  let options = [
    Option<"offload", "offload", "std::string", "\"none\"", "What lies in the host's memory: none, state, parameters">,
  ];
}

def PoisonMemory : Pass<"dtc-poison-memory", "mlir::ModuleOp"> {
  let summary = "fill memory with NaN where nothing is live";
  let description = [{
    For tests of kernels and of the memory plan. A plan begins by poisoning all
    that is not an argument of it, or of the step's, if it is an evaluation's;
    after a run, the frame is poisoned, and after the last op that needs a
    buffer, the buffer. So what is read of dead memory, or not written of a
    result, is NaN. Kernels find their scratch poisoned.

    Before: `%0 = dtc.relu %x {dtc.offsets = array<i64: 256>} : ...`, and all uses

    After: `dtc.poison 1024 at 256` follows the last use.
  }];
}

def InsertCopies : Pass<"dtc-insert-copies", "mlir::ModuleOp"> {
  let summary = "copy what is overwritten while it is still needed";
  let description = [{
    Some ops overwrite an operand (`AliasInterface`), of which there may be views.
    If one of these values is read after that, or by the same op, it is copied
    before. A constant is copied before it is overwritten. Most programs need
    no copy.

    Before:
    ```mlir
    %1 = dtc.reshape %0 : (tensor<1x8xf32, #partial>) -> tensor<8xf32, #partial>
    %2 = dtc.all_reduce sum %0 over ["dp"] : (tensor<1x8xf32, #partial>) -> tensor<1x8xf32, #r>
    %3 = dtc.all_reduce sum %1 over ["dp"] : (tensor<8xf32, #partial>) -> tensor<8xf32, #r>
    ```
    After:
    ```mlir
    %1 = dtc.reshape %0 : (tensor<1x8xf32, #partial>) -> tensor<8xf32, #partial>
    %c = dtc.copy %1 : tensor<8xf32, #partial>
    %2 = dtc.all_reduce sum %0 over ["dp"] : (tensor<1x8xf32, #partial>) -> tensor<1x8xf32, #r>
    %3 = dtc.all_reduce sum %c over ["dp"] : (tensor<8xf32, #partial>) -> tensor<8xf32, #r>
    ```
  }];
}

#endif // DTC_MEMORY_PASSES_TD
