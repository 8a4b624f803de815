//===- RandomOps.td - counter-based random numbers ---------*- tablegen -*-===//

#ifndef DTC_DIALECT_RANDOMOPS_TD
#define DTC_DIALECT_RANDOMOPS_TD

include "dtc/Dialect/TensorOps.td"

def DTC_Seed : Type<
    And<[RankedTensorOf<[I64]>.predicate,
         CPred<"::llvm::cast<::mlir::ShapedType>($_self).getRank() == 0">]>,
    "scalar i64 tensor", "::mlir::RankedTensorType">;

def DTC_RandomUniformOp : DTC_TensorOp<"random_uniform"> {
  let summary = "uniform random numbers between 0 and 1";
  let description = [{
    A function of the seed, the step, `id` and the element's row-major index in
    the whole tensor, and of nothing else: a rank makes any part of the result
    by itself, and makes it again where it is needed again. The word w of
    `dtc.philox` becomes (w / 512 + 0.5) / 2^23, which f32 and f64 represent
    exactly; 0 and 1 do not occur.

    Each part says which part of dimension `dims` the result is, of `ways` equal
    ones. Parts of one dimension are major to minor. PropagateLayouts adds one
    for each axis that splits the result. Where `ways` is 0, one more operand
    says how many there are, a scalar.

    Example: `%u = dtc.random_uniform %seed, %step {id = 3 : i64} : (tensor<i64>, tensor<f64>) -> tensor<8x16xf32>`
    Constraints: (C1) each part has a dimension and a number of ways; (C2) a
    result that axes split has the parts of these axes, in their order; (C3) one
    part at most has 0 ways.
  }];
  let arguments = (ins DTC_Seed:$seed, DTC_Scalar:$step,
                       Variadic<RankedTensorOf<[I64, F64]>>:$parts, I64Attr:$id,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$ways);
  let results = (outs DTC_Float:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$seed, "::mlir::Value":$step, "int64_t":$id), [{
    build($_builder, $_state, result, seed, step, ::mlir::ValueRange(), id);
  }]>];
  let extraClassDeclaration = [{
    /// The numbers of the parts, one for each of `dims`.
    ::mlir::OperandRange getNumbers() {
      return getParts().take_front(getDims().size());
    }
    /// How many parts there are where `ways` is 0; null if it is nowhere.
    ::mlir::Value getOpenWays() {
      return getParts().size() > getDims().size() ? getParts().back()
                                                  : ::mlir::Value();
    }
  }];
  let hasVerifier = 1;
}

def DTC_DropoutOp : DTC_ElementwiseOp<"dropout", LinearInNone, 0, [DeclareOpInterfaceMethods<DTC_EvaluationInterface>]> {
  let summary = "random zeroing of elements";
  let description = [{
    Zero with the probability that is given, else x / (1 - probability). An
    element is zero where `dtc.random_uniform` of the same seed, step and id is
    less than the probability. In an evaluation x itself, which is the mean.
    (Srivastava et al., JMLR 15, 2014.)

    Example: `%y = dtc.dropout %x, %seed, %step {id = 3 : i64, probability = 1.0e-1 : f64} : (tensor<8x16xf32>, tensor<i64>, tensor<f64>) -> tensor<8x16xf32>`
    Constraints: (C1) the probability is from 0 to 1.
  }];
  let arguments = (ins DTC_Float:$x, DTC_Seed:$seed, DTC_Scalar:$step, I64Attr:$id, F64Attr:$probability);
  let results = (outs DTC_Float:$y);
  let hasVerifier = 1;
}

def DTC_PhiloxOp : DTC_Op<"philox", [Pure]> {
  let summary = "one word of a counter-based random number generator";
  let description = [{
    Word position % 4 of Philox 4x32-10 (Salmon et al., SC 2011) under the key
    `seed` for the counter (block mod 2^32, step mod 2^32, block / 2^32 * 2^16 +
    use, id), word 0 first, where block = position / 4. The use 4 tells the
    numbers of kernels from those of the runtime, which draws weights and the
    order of samples by the same scheme. Vectors are computed lane by lane.

    Example: `%w = dtc.philox %seed, %step, %position {id = 3 : i64} : (i64, i64, i64) -> i32`
  }];
  let arguments = (ins AnyTypeOf<[I64, VectorOfAnyRankOf<[I64]>]>:$seed,
                       AnyTypeOf<[I64, VectorOfAnyRankOf<[I64]>]>:$step,
                       AnyTypeOf<[I64, VectorOfAnyRankOf<[I64]>]>:$position,
                       I64Attr:$id, DefaultValuedAttr<I64Attr, "4">:$use);
  let results = (outs AnyTypeOf<[I32, VectorOfAnyRankOf<[I32]>]>:$word);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // DTC_DIALECT_RANDOMOPS_TD
