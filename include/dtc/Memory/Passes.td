//===- Passes.td - passes of memory ------------------------*- tablegen -*-===//

#ifndef DTC_MEMORY_PASSES_TD
#define DTC_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"dtc-plan-memory", "mlir::ModuleOp"> {
  let summary = "Assign a static offset to every buffer";
  let description = [{
    Each function gets a frame for its values other than arguments and results.
    Each plan gets an arena for its arguments, its values and the frames of its
    runs. Values share bytes if their lifetimes are disjoint, or if
    `AliasInterface` says that they are the same memory.

    The new value of an argument that does not overwrite the argument takes its
    place. This needs a time at which the old value is dead and the new one is
    not yet live; without one, the new value is copied there at the end.

    An evaluation shares the arena of its stage: its arguments have the step's
    offsets, and all other values lie around the buffers that the step keeps.

    Before: `%0 = dtc.relu %x : ...`

    After: `%0 = dtc.relu %x {dtc.offsets = array<i64: 256>} : ...` in a
    function with `dtc.frame_bytes = 1024`; offset -1 is memory of the caller.

    With `offload=state`, arguments of a plan that hold optimizer state lie in
    host memory. With `offload=parameters`, arguments with shards of parameters
    do, too. `dtc.host_bytes` is the size of this memory, and its offsets begin
    at 2^62.

    Before: `%m: tensor<1x32768xf32, #dp1> {dtc.state = "/bucket0.exp_avg"}`

    After: `%m: ... {dtc.offset = 4611686018427387904, dtc.state = "/bucket0.exp_avg"}`
  }];
  let options = [
    Option<"offload", "offload", "std::string", "\"none\"", "Data in host memory: none, state, parameters">,
  ];
}

def PoisonMemory : Pass<"dtc-poison-memory", "mlir::ModuleOp"> {
  let summary = "Fill dead memory with NaN";
  let description = [{
    For tests of kernels and of the memory plan. A plan begins by poisoning all
    memory that does not hold one of its arguments, or one of the step's if the
    plan is an evaluation's. After a run, it poisons the frame; after the last
    op that needs a buffer, the buffer. So reads of dead memory and unwritten
    parts of results are NaN. The scratch memory of kernels is poisoned, too.

    Before: `%0 = dtc.relu %x {dtc.offsets = array<i64: 256>} : ...`, and all uses

    After: `dtc.poison 1024 at 256` follows the last use.
  }];
}

def InsertCopies : Pass<"dtc-insert-copies", "mlir::ModuleOp"> {
  let summary = "Copy values that are overwritten while still needed";
  let description = [{
    Some ops overwrite an operand (`AliasInterface`), which may have views. If
    another op, or the same op, still reads one of these values, the pass copies
    it first. It also copies a constant before it is overwritten. Most programs
    need no copy.

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
