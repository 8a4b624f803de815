//===- Passes.td - passes that compile kernels for GPUs ----*- tablegen -*-===//

#ifndef DTC_TARGET_CUDA_PASSES_TD
#define DTC_TARGET_CUDA_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddEpilogueKernels : Pass<"dtc-add-epilogue-kernels", "mlir::ModuleOp"> {
  let summary = "add kernels of what products do before they store";
  let description = [{
    A library may have no algorithm for a product with its epilogue on the GPU at
    hand. So each `dtc.matmul_epilogue` gets a kernel that makes its results from
    the plain product, in f32. The runtime launches it after the product if the
    library lacks the epilogue. The kernel may write to where it has read.

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
  let summary = "turn linalg on tensors into device functions and their launches";
  let description = [{
    Each nest of a kernel's row loops becomes a function of the module @device,
    and the kernel the list of launches of these. A kernel has the arguments that
    it has on a CPU (`dtc-lower-kernels`): operands, results, scratch. Threads
    share a nest's loops in one of these ways:

    * *elements*: a chunk of columns of any row for each thread, 16 bytes wide
      where alignment allows, then the next that no other thread has;
    * *columns*: sums over rows: a chunk of columns for each thread, one row
      after the other;
    * *rows*: reductions of rows: a team of threads for each row, which combine
      by shuffles, and by shared memory if they are more than a warp; chunks of
      up to 32 elements stay in registers between the phases of a row;
    * *scatter*: additions at positions that are data, in several functions:
      positions are sorted by the row of the table that they go to, and a thread
      sums a slice of sorted positions; or sums for each row of a small table.

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
  let summary = "make one launch of launches whose functions are alike";
  let description = [{
    Launches of a kernel that nothing orders, and whose device functions are
    equal up to buffers and constants, become one launch of all their blocks. A
    block first chooses its buffers and constants by its number. So the update of
    all parameters is a few launches, whatever their number.

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
  let summary = "turn the launches of a kernel into calls of the runtime";
  let description = [{
    A kernel becomes a function of the host that takes the addresses of the
    kernel's buffers and the context. Each launch is a call of `dtcrt_launch`
    with the number of its device function, in the order of @device. Arguments
    that no launch writes to are marked `llvm.readonly`: the proof of
    communication reads it.

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
  let summary = "turn device functions into code of the host, for tests";
  let description = [{
    Each function of @device becomes what one of its threads does, on the host:
    numbers of thread and block, shared memory, barriers and shuffles come from
    the first argument, `dtc_emulated_thread` of the runtime's ABI, and buffers
    from an array of addresses, the second. Iterations of loops are counted in
    the first argument, so that tests see whether threads share the work.

    Before: `gpu.func @k_0(%x: memref<32xf32>) kernel { gpu.barrier ... }`

    After: `func.func private @device_k_0(%self: !llvm.ptr, %arguments: !llvm.ptr) { llvm.call %barrier(%self) ... }`
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::LLVM::LLVMDialect"];
}

def CompileDeviceKernels : Pass<"dtc-compile-device-kernels", "mlir::ModuleOp"> {
  let summary = "turn the modules of kernels into launches and device code";
  let description = [{
    Runs the passes from dtc-lower-to-linalg to the LLVM dialect on every nested
    module that has kernels, and on no other. Kernels become functions of the
    host that launch, and device functions are in the LLVM dialect, with NVVM's
    operations, in a `gpu.module`; or they are emulated, in the module itself.
    How far buffers of kernels are aligned follows from their launches.

    Before: `func.func @relu(%x: tensor<8xf32>) -> tensor<8xf32> attributes {dtc.kernel} {...}`

    After: `llvm.func @relu(%x: !llvm.ptr, %y: !llvm.ptr, %context: !llvm.ptr) attributes {dtc.kernel} {...}`
  }];
  let options = [
    Option<"isEmulated", "emulate", "bool", "false",
           "device functions become code of the host">,
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
