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
    log(sum(exp(logits))) - logits[label]; classes are the last dimension.
    Example: `%l = dtc.cross_entropy %z, %t : (tensor<32x10xf32>, tensor<32xi64>) -> tensor<f64>`
    Constraints: (C1) labels have the shape of logits without the last dimension.
  }];
  let arguments = (ins DTC_Float:$logits, DTC_Int:$labels,
                       OptionalAttr<I64Attr>:$ignore_index);
  let results = (outs DTC_Scalar:$loss);
  let hasVerifier = 1;
}

def DTC_CrossEntropyGradOp : DTC_TensorOp<"cross_entropy_grad"> {
  let summary = "gradient of cross_entropy by its logits";
  let description = [{
    (softmax(logits) - onehot(labels)) * dloss, zero in ignored rows.
    Example: `%d = dtc.cross_entropy_grad %z, %t, %dl : (tensor<32x10xf32>, tensor<32xi64>, tensor<f64>) -> tensor<32x10xf32>`
    Constraints: (C1) as cross_entropy; the result has the type of logits.
  }];
  let arguments = (ins DTC_Float:$logits, DTC_Int:$labels, DTC_Scalar:$dloss,
                       OptionalAttr<I64Attr>:$ignore_index);
  let results = (outs DTC_Float:$dlogits);
  let hasVerifier = 1;
}

def DTC_CountLabelsOp : DTC_TensorOp<"count_labels"> {
  let summary = "how many labels are not ignored";
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
    Constraints: (C1) both operands have the same shape.
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
    parameter's type; lr is cast first.

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

//===----------------------------------------------------------------------===//
// Pipeline stages
//===----------------------------------------------------------------------===//

def DTC_BoundaryOp : DTC_TensorOp<"boundary", [
    AllTypesMatch<["x", "y"]>, DeclareOpInterfaceMethods<DTC_AliasInterface>]> {
  let summary = "a value crosses from one pipeline stage to another";
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

def DTC_SumOverStagesOp : DTC_TensorOp<"sum_over_stages"> {
  let summary = "sum of scalars that may live on different stages";
  let description = [{
    The result lives on every stage.
    Example: `%n = dtc.sum_over_stages %a, %b : (tensor<f64>, tensor<f64>) -> tensor<f64>`
  }];
  let arguments = (ins Variadic<DTC_Scalar>:$parts);
  let results = (outs DTC_Scalar:$result);
}

#endif // DTC_DIALECT_TRAININGOPS_TD
