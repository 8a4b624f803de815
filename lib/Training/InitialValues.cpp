//===- InitialValues.cpp - initial values of parameters -------------------===//
//
// See InitialValues.h. The training program draws the random numbers.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/InitialValues.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// Whether a weight is reshaped to the filters of a convolution.
static bool isFilters(Value weight) {
  return llvm::any_of(weight.getUsers(), [](Operation *user) {
    if (isa<TransposeOp, ReshapeOp>(user))
      return isFilters(user->getResult(0));
    return isa<Conv2DOp, Conv2DInputGradOp>(user);
  });
}

/// The fans of a weight, in and out. One dimension of a matrix is inputs, and
/// the other outputs; the matmul that uses it says which. Products of a stack
/// of matrices, such as those of experts, which are gathered first, use the
/// last two dimensions.
static std::pair<double, double> getFans(Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  double rows = type.getDimSize(0);
  double columns = type.getNumElements() / rows;
  bool areRowsInputs = true;
  for (OpOperand &use : weight.getUses()) {
    Operation *user = use.getOwner();
    if (auto gather = dyn_cast<GatherOp>(user);
        gather && use.getOperandNumber() == 0 && type.getRank() > 2)
      return getFans(gather.getResult());
    auto product = dyn_cast<MatMulOp>(user);
    if (!product)
      continue;
    areRowsInputs = use.getOperandNumber() == 1 ? !product.getTransposeRhs()
                                                : product.getTransposeLhs();
    rows = type.getDimSize(type.getRank() - 2);
    columns = type.getShape().back();
  }
  return areRowsInputs ? std::pair(rows, columns) : std::pair(columns, rows);
}

/// The standard deviation of a weight's elements. In filters [outputs, inputs,
/// height, width], the fans also include the taps.
static double getDeviation(StringRef rule, BlockArgument weight) {
  if (rule == "normal")
    return 0.02;
  auto [fanIn, fanOut] = getFans(weight);
  if (isFilters(weight)) {
    auto type = cast<RankedTensorType>(weight.getType());
    fanIn = double(type.getNumElements()) / type.getDimSize(0);
    fanOut = double(type.getNumElements()) / type.getDimSize(1);
  }
  return rule == "xavier" ? std::sqrt(2.0 / (fanIn + fanOut))
                          : std::sqrt(2.0 / fanIn);
}

/// Whether a vector multiplies its operand: the scale of a norm, also of a norm
/// that the model spells out, or the variance of a batch norm. The slopes of
/// PRelu do not count: they multiply in one branch of a select, whose other
/// branch is the operand itself.
static bool isScale(BlockArgument vector) {
  return llvm::any_of(vector.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto norm = dyn_cast<LayerNormOp>(user))
      return use.get() == norm.getScale();
    if (auto norm = dyn_cast<BatchNormOp>(user))
      return use.get() == norm.getScale() || use.get() == norm.getVariance();
    if (!isa<MulOp>(user))
      return false;
    Value multiplied = user->getOperand(1 - use.getOperandNumber());
    return llvm::none_of(user->getUsers(), [&](Operation *next) {
      return isa<SelectOp>(next) &&
             llvm::is_contained(next->getOperands(), multiplied);
    });
  });
}

static Initializer chooseByRule(StringRef rule, BlockArgument parameter) {
  if (cast<RankedTensorType>(parameter.getType()).getRank() >= 2)
    return {Initializer::Normal, getDeviation(rule, parameter)};
  return {isScale(parameter) ? Initializer::Ones : Initializer::Zeros};
}

FailureOr<Initializers>
dtc::chooseInitializers(ModuleOp module, StringRef rule,
                        llvm::function_ref<bool(StringRef)> hasWeights) {
  auto forward = module.lookupSymbol<func::FuncOp>(forwardName);
  Initializers result;
  SmallVector<StringRef> missing;
  for (BlockArgument argument : forward.getArguments()) {
    auto name = forward.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                     attr::parameter);
    if (!name)
      continue;
    if (!rule.empty())
      result[name] = chooseByRule(rule, argument);
    else if (hasWeights(name))
      result[name] = {Initializer::Weights};
    else
      missing.push_back(name);
  }
  if (missing.empty())
    return result;
  return forward.emitError()
         << missing.size()
         << " parameters have no weights in the model (first: '"
         << missing.front()
         << "'); choose how they start with --init normal, xavier, kaiming "
            "or FILE.safetensors";
}
