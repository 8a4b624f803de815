//===- TrainingOps.td - losses, updates, stage boundaries --*- tablegen -*-===//

#ifndef DTC_DIALECT_TRAININGOPS_TD
#define DTC_DIALECT_TRAININGOPS_TD

include "dtc/Dialect/OpBase.td"

//===----------------------------------------------------------------------===//
// Losses: sums in double precision, so that a mean over the global batch is
// one division by a global count.
//===----------------------------------------------------------------------===//

def DTC_CrossEntropyOp : DTC_TensorOp<"cross_entropy"> {
  let summary = "sum of the negative log-likelihoods of labels";
  let description = [{
    Sum over all rows whose label is not `ignore_index` of
    log(sum(exp(logits))) - logits[label]. Classes are the first `classes` elements
    of the last dimension, or all without this attribute.
    Example: `%l = dtc.cross_entropy %z, %t : (tensor<32x10xf32>, tensor<32xi64>) -> tensor<f64>`
    Constraints: (C1) labels have the shape of logits without the last dimension;
    (C2) `classes` is 1 to the last dimension's size.
  }];
  let arguments = (ins DTC_Float:$logits, DTC_Int:$labels,
                       OptionalAttr<I64Attr>:$ignore_index,
                       OptionalAttr<I64Attr>:$classes);
  let results = (outs DTC_Scalar:$loss);
  let hasVerifier = 1;
}

def DTC_CrossEntropyGradOp : DTC_TensorOp<"cross_entropy_grad"> {
  let summary = "gradient of cross_entropy with respect to its logits";
  let description = [{
    (softmax(logits) - onehot(labels)) * dloss, zero in ignored rows and in
    columns that are no `classes`.
    Example: `%d = dtc.cross_entropy_grad %z, %t, %dl : (tensor<32x10xf32>, tensor<32xi64>, tensor<f64>) -> tensor<32x10xf32>`
    Constraints: (C1), (C2) as cross_entropy; the result has the type of logits.
  }];
  let arguments = (ins DTC_Float:$logits, DTC_Int:$labels, DTC_Scalar:$dloss,
                       OptionalAttr<I64Attr>:$ignore_index,
                       OptionalAttr<I64Attr>:$classes);
  let results = (outs DTC_Float:$dlogits);
  let hasVerifier = 1;
}

def DTC_CountLabelsOp : DTC_TensorOp<"count_labels"> {
  let summary = "number of labels that are not ignored";
  let description = [{
    Example: `%n = dtc.count_labels %t {ignore_index = -100 : i64} : (tensor<32xi64>) -> tensor<f64>`
  }];
  let arguments = (ins DTC_Int:$labels, I64Attr:$ignore_index);
  let results = (outs DTC_Scalar:$count);
}

def DTC_SquaredErrorOp : DTC_TensorOp<"squared_error"> {
  let summary = "sum of squared differences";
  let description = [{
    Example: `%l = dtc.squared_error %y, %t : (tensor<32x5xf32>, tensor<32x5xf32>) -> tensor<f64>`
    Constraints: (C1) both operands have the same shape; (C2) arithmetic on both
    is of one type, as f32 is for f32 and bf16.
  }];
  let arguments = (ins DTC_Float:$prediction, DTC_Float:$target);
  let results = (outs DTC_Scalar:$loss);
  let hasVerifier = 1;
}

def DTC_SumSquaresOp : DTC_TensorOp<"sum_squares"> {
  let summary = "sum of the squares of all elements, in double precision";
  let description = [{
    Example: `%n = dtc.sum_squares %g : (tensor<8x16xf32>) -> tensor<f64>`
  }];
  let arguments = (ins DTC_Float:$x);
  let results = (outs DTC_Scalar:$result);
}

def DTC_ClipByNormOp : DTC_TensorOp<"clip_by_norm"> {
  let summary = "gradient scaled by a limit of the global gradient norm";
  let description = [{
    gradient * min(1, max_norm / (norm + 1e-6)), as
    torch.nn.utils.clip_grad_norm_; the factor is computed in double precision
    and cast. With `loss_scale` the gradient, but not the norm, has that factor
    and is divided by it. If the norm is NaN or infinite, because an element has
    overflowed, all elements become NaN. The op is not linear, since the norm
    depends on the whole gradient: a partial gradient is reduced first, once for
    norm and clipping.
    Example: `%c = dtc.clip_by_norm %g, %norm {max_norm = 1.0 : f64} : (tensor<8xf32>, tensor<f64>) -> tensor<8xf32>`
    Constraints: (C1) the result has the type of the gradient.
  }];
  let arguments = (ins DTC_Float:$gradient, DTC_Scalar:$norm,
                       Optional<DTC_Scalar>:$loss_scale, F64Attr:$max_norm);
  let results = (outs DTC_Float:$clipped);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::dtc::ShardingRule $cppClass::getShardingRule() {
      return ::dtc::elementwiseRule(*this, ::dtc::Linearity::None);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Optimizer updates: elementwise, in place once buffers are assigned.
//===----------------------------------------------------------------------===//

class DTC_UpdateOp<string name> : DTC_TensorOp<name, [
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let results = (outs DTC_Float:$new_parameter, Variadic<DTC_Float>:$new_state);
  let hasVerifier = 1;
  // Operands are parameter, gradient, then scalars, then state.
  code shared = [{
    ::dtc::ShardingRule $cppClass::getShardingRule() {
      return ::dtc::elementwiseRule(*this, ::dtc::Linearity::None);
    }
    std::optional<::dtc::Alias> $cppClass::getAlias(unsigned result) {
      unsigned operand = result == 0 ? 0 : getState().getBeginOperandIndex() + result - 1;
      return ::dtc::Alias{operand, ::dtc::AliasKind::Update};
    }
    ::llvm::LogicalResult $cppClass::verify() {
      return ::dtc::detail::verifyUpdate(*this, getState().size());
    }
  }];
  let extraClassDefinition = shared;
}

def DTC_SgdOp : DTC_UpdateOp<"sgd"> {
  let summary = "stochastic gradient descent with momentum";
  let description = [{
    As torch.optim.SGD: d = g + weight_decay * p; with momentum,
    b' = momentum * b + d, and d = d + momentum * b' (nesterov) or b';
    p' = p - lr * d. State: b, if momentum is not zero. All arithmetic in the
    parameter's type; lr is cast first. With `dtc.skip_nan`, as for all updates,
    elements whose gradient is NaN stay as they are.

    Example: `%p1 = dtc.sgd %p, %g, %lr {momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> tensor<8xf32>`
    Constraints: (C1) parameter, gradient and state have one type; (C2) one
    result for the parameter and one for each state.
  }];
  let arguments = (ins DTC_Float:$parameter, DTC_Float:$gradient, DTC_Scalar:$lr,
                       Variadic<DTC_Float>:$state, F64Attr:$momentum,
                       UnitAttr:$nesterov, F64Attr:$weight_decay);
}

def DTC_AdamOp : DTC_UpdateOp<"adam"> {
  let summary = "Adam, and AdamW with `decoupled` weight decay";
  let description = [{
    As torch.optim.Adam and AdamW (Kingma and Ba, arXiv 1412.6980; Loshchilov
    and Hutter, arXiv 1711.05101): with `decoupled`, p is first scaled by
    1 - lr * weight_decay, else g = g + weight_decay * p;
    m' = beta1 * m + (1 - beta1) * g; v' = beta2 * v + (1 - beta2) * g * g;
    p' = p - lr / (1 - beta1^step) * m' / (sqrt(v' / (1 - beta2^step)) + epsilon).
    State: m, v. `step` counts from 1. Scalars are computed in double
    precision, elements in the parameter's type.

    Example: `%p1, %m1, %v1 = dtc.adam %p, %g, %lr, %t, %m, %v {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-8 : f64, weight_decay = 0.01 : f64, decoupled} : (...) -> (...)`
    Constraints: as dtc.sgd; two states.
  }];
  let arguments = (ins DTC_Float:$parameter, DTC_Float:$gradient, DTC_Scalar:$lr,
                       DTC_Scalar:$step, Variadic<DTC_Float>:$state,
                       F64Attr:$beta1, F64Attr:$beta2, F64Attr:$epsilon,
                       F64Attr:$weight_decay, UnitAttr:$decoupled);
}

def DTC_RmsPropOp : DTC_UpdateOp<"rmsprop"> {
  let summary = "RMSProp, with momentum";
  let description = [{
    As torch.optim.RMSprop, not centered: g = g + weight_decay * p;
    v' = alpha * v + (1 - alpha) * g * g; d = g / (sqrt(v') + epsilon); with
    momentum, b' = momentum * b + d and d = b'; p' = p - lr * d.
    State: v, and b if momentum is not zero.

    Example: `%p1, %v1 = dtc.rmsprop %p, %g, %lr, %v {alpha = 0.99 : f64, epsilon = 1.0e-8 : f64, momentum = 0.0 : f64, weight_decay = 0.0 : f64} : (...) -> (...)`
    Constraints: as dtc.sgd; one or two states.
  }];
  let arguments = (ins DTC_Float:$parameter, DTC_Float:$gradient, DTC_Scalar:$lr,
                       Variadic<DTC_Float>:$state, F64Attr:$alpha,
                       F64Attr:$epsilon, F64Attr:$momentum, F64Attr:$weight_decay);
}

def DTC_AdagradOp : DTC_UpdateOp<"adagrad"> {
  let summary = "Adagrad";
  let description = [{
    As torch.optim.Adagrad, without decay of the learning rate:
    g = g + weight_decay * p; s' = s + g * g; p' = p - lr * g / (sqrt(s') + epsilon).
    State: s.

    Example: `%p1, %s1 = dtc.adagrad %p, %g, %lr, %s {epsilon = 1.0e-10 : f64, weight_decay = 0.0 : f64} : (...) -> (...)`
    Constraints: as dtc.sgd; one state.
  }];
  let arguments = (ins DTC_Float:$parameter, DTC_Float:$gradient, DTC_Scalar:$lr,
                       Variadic<DTC_Float>:$state, F64Attr:$epsilon,
                       F64Attr:$weight_decay);
}

def DTC_LionOp : DTC_UpdateOp<"lion"> {
  let summary = "Lion: the sign of a moment";
  let description = [{
    Chen et al., arXiv 2302.06675, algorithm 2:
    p' = p - lr * (sign(beta1 * m + (1 - beta1) * g) + weight_decay * p);
    m' = beta2 * m + (1 - beta2) * g. The sign of zero is zero. State: m.

    Example: `%p1, %m1 = dtc.lion %p, %g, %lr, %m {beta1 = 0.9 : f64, beta2 = 0.99 : f64, weight_decay = 0.0 : f64} : (...) -> (...)`
    Constraints: as dtc.sgd; one state.
  }];
  let arguments = (ins DTC_Float:$parameter, DTC_Float:$gradient, DTC_Scalar:$lr,
                       Variadic<DTC_Float>:$state, F64Attr:$beta1,
                       F64Attr:$beta2, F64Attr:$weight_decay);
}

def DTC_LarsOp : DTC_UpdateOp<"lars"> {
  let summary = "momentum of scaled steps, as of LARS";
  let description = [{
    You et al., arXiv 1708.03888, algorithm 1, given the local rate:
    b' = momentum * b + lr * (g + weight_decay * p); p' = p - b', where `lr` is
    the global rate times the local rate of the tensor. In contrast to dtc.sgd,
    b holds steps and not gradients, so each keeps the rate of its own time.
    State: b.

    Example: `%p1, %b1 = dtc.lars %p, %g, %lr, %b {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64} : (...) -> (...)`
    Constraints: as dtc.sgd; one state.
  }];
  let arguments = (ins DTC_Float:$parameter, DTC_Float:$gradient, DTC_Scalar:$lr,
                       Variadic<DTC_Float>:$state, F64Attr:$momentum,
                       F64Attr:$weight_decay);
}

def DTC_AdamDirectionOp : DTC_TensorOp<"adam_direction", [
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "update direction of AdamW, without the step";
  let description = [{
    m' and v' as dtc.adam; the direction is
    m' / (1 - beta1^step) / (sqrt(v' / (1 - beta2^step)) + epsilon) + weight_decay * p,
    which LAMB scales by norms of whole tensors before it steps.

    Example: `%d, %m1, %v1 = dtc.adam_direction %p, %g, %t, %m, %v {beta1 = 0.9 : f64, beta2 = 0.999 : f64, epsilon = 1.0e-6 : f64, weight_decay = 0.01 : f64} : (...) -> (...)`
    Constraints: as dtc.sgd, for the direction in place of the new parameter;
    two states.
  }];
  let arguments = (ins DTC_Float:$parameter, DTC_Float:$gradient, DTC_Scalar:$step,
                       Variadic<DTC_Float>:$state, F64Attr:$beta1,
                       F64Attr:$beta2, F64Attr:$epsilon, F64Attr:$weight_decay);
  let results = (outs DTC_Float:$direction, Variadic<DTC_Float>:$new_state);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::dtc::ShardingRule $cppClass::getShardingRule() {
      return ::dtc::elementwiseRule(*this, ::dtc::Linearity::None);
    }
    std::optional<::dtc::Alias> $cppClass::getAlias(unsigned result) {
      if (result == 0)
        return std::nullopt;
      unsigned operand = getState().getBeginOperandIndex() + result - 1;
      return ::dtc::Alias{operand, ::dtc::AliasKind::Update};
    }
    ::llvm::LogicalResult $cppClass::verify() {
      return ::dtc::detail::verifyUpdate(*this, getState().size());
    }
  }];
}

def DTC_AverageOp : DTC_TensorOp<"average", [
    DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "exponential moving average of a parameter";
  let description = [{
    a' = decay * a + (1 - decay) * p, in place. With `dtc.skip_nan`, as of
    running statistics, elements where p is NaN or infinite stay as they are.

    Example: `%a1 = dtc.average %a, %p {decay = 0.999 : f64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>`
    Constraints: (C1) both operands and the result have one type.
  }];
  let arguments = (ins DTC_Float:$average, DTC_Float:$parameter, F64Attr:$decay);
  let results = (outs DTC_Float:$new_average);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::dtc::ShardingRule $cppClass::getShardingRule() {
      return ::dtc::elementwiseRule(*this, ::dtc::Linearity::None);
    }
    std::optional<::dtc::Alias> $cppClass::getAlias(unsigned) {
      return ::dtc::Alias{0, ::dtc::AliasKind::Update};
    }
  }];
}

//===----------------------------------------------------------------------===//
// Pipeline stages
//===----------------------------------------------------------------------===//

def DTC_BoundaryOp : DTC_TensorOp<"boundary", [
    AllTypesMatch<["x", "y"]>, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "transfer of a value from one pipeline stage to another";
  let description = [{
    The identity; its transpose is the boundary in the opposite direction. The
    operand lives on stage `from`, the result on stage `to`.
    Example: `%b = dtc.boundary %a from 0 to 1 : tensor<64x512xf32>`
    Constraints: (C1) stages differ and are not negative.
  }];
  let arguments = (ins DTC_Tensor:$x, I64Attr:$from, I64Attr:$to);
  let results = (outs DTC_Tensor:$y);
  let assemblyFormat = "$x `from` $from `to` $to attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def DTC_SumOverStagesOp : DTC_TensorOp<"sum_over_stages", [
    PredOpTrait<"parts have the result's type", CPred<[{
      ::llvm::all_of($_op.getOperandTypes(), [&](::mlir::Type type) {
        return type == $_op.getResult(0).getType();
      })}]>>]> {
  let summary = "sum of values that may live on different stages";
  let description = [{
    The result lives on every stage. Constraints: (C1) parts have its type.
    Example: `%n = dtc.sum_over_stages %a, %b : (tensor<f64>, tensor<f64>) -> tensor<f64>`
  }];
  let arguments = (ins Variadic<DTC_Float>:$parts);
  let results = (outs DTC_Float:$result);
}

#endif // DTC_DIALECT_TRAININGOPS_TD
