//===- PlanOps.td - plan of a pipeline stage ---------------*- tablegen -*-===//

#ifndef DTC_DIALECT_PLANOPS_TD
#define DTC_DIALECT_PLANOPS_TD

include "dtc/Dialect/OpBase.td"

def DTC_RunOp : DTC_Op<"run", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "run a function of the stage once";
  let description = [{
    An argument of the function with `dtc.update = i` is overwritten and
    becomes result i.
    Example: `%y = dtc.run @forward(%x, %w) microbatch 0 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>`
    Constraints: (C1) the function exists in the same module and has these types.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<DTC_Tensor>:$inputs,
                       OptionalAttr<I64Attr>:$microbatch);
  let results = (outs Variadic<DTC_Tensor>:$outputs);
  let assemblyFormat = [{
    $callee `(` $inputs `)` (`microbatch` $microbatch^)? attr-dict `:` functional-type($inputs, $outputs)
  }];
  let extraClassDeclaration = [{
    /// The called function; null if there is none.
    ::mlir::FunctionOpInterface getFunction();
  }];
}

def DTC_LaunchOp : DTC_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "launch a kernel";
  let description = [{
    The kernel is a function of fused tensor ops in the module `@kernels`. An
    argument of it with `dtc.update = i` is overwritten and becomes result i.
    Example: `%y = dtc.launch @kernels::@k0(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>`
    Constraints: (C1) the kernel exists and has these types, layouts aside.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<DTC_Tensor>:$inputs);
  let results = (outs Variadic<DTC_Tensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)
  }];
  let extraClassDeclaration = [{
    /// The called function; null if there is none.
    ::mlir::FunctionOpInterface getFunction();
  }];
}

def DTC_SendOp : DTC_Op<"send", [
    MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["x", "y"]>,
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "start to send a value to another stage";
  let description = [{
    The receiver is the rank with the same coordinates on every axis but pp.
    Messages from one stage to another match by tag. The result is the operand,
    in flight. Nothing may write the operand before a `dtc.wait` on the result.
    Example: `%s = dtc.send %a to 1 tag 3 : tensor<16x512xf32>`
    Constraints: (C1) the types agree.
  }];
  let arguments = (ins DTC_Tensor:$x, I64Attr:$stage, I64Attr:$tag);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `to` $stage `tag` $tag attr-dict `:` type($x)";
}

def DTC_RecvOp : DTC_Op<"recv", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start to receive a value from another stage";
  let description = [{
    The sender is the rank with the same coordinates on every axis but pp. The
    value may be read after a `dtc.wait` on it.
    Example: `%a = dtc.recv from 0 tag 3 : tensor<16x512xf32>`
  }];
  let arguments = (ins I64Attr:$stage, I64Attr:$tag);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "`from` $stage `tag` $tag attr-dict `:` type($y)";
}

def DTC_RecordOp : DTC_Op<"record", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "pass the model's output to the runtime";
  let description = [{
    The runtime may copy this rank's part of the micro-batch's output, and keeps no
    reference to it. It does nothing unless --predict asks for predictions.
    Example: `dtc.record %logits microbatch 0 : tensor<16x10xf32>`
  }];
  let arguments = (ins DTC_Tensor:$x, I64Attr:$microbatch);
  let assemblyFormat = "$x `microbatch` $microbatch attr-dict `:` type($x)";
}

def DTC_WaitOp : DTC_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for the end of a transfer";
  let description = [{
    The operand is the result of a send, a receive, or a collective with
    `dtc.async`, which may have been started in another function that the plan
    runs. After the wait, its operands may be overwritten, and its results read.
    Example: `dtc.wait %s : tensor<16x512xf32>`
  }];
  let arguments = (ins DTC_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def DTC_MicrobatchOp : DTC_Op<"microbatch", [
    Pure, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "the rows of one micro-batch";
  let description = [{
    Example: `%x0 = dtc.microbatch %x[0] : tensor<64x784xf32, #mb_dp> -> tensor<16x784xf32, #dp>`
    Constraints: (C1) the operand is split on mb along dimension 0, as its
    major axis, and the result is the part of one micro-batch; (C2) the index
    is a micro-batch of the mesh.
  }];
  let arguments = (ins DTC_Tensor:$x, I64Attr:$index);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `[` $index `]` attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def DTC_ZeroOp : DTC_Op<"zero", [Pure]> {
  let summary = "a buffer of zeros";
  let description = [{
    Example: `%z = dtc.zero : tensor<784x512xf32>`
  }];
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
}

def DTC_PoisonOp : DTC_Op<"poison", [MemoryEffects<[MemWrite]>]> {
  let summary = "fill dead memory with NaN";
  let description = [{
    Fills bytes of the function's frame; in a plan, bytes of the arena. It sets
    all bits, which is NaN in floats and -1 in integers. For tests.
    Example: `dtc.poison 256 at 1024`
  }];
  let arguments = (ins I64Attr:$offset, I64Attr:$bytes);
  let assemblyFormat = "$bytes `at` $offset attr-dict";
}

def DTC_CopyOp : DTC_Op<"copy", [Pure, AllTypesMatch<["x", "y"]>]> {
  let summary = "copy of a value in memory of its own";
  let description = [{
    Copies a value whose memory is overwritten while it is still needed.
    Example: `%c = dtc.copy %g : tensor<784x512xf32>`
    Constraints: (C1) the types agree.
  }];
  let arguments = (ins DTC_Tensor:$x);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def DTC_AccumulateOp : DTC_Op<"accumulate", [
    Pure, AllTypesMatch<["x", "accumulator", "result"]>,
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "add a micro-batch's part to an accumulator, in place";
  let description = [{
    Example: `%r = dtc.accumulate %dw into %acc : tensor<784x512xf32>`
  }];
  let arguments = (ins DTC_Tensor:$x, DTC_Tensor:$accumulator);
  let results = (outs DTC_Tensor:$result);
  let assemblyFormat = "$x `into` $accumulator attr-dict `:` type($x)";
}

#endif // DTC_DIALECT_PLANOPS_TD
