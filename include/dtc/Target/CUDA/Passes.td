//===- Passes.td - passes that compile kernels for GPUs ----*- tablegen -*-===//

#ifndef DTC_TARGET_CUDA_PASSES_TD
#define DTC_TARGET_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddEpilogueKernels : Pass<"dtc-add-epilogue-kernels", "mlir::ModuleOp"> {
  let summary = "Add a kernel for the epilogue of each matmul";
  let description = [{
    A library may lack an algorithm for a matmul with its epilogue on some GPUs. So
    each `dtc.matmul_epilogue` gets a kernel that computes its results from the
    plain product, in f32. The runtime launches this kernel after the matmul if
    the library lacks the epilogue. The kernel may overwrite the plain product.

    Before:
    ```mlir
    %y = dtc.matmul_epilogue relu %a, %w, %b : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<16xbf16>) -> tensor<4x16xbf16>
    ```
    After:
    ```mlir
    %y = dtc.matmul_epilogue relu %a, %w, %b {dtc.epilogue_kernel = @kernels::@kernel_after_relu_4x16xbf16} : ...

    module @kernels {
      func.func @kernel_after_relu_4x16xbf16(%p: tensor<4x16xbf16>, %b: tensor<16xbf16>) -> tensor<4x16xbf16> attributes {dtc.kernel} {
        ...
        %4 = dtc.relu %3 : (tensor<4x16xf32>) -> tensor<4x16xf32>
        %5 = dtc.cast %4 : (tensor<4x16xf32>) -> tensor<4x16xbf16>
    ```
  }];
  let dependentDialects = ["dtc::DTCDialect", "mlir::func::FuncDialect"];
}

def LowerKernelsToGpu : Pass<"dtc-lower-kernels-to-gpu", "mlir::ModuleOp"> {
  let summary = "Lower linalg on tensors to device functions and launches";
  let description = [{
    Each nest of a kernel's row loops becomes a function of the module @device,
    and the kernel becomes the list of their launches. A kernel has the same
    arguments as on a CPU (`dtc-lower-kernels`): operands, results, scratch.
    Threads share a nest's loops in one of these ways:

    * *elements*: each thread computes a chunk of columns of any row, 16 bytes wide
      if alignment allows, then the next chunk that no other thread has.
    * *columns*, for sums over rows: each thread has a chunk of columns, and adds
      one row after another.
    * *rows*, for reductions of rows: a team of threads computes each row. They
      combine values by shuffles, and by shared memory if a team is larger than a
      warp. Chunks of up to 32 elements stay in registers between the phases of a
      row.
    * *tiles*, for transposed operands: each block reads a tile to shared memory.
    * *scatter*, for additions at indices: several functions sort positions by
      the row of the table that they update, and each thread sums a slice of the
      sorted positions. For a small table, each thread keeps a sum for each row.

    Sums over rows are computed in slices, whose sums a second launch adds in
    their order. Nothing is atomic, and no bit depends on the order of blocks.

    Before:
    ```mlir
    func.func @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = linalg.generic ... { math.exp } ...
    ```
    After:
    ```mlir
    gpu.module @device {
      gpu.func @k_0(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
        %t = gpu.thread_id x
        %c = arith.muli %t, %c4
        %0 = vector.load %x[%c] {alignment = 16} : memref<32xf32>, vector<4xf32>
        ...
    func.func @k(%x: memref<32xf32>, %y: memref<32xf32>) {
      gpu.launch_func @device::@k_0 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(...)
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::math::MathDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def MergeLaunches : Pass<"dtc-merge-launches", "mlir::ModuleOp"> {
  let summary = "Merge launches of similar device functions";
  let description = [{
    Independent launches of a kernel whose device functions differ only in buffers
    and constants become one launch of all their blocks. A block first selects its
    buffers and constants by its number. So the update of any number of parameters
    takes a few launches.

    Before:
    ```mlir
    gpu.launch_func @device::@k_0 blocks in (%c4, %c1, %c1) ... args(%x : memref<1000xf32>)
    gpu.launch_func @device::@k_1 blocks in (%c1, %c1, %c1) ... args(%y : memref<40xf32>)
    ```
    After:
    ```mlir
    gpu.func @k_0(%x: memref<1000xf32>, %y: memref<40xf32>) kernel {
      %block = gpu.block_id x
      %first = arith.cmpi ult, %block, %c4
      %own, %buffer, %size = scf.if %first -> (index, memref<?xf32>, index) { ... } else { ... }
      ...
    gpu.launch_func @device::@k_0 blocks in (%c5, %c1, %c1) ... args(%x : memref<1000xf32>, %y : memref<40xf32>)
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect"];
}

def LowerLaunches : Pass<"dtc-lower-launches", "mlir::ModuleOp"> {
  let summary = "Lower the launches of kernels to calls of the runtime";
  let description = [{
    A kernel becomes a function of the host that takes the addresses of the
    kernel's buffers and the context. Each launch is a call of `dtcrt_launch`
    with the number of its device function, in the order of @device. Arguments
    that no launch writes to are marked `llvm.readonly`, which the proof of
    communication reads.

    Before:
    ```mlir
    func.func @k(%x: memref<32xf32>, %y: memref<32xf32>) {
      gpu.launch_func @device::@k_0 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
          args(%x : memref<32xf32>, %y : memref<32xf32>)
    ```
    After:
    ```mlir
    llvm.func @k(%x: !llvm.ptr {llvm.readonly}, %y: !llvm.ptr, %context: !llvm.ptr) {
      ...                                              // an array of %x and %y
      llvm.call @dtcrt_launch(%context, %0, %c1, %c256, %arguments)
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def EmulateDevice : Pass<"dtc-emulate-device", "mlir::ModuleOp"> {
  let summary = "Lower device functions to host code, for tests";
  let description = [{
    Each function of @device becomes a host function that runs one thread. Thread
    and block numbers, shared memory, barriers and shuffles come from the first
    argument, `dtc_emulated_thread` of the runtime's ABI. Buffers come from the
    second, an array of addresses. The first argument also counts iterations of
    loops, so that tests can check that threads share the work.

    Before: `gpu.func @k_0(%x: memref<32xf32>) kernel { gpu.barrier ... }`

    After: `func.func private @device_k_0(%self: !llvm.ptr, %arguments: !llvm.ptr) { llvm.call %barrier(%self) ... }`
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::LLVM::LLVMDialect"];
}

def CompileDeviceKernels : Pass<"dtc-compile-device-kernels", "mlir::ModuleOp"> {
  let summary = "Lower the modules of kernels to launches and device code";
  let description = [{
    Runs the passes from dtc-lower-to-linalg to the LLVM dialect on every nested
    module that has kernels, and on no other. Kernels become host functions that
    launch. Device functions become a `gpu.module` in the LLVM and NVVM dialects;
    with `emulate` they become host functions in the module itself. The alignment
    of kernel buffers follows from their launches.

    Before: `func.func @relu(%x: tensor<8xf32>) -> tensor<8xf32> attributes {dtc.kernel} {...}`

    After: `llvm.func @relu(%x: !llvm.ptr, %y: !llvm.ptr, %context: !llvm.ptr) attributes {dtc.kernel} {...}`
  }];
  let options = [
    Option<"isEmulated", "emulate", "bool", "false",
           "emulate device functions on the host">,
  ];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect",
    "mlir::gpu::GPUDialect", "mlir::linalg::LinalgDialect",
    "mlir::LLVM::LLVMDialect", "mlir::math::MathDialect",
    "mlir::memref::MemRefDialect", "mlir::NVVM::NVVMDialect",
    "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect",
    "mlir::vector::VectorDialect"];
}

#endif // DTC_TARGET_CUDA_PASSES_TD
