//===- TrainingOps.cpp - constraints of losses, updates, boundaries -------===//
//
// Verifies the constraints that the ops' documentation numbers.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

static LogicalResult verifyLabels(Operation *op, RankedTensorType logits,
                                  RankedTensorType labels,
                                  std::optional<int64_t> classes) {
  if (logits.getRank() == 0 ||
      logits.getShape().drop_back() != labels.getShape())
    return op->emitOpError("labels are ")
           << labels << ", expected the shape of logits " << logits
           << " without the last dimension";
  int64_t columns = logits.getShape().back();
  if (classes && (*classes < 1 || *classes > columns))
    return op->emitOpError("has ")
           << *classes << " classes, expected 1 to " << columns;
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  return verifyLabels(*this, getLogits().getType(), getLabels().getType(),
                      getClasses());
}

LogicalResult CrossEntropyGradOp::verify() {
  if (!haveSameShapes(getLogits().getType(), getDlogits().getType()))
    return emitOpError("result is ")
           << getDlogits().getType() << ", expected the type of logits "
           << getLogits().getType();
  return verifyLabels(*this, getLogits().getType(), getLabels().getType(),
                      getClasses());
}

LogicalResult SquaredErrorOp::verify() {
  RankedTensorType prediction = getPrediction().getType();
  RankedTensorType target = getTarget().getType();
  if (prediction.getShape() != target.getShape() ||
      !haveSameComputeType({prediction, target}))
    return emitOpError("compares ") << prediction << " with " << target;
  return success();
}

LogicalResult ClipByNormOp::verify() {
  if (!haveSameShapes(getGradient().getType(), getClipped().getType()))
    return emitOpError("result is ")
           << getClipped().getType() << ", expected the type of the gradient "
           << getGradient().getType();
  return success();
}

LogicalResult AverageOp::verify() {
  if (!haveSameShapes(getAverage().getType(), getParameter().getType()) ||
      !haveSameShapes(getAverage().getType(), getNewAverage().getType()))
    return emitOpError("averages ")
           << getParameter().getType() << " in " << getAverage().getType()
           << " to " << getNewAverage().getType() << ", expected one type";
  return success();
}

LogicalResult BoundaryOp::verify() {
  int64_t from = getFrom(), to = getTo();
  if (from == to || from < 0 || to < 0)
    return emitOpError("goes from stage ")
           << from << " to stage " << to
           << ", expected two different stages from 0 on";
  return success();
}

std::optional<Alias> BoundaryOp::getAlias(unsigned) {
  return Alias{0, AliasKind::View};
}

LogicalResult dtc::detail::verifyUpdate(Operation *op, unsigned numStates) {
  if (op->getNumResults() != numStates + 1)
    return op->emitOpError("has ")
           << op->getNumResults() << " results, expected " << numStates + 1
           << ": the parameter and each state";
  Type parameter = op->getOperand(0).getType();
  for (Type type : op->getResultTypes())
    if (!haveSameShapes(type, parameter))
      return op->emitOpError("updates ") << parameter << " to " << type;
  for (Value state : op->getOperands().take_back(numStates))
    if (!haveSameShapes(state.getType(), parameter))
      return op->emitOpError("state is ")
             << state.getType() << ", expected " << parameter;
  if (!haveSameShapes(op->getOperand(1).getType(), parameter))
    return op->emitOpError("gradient is ")
           << op->getOperand(1).getType() << ", expected " << parameter;
  return success();
}
