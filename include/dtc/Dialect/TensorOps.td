//===- TensorOps.td - ops on logical tensors ---------------*- tablegen -*-===//

#ifndef DTC_DIALECT_TENSOROPS_TD
#define DTC_DIALECT_TENSOROPS_TD

include "dtc/Dialect/OpBase.td"

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Elementwise with NumPy broadcasting. The element type of the result is that
/// of the operand `typeFrom`, or f16 or bf16 if a later operand has it: a result
/// of a 16-bit operand is stored in 16 bits.
class DTC_ElementwiseOp<string name, DTC_Linearity linearity, int typeFrom = 0,
                        list<Trait> traits = []>
    : DTC_InferredOp<name, traits> {
  let extraClassDefinition = [{
    ::dtc::ShardingRule $cppClass::getShardingRule() {
      return ::dtc::elementwiseRule(*this, }] # linearity.cpp # [{);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::dtc::inferBroadcast(location, operands, }] # typeFrom # [{, types);
    }
  }];
}

class DTC_UnaryOp<string name, DTC_Linearity linearity = LinearInNone>
    : DTC_ElementwiseOp<name, linearity> {
  let arguments = (ins DTC_Float:$x);
  let results = (outs DTC_Float:$y);
  let description = "Elementwise. Example: `%y = dtc." # name #
      " %x : (tensor<4xf32>) -> tensor<4xf32>`";
}

def DTC_NegOp : DTC_UnaryOp<"neg", LinearJointly> { let summary = "-x"; }
def DTC_AbsOp : DTC_UnaryOp<"abs"> { let summary = "absolute value"; }
def DTC_ExpOp : DTC_UnaryOp<"exp"> { let summary = "e to the x"; }
def DTC_LogOp : DTC_UnaryOp<"log"> { let summary = "natural logarithm"; }
def DTC_SqrtOp : DTC_UnaryOp<"sqrt"> { let summary = "square root"; }
def DTC_ReciprocalOp : DTC_UnaryOp<"reciprocal"> { let summary = "1 / x"; }
def DTC_TanhOp : DTC_UnaryOp<"tanh"> { let summary = "hyperbolic tangent"; }
def DTC_ErfOp : DTC_UnaryOp<"erf"> { let summary = "Gauss error function"; }
def DTC_SigmoidOp : DTC_UnaryOp<"sigmoid"> { let summary = "1 / (1 + exp(-x))"; }
def DTC_ReluOp : DTC_UnaryOp<"relu"> { let summary = "max(x, 0)"; }
def DTC_SinOp : DTC_UnaryOp<"sin"> { let summary = "sine"; }
def DTC_CosOp : DTC_UnaryOp<"cos"> { let summary = "cosine"; }
def DTC_AtanOp : DTC_UnaryOp<"atan"> { let summary = "arctangent"; }
def DTC_FloorOp : DTC_UnaryOp<"floor"> { let summary = "largest integer that is not greater than x; gradient zero"; }

def DTC_StopGradientOp : DTC_UnaryOp<"stop_gradient", LinearJointly> {
  let summary = "x, without a gradient";
  let description = [{
    PyTorch's `detach`. Differentiation replaces it by its operand.
    Example: `%y = dtc.stop_gradient %x : (tensor<4xf32>) -> tensor<4xf32>`
  }];
}

class DTC_BinaryOp<string name, DTC_Linearity linearity = LinearInNone>
    : DTC_ElementwiseOp<name, linearity, 0, [DTC_SameComputeType]> {
  let arguments = (ins DTC_Number:$lhs, DTC_Number:$rhs);
  let results = (outs DTC_Number:$result);
  let description = [{
    Elementwise with NumPy broadcasting.
    Example: `%c = dtc.}] # name # [{ %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>`
  }];
}

def DTC_AddOp : DTC_BinaryOp<"add", LinearJointly> { let summary = "a + b"; }
def DTC_SubOp : DTC_BinaryOp<"sub", LinearJointly> { let summary = "a - b"; }
def DTC_MulOp : DTC_BinaryOp<"mul", LinearInEach> { let summary = "a * b"; }
def DTC_DivOp : DTC_BinaryOp<"div", LinearInFirst> { let summary = "a / b"; }
def DTC_PowOp : DTC_BinaryOp<"pow"> { let summary = "a to the b"; }
def DTC_MaximumOp : DTC_BinaryOp<"maximum"> { let summary = "the larger of a and b"; }
def DTC_MinimumOp : DTC_BinaryOp<"minimum"> { let summary = "the smaller of a and b"; }

def DTC_CompareOp : DTC_InferredOp<"compare", [DTC_SameComputeType]> {
  let summary = "elementwise comparison with NumPy broadcasting";
  let description = [{
    Example: `%m = dtc.compare gt %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>`
  }];
  let arguments = (ins DTC_ComparisonAttr:$predicate, DTC_Number:$lhs, DTC_Number:$rhs);
  let results = (outs DTC_Bool:$result);
  let assemblyFormat = [{
    $predicate operands attr-dict `:` functional-type(operands, results)
  }];
}

class DTC_LogicalOp<string name> : DTC_ElementwiseOp<name, LinearInNone> {
  let arguments = (ins DTC_Bool:$lhs, DTC_Bool:$rhs);
  let results = (outs DTC_Bool:$result);
}
def DTC_LogicalAndOp : DTC_LogicalOp<"logical_and"> { let summary = "a and b"; }
def DTC_LogicalOrOp : DTC_LogicalOp<"logical_or"> { let summary = "a or b"; }
def DTC_LogicalNotOp : DTC_ElementwiseOp<"logical_not", LinearInNone> {
  let summary = "not a";
  let arguments = (ins DTC_Bool:$x);
  let results = (outs DTC_Bool:$y);
}

def DTC_SelectOp : DTC_ElementwiseOp<"select", LinearInRest, 1> {
  let summary = "elementwise choice with NumPy broadcasting";
  let description = [{
    `on_true` where the condition holds, else `on_false`.
    Example: `%c = dtc.select %m, %a, %b : (tensor<4x4xi1>, tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>`
  }];
  let arguments = (ins DTC_Bool:$condition, DTC_Number:$on_true, DTC_Number:$on_false);
  let results = (outs DTC_Number:$result);
}

def DTC_CastOp : DTC_TensorOp<"cast"> {
  let summary = "elementwise conversion of the element type";
  let description = [{
    Floating point to integer truncates towards zero; to bool it compares with zero.
    Example: `%y = dtc.cast %x : (tensor<4xi64>) -> tensor<4xf32>`
    Constraints: (C1) operand and result have the same shape.
  }];
  let arguments = (ins DTC_Tensor:$x);
  let results = (outs DTC_Tensor:$y);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

def DTC_ConstantOp : DTC_TensorOp<"constant"> {
  let summary = "a tensor known at compile time";
  let description = [{
    Always replicated. Example: `%c = dtc.constant dense<1.0> : tensor<f32>`
    Constraints: (C1) the value has the shape and element type of the result.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs DTC_Tensor:$result);
  let assemblyFormat = "attr-dict $value `to` type($result)";
  let hasVerifier = 1;
}

def DTC_ReshapeOp : DTC_TensorOp<"reshape", [DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "same elements in row-major order with another shape";
  let description = [{
    Example: `%y = dtc.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>`
    Constraints: (C1) same number of elements; (C2) same element type.
  }];
  let arguments = (ins DTC_Tensor:$x);
  let results = (outs DTC_Tensor:$y);
  let hasVerifier = 1;
}

def DTC_TransposeOp : DTC_InferredOp<"transpose", [DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "permutation of dimensions";
  let description = [{
    Dimension i of the result is dimension permutation[i] of the operand. A view
    if no element moves on a rank: all but the dimensions of size 1 keep their order.
    Example: `%y = dtc.transpose %x [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>`
    Constraints: (C1) the permutation is one of 0 .. rank-1.
  }];
  let arguments = (ins DTC_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x $permutation attr-dict `:` functional-type(operands, results)";
}

def DTC_BroadcastOp : DTC_TensorOp<"broadcast"> {
  let summary = "broadcast of a tensor by NumPy's rules";
  let description = [{
    Dimensions are aligned at the end; a missing dimension or one of size 1 is repeated.
    Example: `%y = dtc.broadcast %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>`
    Constraints: (C1) the operand's shape broadcasts to the result's.
  }];
  let arguments = (ins DTC_Tensor:$x);
  let results = (outs DTC_Tensor:$y);
  let hasVerifier = 1;
}

def DTC_SliceOp : DTC_TensorOp<"slice", [DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "a contiguous range of one dimension";
  let description = [{
    Elements start .. start + size of dimension `axis`; the result type has the size.
    The result is a copy, since either value may be overwritten or sent without the
    other. With `view` it may share the operand's memory, if elements are contiguous.
    Example: `%y = dtc.slice %x axis 1 from 2 : (tensor<4x8xf32>) -> tensor<4x3xf32>`
    Constraints: (C1) other dimensions are unchanged; (C2) the range lies inside.
  }];
  let arguments = (ins DTC_Tensor:$x, I64Attr:$axis, I64Attr:$start, UnitAttr:$view);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `axis` $axis `from` $start attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_PadOp : DTC_TensorOp<"pad"> {
  let summary = "zeros before and after one dimension";
  let description = [{
    The operand at start .. of dimension `axis` of the result, zeros elsewhere:
    the transpose of `dtc.slice`.
    Example: `%y = dtc.pad %x axis 1 at 2 : (tensor<4x3xf32>) -> tensor<4x8xf32>`
    Constraints: (C1) other dimensions are unchanged; (C2) the operand fits.
  }];
  let arguments = (ins DTC_Float:$x, I64Attr:$axis, I64Attr:$start);
  let results = (outs DTC_Float:$y);
  let assemblyFormat = "$x `axis` $axis `at` $start attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_SplitOp : DTC_TensorOp<"split"> {
  let summary = "consecutive ranges of one dimension";
  let description = [{
    Example: `%a, %b = dtc.split %x axis 1 : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x6xf32>)`
    Constraints: (C1) sizes along `axis` add up; (C2) other dimensions are unchanged.
  }];
  let arguments = (ins DTC_Tensor:$x, I64Attr:$axis);
  let results = (outs Variadic<DTC_Tensor>:$parts);
  let assemblyFormat = "$x `axis` $axis attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_ConcatOp : DTC_TensorOp<"concat"> {
  let summary = "concatenation along one dimension";
  let description = [{
    Example: `%y = dtc.concat %a, %b axis 1 : (tensor<4x2xf32>, tensor<4x6xf32>) -> tensor<4x8xf32>`
    Constraints: (C1) sizes along `axis` add up; (C2) other dimensions agree.
  }];
  let arguments = (ins Variadic<DTC_Tensor>:$parts, I64Attr:$axis);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$parts `axis` $axis attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions, normalisation
//===----------------------------------------------------------------------===//

class DTC_ReduceOp<string name> : DTC_InferredOp<name> {
  let description = [{
    Reduced dimensions stay, with size 1. The result of f16 and bf16 is f32.
    Example: `%y = dtc.}] # name # [{ %x axes [0] : (tensor<4x8xf32>) -> tensor<1x8xf32>`
    Constraints: (C1) axes ascend and exist.
  }];
  let arguments = (ins DTC_Float:$x, DenseI64ArrayAttr:$axes);
  let results = (outs DTC_Float:$y);
  let assemblyFormat = "$x `axes` $axes attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def DTC_ReduceSumOp : DTC_ReduceOp<"reduce_sum"> { let summary = "sum over dimensions"; }
def DTC_ReduceMaxOp : DTC_ReduceOp<"reduce_max"> { let summary = "maximum over dimensions"; }

def DTC_SoftmaxOp : DTC_UnaryOp<"softmax"> {
  let summary = "softmax over the last dimension";
  let description = "exp(x - max) / sum(exp(x - max)), each over the last dimension.";
  let extraClassDefinition = [{
    ::dtc::ShardingRule $cppClass::getShardingRule() {
      return ::dtc::rowwiseRule(*this);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::dtc::inferBroadcast(location, operands, 0, types);
    }
  }];
}
def DTC_LogSoftmaxOp : DTC_UnaryOp<"log_softmax"> {
  let summary = "logarithm of the softmax over the last dimension";
  let description = "x - max - log(sum(exp(x - max))), each over the last dimension.";
  let extraClassDefinition = DTC_SoftmaxOp.extraClassDefinition;
}

def DTC_LayerNormOp : DTC_InferredOp<"layer_norm"> {
  let summary = "layer normalisation over the last dimension";
  let description = [{
    mean and rstd = 1 / sqrt(variance + epsilon) are per row (biased variance);
    y = (x - mean) * rstd * scale + bias. (Ba, Kiros and Hinton, arXiv 1607.06450.)

    Example: `%y, %mean, %rstd = dtc.layer_norm %x, %scale, %bias {epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)`
    Constraints: (C1) scale and bias have the shape of x's last dimension.
  }];
  let arguments = (ins DTC_Float:$x, DTC_Float:$scale, DTC_Float:$bias, F64Attr:$epsilon);
  let results = (outs DTC_Float:$y, DTC_Float:$mean, DTC_Float:$rstd);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products, lookups
//===----------------------------------------------------------------------===//

def DTC_MatMulOp : DTC_InferredOp<"matmul", [DTC_Product, SameOperandsElementType, DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let summary = "matrix product over the last two dimensions";
  let description = [{
    op(lhs) op(rhs), where op transposes the last two dimensions if its flag is set.
    Example: `%c = dtc.matmul %a, %b {transpose_rhs} : (tensor<2x4x8xf32>, tensor<2x5x8xf32>) -> tensor<2x4x5xf32>`
    Constraints: (C1) both have the same rank >= 2 and the same leading
    dimensions; (C2) the contracted sizes agree.
  }];
  let arguments = (ins DTC_Float:$lhs, DTC_Float:$rhs,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs DTC_Float:$result);
}

def DTC_MatMulEpilogueOp : DTC_TensorOp<"matmul_epilogue", [
    DTC_Product, SameOperandsAndResultElementType,
    DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let summary = "matrix product with an elementwise epilogue";
  let description = [{
    With p = op(lhs) op(rhs), as in `dtc.matmul`, the result is

        bias        p + other
        relu        max(p + other, 0)
        gelu        gelu(p + other)
        gelu_grad   p * gelu'(other)
        add         p + other, or p + other + bias

    where gelu(x) = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). All of it
    is computed in f32 and rounded once. `sum`, of gelu, is p + other.
    (Hendrycks and Gimpel, arXiv 1606.08415.)

    Made by `FormEpilogues`, for targets that have it; layouts are known.

    Example: `%y, %x = dtc.matmul_epilogue gelu %a, %w, %b : (tensor<4x8xbf16>, tensor<8x16xbf16>, tensor<16xbf16>) -> (tensor<4x16xbf16>, tensor<4x16xbf16>)`
    Constraints: (C1) lhs and rhs are matrices of 16-bit numbers, and their
    contracted sizes agree; (C2) other is a row, or for gelu_grad and add has
    the shape of the product, and only add may have a bias, which is a row;
    (C3) results have the shape of the product, and only gelu has a second one;
    (C4) a rank's rows have a multiple of 8 elements.
  }];
  let arguments = (ins DTC_EpilogueAttr:$epilogue, DTC_Float:$lhs,
                       DTC_Float:$rhs, DTC_Float:$other,
                       Optional<DTC_Float>:$bias,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs DTC_Float:$result, Optional<DTC_Float>:$sum);
  let assemblyFormat = [{
    $epilogue operands attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether other is a matrix, else a row.
    bool hasMatrix() {
      return getEpilogue() == ::dtc::Epilogue::gelu_grad ||
             getEpilogue() == ::dtc::Epilogue::add;
    }
  }];
}

def DTC_MatMulBiasGradOp : DTC_TensorOp<"matmul_bias_grad", [
    DTC_Product, DeclareOpInterfaceMethods<DTC_CostInterface, ["getFlops"]>]> {
  let summary = "gradients of a layer's weight and bias";
  let description = [{
    The product of `dtc.matmul`, in f32, and the sums over the contracted
    dimension of one operand, the gradient of a layer's result: of rhs, or with
    `of_lhs` of lhs. The library sums what it reads for the product.

    Made by `FormBiasGradients`, for targets that have it; layouts are known.

    Example: `%dw, %db = dtc.matmul_bias_grad %x, %dy {transpose_lhs} : (tensor<32x8xbf16>, tensor<32x16xbf16>) -> (tensor<8x16xf32>, tensor<16xf32>)`
    Constraints: (C1) lhs and rhs are matrices of one type of 16 bits, and their
    contracted sizes agree; (C2) results are f32, of the product's shape and a
    row of its columns, with of_lhs of its rows; (C3) the contracted dimension
    is the first of the operand that is summed.
  }];
  let arguments = (ins DTC_Float:$lhs, DTC_Float:$rhs, UnitAttr:$transpose_lhs,
                       UnitAttr:$transpose_rhs, UnitAttr:$of_lhs);
  let results = (outs DTC_Float:$result, DTC_Float:$sums);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def DTC_GatherOp : DTC_InferredOp<"gather"> {
  let summary = "rows of a table by index: an embedding lookup";
  let description = [{
    result[i..., :] = table[indices[i...], :]. Indices are in range: the
    training program checks its data when it reads them.

    The first `batch_dims` dimensions of table, indices and result are one:
    result[b..., i..., :] = table[b..., indices[b..., i...], :].

    With `starts`, of P elements, dimension 0 of the table consists of P equal
    parts, and the first row of part p has index starts[p]. The result is a sum
    over parts, where a part without the index contributes zero. So a table that
    is split gives the same rows.

    Example: `%y = dtc.gather %table, %i : (tensor<256x128xf32>, tensor<8x16xi64>) -> tensor<8x16x128xf32>`
    Example: `%y = dtc.gather %x, %i {batch_dims = 1 : i64} : (tensor<8x64x32xf32>, tensor<8xi64>) -> tensor<8x32xf32>`
    Constraints: (C1) starts have the indices' element type and rank 1, and
    their number divides dimension 0 of the table; (C2) table and indices begin
    with the same `batch_dims` sizes, which are no more than the indices have
    and fewer than the table has; (C3) starts are of tables without batch
    dimensions.
  }];
  let arguments = (ins DTC_Tensor:$table, DTC_Int:$indices, Optional<DTC_Int>:$starts,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs DTC_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$table, "::mlir::Value":$indices, CArg<"int64_t", "0">:$batch_dims), [{
    build($_builder, $_state, table, indices, ::mlir::Value(), batch_dims);
  }]>];
  let hasVerifier = 1;
}

def DTC_ScatterAddOp : DTC_TensorOp<"scatter_add"> {
  let summary = "sum of rows into a table of zeros: the transpose of a gather";
  let description = [{
    result[indices[i...], :] += updates[i..., :], in row-major order of i.
    `batch_dims` and `starts` as for `dtc.gather`; a part ignores the indices
    that it has no row for.
    Example: `%t = dtc.scatter_add %i, %u : (tensor<8x16xi64>, tensor<8x16x128xf32>) -> tensor<256x128xf32>`
    Constraints: (C1) updates' shape is that of indices followed by that of a
    table row; (C2) starts and `batch_dims` as for `dtc.gather`.
  }];
  let arguments = (ins DTC_Int:$indices, DTC_Float:$updates, Optional<DTC_Int>:$starts,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs DTC_Float:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$indices, "::mlir::Value":$updates, CArg<"int64_t", "0">:$batch_dims), [{
    build($_builder, $_state, result, indices, updates, ::mlir::Value(), batch_dims);
  }]>];
  let hasVerifier = 1;
}

def DTC_OneHotOp : DTC_TensorOp<"one_hot"> {
  let summary = "true in the column of each index";
  let description = [{
    result[i..., c] = (indices[i...] = c). If the index is out of range, the whole
    row is false. `starts` as for `dtc.gather`, of the last dimension.
    Example: `%h = dtc.one_hot %i : (tensor<8x16xi64>) -> tensor<8x16x256xi1>`
    Constraints: (C1) the result's shape is that of the indices and one
    dimension more; (C2) starts have the indices' element type and rank 1, and
    their number divides the result's last dimension.
  }];
  let arguments = (ins DTC_Int:$indices, Optional<DTC_Int>:$starts);
  let results = (outs DTC_Bool:$result);
  let hasVerifier = 1;
}

#endif // DTC_DIALECT_TENSOROPS_TD
