//===- MixedPrecision.cpp - matmuls and activations in 16 bits ------------===//
//
// Casts parameters and inputs where they are used. The types of all values that
// are computed from them follow.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Training/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtc {
#define GEN_PASS_DEF_MIXEDPRECISION
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

static Value castTo(Value value, Type element, Operation *user) {
  OpBuilder builder(user);
  auto type = cast<RankedTensorType>(value.getType());
  return CastOp::create(builder, user->getLoc(), type.clone(element), value);
}

/// Casts the operands for which `isChosen` holds.
static void castOperands(Operation *op, Type element,
                         function_ref<bool(OpOperand &)> isChosen) {
  for (OpOperand &operand : op->getOpOperands())
    if (isChosen(operand))
      operand.set(castTo(operand.get(), element, op));
}

/// Whether a step reads an argument in 16 bits: trained parameters and the
/// model's input data. Labels, running statistics and buffers, such as the
/// frequencies of rotary embeddings, keep their types.
static bool isCast(func::FuncOp step, BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  if (!isF32(argument.getType()) || step.getArgAttr(number, attr::frozen))
    return false;
  if (StringAttr kind = getArgString(argument, attr::kind))
    return kind.getValue() == "input";
  return bool(getArgString(argument, attr::parameter));
}

/// The integers that an op looks up rows or matrices by.
static Value getIndices(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<GatherOp, ScatterAddOp, OneHotOp, GroupedMatMulOp, DispatchOp,
            CombineOp, CountRowsOp>(
          [](auto lookup) { return lookup.getIndices(); })
      .Default(Value());
}

/// The matmuls whose results decide indices, such as those of routers: the last
/// products before each index.
static llvm::DenseSet<Operation *> findDecisions(func::FuncOp step) {
  llvm::SetVector<Operation *> before; // ops that indices depend on
  for (Operation &op : step.front())
    if (Value indices = getIndices(&op))
      if (Operation *producer = indices.getDefiningOp())
        before.insert(producer);
  llvm::DenseSet<Operation *> decisions;
  for (unsigned i = 0; i < before.size(); ++i) {
    Operation *op = before[i];
    if (isa<MatMulOp>(op))
      decisions.insert(op);
    if (op->hasTrait<Product>())
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        before.insert(producer);
  }
  return decisions;
}

/// Casts each use separately, because each use has its own gradient, and these
/// are added in f32. Matmuls that decide indices read f32.
static void castArguments(func::FuncOp step, Type narrow,
                          const llvm::DenseSet<Operation *> &decisions) {
  for (BlockArgument argument : step.getArguments())
    if (isCast(step, argument))
      for (OpOperand &use : llvm::make_early_inc_range(argument.getUses()))
        if (!isa<func::ReturnOp>(use.getOwner()) &&
            !decisions.contains(use.getOwner()))
          use.set(castTo(argument, narrow, use.getOwner()));
}

/// The element type of a result of an op without type inference: the type of
/// the operands that it moves or multiplies.
static Type getElement(Operation *op) {
  for (Value operand : op->getOperands())
    if (isFloat16(operand.getType()))
      return getElementTypeOrSelf(operand.getType());
  return {};
}

/// Updates the types of an op's results by those of its operands.
static LogicalResult updateTypes(Operation *op, Type narrow, bool isDecision) {
  auto isNarrow = [](Value value) { return isFloat16(value.getType()); };
  if (isDecision)
    castOperands(
        op, Float32Type::get(op->getContext()),
        [](OpOperand &operand) { return isFloat16(operand.get().getType()); });
  else if (op->hasTrait<Product>())
    castOperands(op, narrow, [](OpOperand &operand) {
      return isF32(operand.get().getType());
    });
  if (llvm::none_of(op->getOperands(), isNarrow) || isa<CompareOp>(op))
    return success();
  if (auto cast = dyn_cast<CastOp>(op)) {
    // The model's own cast to f32 of a value that has 16 bits now.
    if (isF32(cast.getY().getType()))
      cast.getY().setType(
          cast.getY().getType().clone(getElementTypeOrSelf(cast.getX())));
    return success();
  }
  if (auto inferred = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> types;
    if (failed(inferred.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return failure();
    for (auto [result, type] : llvm::zip(op->getResults(), types))
      result.setType(type);
    return success();
  }
  bool movesElements = llvm::any_of(
      op->getResults(), [](Value result) { return isF32(result.getType()); });
  // All operands have one type: the 16-bit type, or f32 if the op moves no
  // elements.
  castOperands(op, movesElements ? narrow : Float32Type::get(op->getContext()),
               [&](OpOperand &operand) {
                 Type type = operand.get().getType();
                 return movesElements
                            ? isF32(type)
                            : isFloat16(type) && !isa<CrossEntropyOp>(op);
               });
  for (Value result : op->getResults())
    if (isF32(result.getType()))
      result.setType(
          cast<RankedTensorType>(result.getType()).clone(getElement(op)));
  return success();
}

namespace {

struct MixedPrecision : dtc::impl::MixedPrecisionBase<MixedPrecision> {
  using MixedPrecisionBase::MixedPrecisionBase;

  void runOnOperation() override {
    std::string name = type;
    if (name == "fp32")
      return;
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    Builder builder(&getContext());
    Type narrow = name == "bf16"   ? Type(builder.getBF16Type())
                  : name == "fp16" ? Type(builder.getF16Type())
                                   : Type();
    if (!narrow) {
      step->emitError("--precision is '")
          << name << "', expected fp32, bf16 or fp16";
      return signalPassFailure();
    }
    // Small gradients would underflow in f16 (Micikevicius et al., section
    // 3.2).
    if (narrow.isF16() && failed(getScalarInput(*step, lossScaleKind)))
      return signalPassFailure();
    llvm::DenseSet<Operation *> decisions = findDecisions(*step);
    castArguments(*step, narrow, decisions);
    for (Operation &op : step->front().without_terminator())
      if (failed(updateTypes(&op, narrow, decisions.contains(&op))))
        return signalPassFailure();
    step->setType(builder.getFunctionType(step->getArgumentTypes(),
                                          getReturn(*step).getOperandTypes()));
  }
};

} // namespace
