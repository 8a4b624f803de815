//===- PaddingValues.cpp - values in padding ------------------------------===//
//
// Follows numbers that parameters and constants alone determine from op to op.
// Each value of the class has one number in all of its padding.
//
//===----------------------------------------------------------------------===//

#include "PaddingValues.h"
#include "Numbers.h"
#include "dtc/Dialect/Elementwise.h"
#include "dtc/Dialect/StepFunction.h"

using namespace mlir;
using namespace dtc;

namespace {

class Padding {
public:
  Padding(DimensionClasses &classes, unsigned number)
      : classes(classes), number(number) {}

  bool reaches(Value value) {
    int64_t rank = cast<ShapedType>(value.getType()).getRank();
    return llvm::any_of(llvm::seq(rank), [&](int64_t dim) {
      return classes.getClass(value, dim) == number;
    });
  }
  std::optional<double> get(Value value) {
    if (!reaches(value))
      return getNumber(value);
    auto found = numbers.find(value);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }
  void addParameter(Value parameter) { numbers[parameter] = 0; }
  void addData(Value data) { ofData.insert(data); }
  /// Whether a value is zero in padding, or may be, whatever the data.
  bool canBeZero(Value value) {
    std::optional<double> known = get(value);
    return reaches(value) && (known ? *known == 0 : !ofData.contains(value));
  }
  void add(Operation *op) {
    bool hasData = llvm::any_of(op->getOperands(),
                                [&](Value x) { return ofData.contains(x); });
    for (Value result : op->getResults()) {
      if (hasData)
        ofData.insert(result);
      if (reaches(result))
        if (std::optional<double> known = evaluate(op))
          numbers[result] = *known;
    }
  }

private:
  std::optional<double> evaluate(Operation *op);

  DimensionClasses &classes;
  unsigned number;
  llvm::DenseMap<Value, double> numbers;
  llvm::DenseSet<Value> ofData;
};

} // namespace

std::optional<double> Padding::evaluate(Operation *op) {
  auto isZero = [&](Value value) {
    return reaches(value) && get(value) == 0.0;
  };
  if (isa<MulOp, MatMulOp>(op) && llvm::any_of(op->getOperands(), isZero))
    return 0;
  if (isa<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, SplitOp, ReduceMaxOp,
          StopGradientOp>(op))
    return get(op->getOperand(0));
  if (auto sum = dyn_cast<ReduceSumOp>(op)) {
    std::optional<double> own = get(sum.getX());
    int64_t count =
        sum.getX().getType().getNumElements() / sum.getType().getNumElements();
    return own ? std::optional(*own * double(count)) : std::nullopt;
  }
  SmallVector<double> operands;
  for (Value operand : op->getOperands()) {
    std::optional<double> own = get(operand);
    if (!own)
      return std::nullopt;
    operands.push_back(*own);
  }
  return evaluateElement(op, operands);
}

/// Whether an operand of 0 leaves the op without a value or a gradient.
static bool isUndefinedAtZero(OpOperand &operand) {
  Operation *op = operand.getOwner();
  auto norm = dyn_cast<LayerNormOp>(op);
  return isa<LogOp, SqrtOp, ReciprocalOp>(op) ||
         (norm && operand.getOperandNumber() == 0 &&
          norm.getEpsilon().isZero()) ||
         (isa<DivOp>(op) && operand.getOperandNumber() == 1) ||
         (isa<PowOp>(op) && operand.getOperandNumber() == 0);
}

/// The first op that has no value, or no gradient, in the padding of a class,
/// which is zero in parameters: a division by the norm of a row, a logarithm.
/// Null if there is none. Padding that depends on data is no more often zero
/// than the rest of a value, so it is left to the model.
static Operation *findUndefinedAtPadding(func::FuncOp function,
                                         DimensionClasses &classes,
                                         unsigned number) {
  Padding padding(classes, number);
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attr::parameter))
      padding.addParameter(argument);
    else
      padding.addData(argument);
  for (Operation &op : function.front().without_terminator()) {
    for (OpOperand &operand : op.getOpOperands())
      if (isUndefinedAtZero(operand) && padding.canBeZero(operand.get())) {
        // x^2, x^3 and so on are defined everywhere.
        std::optional<double> exponent =
            isa<PowOp>(op) ? padding.get(op.getOperand(1)) : std::nullopt;
        if (!exponent || *exponent < 1)
          return &op;
      }
    padding.add(&op);
  }
  return nullptr;
}

std::string dtc::describeOp(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    text += " (node '" + name.getName().str() + "')";
  return text;
}

/// Whether padding changes the other elements of an op's result: a maximum may
/// be a zero of the padding, and random numbers depend on positions.
static bool countsPadding(Operation *op, DimensionClasses &classes,
                          unsigned number) {
  auto has = [&](Value value, int64_t dim) {
    return classes.getClass(value, dim) == number;
  };
  if (auto maximum = dyn_cast<ReduceMaxOp>(op))
    return llvm::any_of(maximum.getAxes(), [&](int64_t axis) {
      return has(maximum.getX(), axis);
    });
  if (!isa<RandomUniformOp, DropoutOp>(op))
    return false;
  int64_t rank = cast<ShapedType>(op->getResult(0).getType()).getRank();
  return llvm::any_of(llvm::seq(rank),
                      [&](int64_t dim) { return has(op->getResult(0), dim); });
}

std::string dtc::findPaddingObstacle(func::FuncOp function,
                                     DimensionClasses &classes,
                                     unsigned number) {
  if (classes[number].isGrouped)
    return "it is joined with another dimension";
  for (BlockArgument argument : function.getArguments())
    if (auto part = function.getArgAttrOfType<DictionaryAttr>(
            argument.getArgNumber(), attr::part))
      if (classes.getClass(argument, part.getAs<IntegerAttr>("dim").getInt()) ==
          number)
        return "'" + getTensorName(argument).str() +
               "' has several parts of it";
  for (Operation &op : function.front().without_terminator())
    if (countsPadding(&op, classes, number))
      return describeOp(&op) + " would treat the padding as elements";
  if (Operation *op = findUndefinedAtPadding(function, classes, number))
    return describeOp(op) + " is not defined at the zeros of padding";
  return "";
}
