//===- LayerwiseUpdates.cpp - updates by norms of whole tensors -----------===//
//
// Norms are sums of squares, so they add up over the parts of a tensor, and
// over the ranks that split it.
//
//===----------------------------------------------------------------------===//

#include "LayerwiseUpdates.h"
#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

using Settings = OptimizerSettings;
using Values = SmallVector<Value>;

/// The norm of a tensor that is given in parts.
static Value createNorm(OpBuilder &builder, ArrayRef<Value> parts) {
  auto scalar = RankedTensorType::get({}, builder.getF64Type());
  Value sum;
  for (Value part : parts) {
    Value squares = SumSquaresOp::create(builder, part.getLoc(), scalar, part);
    sum = sum ? Value(AddOp::create(builder, part.getLoc(), sum, squares))
              : squares;
  }
  return SqrtOp::create(builder, sum.getLoc(), sum);
}

static Value createConstant(OpBuilder &builder, Location loc, double value) {
  auto scalar = RankedTensorType::get({}, builder.getF64Type());
  return ConstantOp::create(builder, loc, scalar,
                            DenseElementsAttr::get(scalar, value));
}

/// lr times the ratio, which is one instead if a norm is zero.
static Value createRate(OpBuilder &builder, Value lr, ArrayRef<Value> norms,
                        Value ratio) {
  Location loc = ratio.getLoc();
  Value zero = createConstant(builder, loc, 0);
  Value arePositive;
  for (Value norm : norms) {
    Value isPositive =
        CompareOp::create(builder, loc, Comparison::gt, norm, zero);
    arePositive =
        arePositive
            ? Value(LogicalAndOp::create(builder, loc, arePositive, isPositive))
            : isPositive;
  }
  ratio = SelectOp::create(builder, loc, arePositive, ratio,
                           createConstant(builder, loc, 1));
  return MulOp::create(builder, loc, lr, ratio);
}

SmallVector<Values> dtc::createLamb(OpBuilder &builder,
                                    ArrayRef<ParameterUpdate> parts,
                                    const Settings &settings) {
  auto get = [&](const char *name) { return llvm::APFloat(settings.at(name)); };
  SmallVector<AdamDirectionOp> adams;
  Values parameters, directions;
  for (const ParameterUpdate &part : parts) {
    Type type = part.parameter.getType();
    SmallVector<Type> stateTypes(part.state.size(), type);
    adams.push_back(AdamDirectionOp::create(
        builder, part.parameter.getLoc(), type, stateTypes, part.parameter,
        part.gradient, part.step, part.state, get("beta1"), get("beta2"),
        get("epsilon"), get("weight_decay")));
    parameters.push_back(part.parameter);
    directions.push_back(adams.back().getDirection());
  }
  Value norm = createNorm(builder, parameters);
  Value directionNorm = createNorm(builder, directions);
  Value ratio = DivOp::create(builder, norm.getLoc(), norm, directionNorm);
  Value lr =
      createRate(builder, parts.front().lr, {norm, directionNorm}, ratio);
  SmallVector<Values> results;
  llvm::APFloat none(0.0);
  for (auto [parameter, adam] : llvm::zip_equal(parameters, adams)) {
    auto sgd = SgdOp::create(builder, parameter.getLoc(), parameter.getType(),
                             TypeRange(), parameter, adam.getDirection(), lr,
                             ValueRange(), none, /*nesterov=*/false, none);
    results.push_back({sgd.getNewParameter()});
    llvm::append_range(results.back(), adam.getNewState());
  }
  return results;
}

/// The global rate times the local rate of a tensor.
static Value createLarsRate(OpBuilder &builder, ArrayRef<ParameterUpdate> parts,
                            const Settings &settings) {
  Values parameters, gradients;
  for (const ParameterUpdate &part : parts) {
    parameters.push_back(part.parameter);
    gradients.push_back(part.gradient);
  }
  Value norm = createNorm(builder, parameters);
  Value gradientNorm = createNorm(builder, gradients);
  Location loc = norm.getLoc();
  auto scale = [&](const char *setting) -> Value {
    return MulOp::create(builder, loc, norm,
                         createConstant(builder, loc, settings.at(setting)));
  };
  Value denominator =
      AddOp::create(builder, loc, gradientNorm, scale("weight_decay"));
  denominator =
      AddOp::create(builder, loc, denominator,
                    createConstant(builder, loc, settings.at("epsilon")));
  Value ratio =
      DivOp::create(builder, loc, scale("trust_coefficient"), denominator);
  return createRate(builder, parts.front().lr, {norm, gradientNorm}, ratio);
}

SmallVector<Values> dtc::createLars(OpBuilder &builder,
                                    ArrayRef<ParameterUpdate> parts,
                                    const Settings &settings) {
  Value lr = parts.front().decays ? createLarsRate(builder, parts, settings)
                                  : parts.front().lr;
  llvm::APFloat momentum(settings.at("momentum"));
  llvm::APFloat weightDecay(settings.at("weight_decay"));
  SmallVector<Values> results;
  for (const ParameterUpdate &part : parts) {
    Location loc = part.parameter.getLoc();
    Type type = part.parameter.getType();
    Operation *op;
    if (part.state.empty()) // no momentum
      op = SgdOp::create(builder, loc, type, TypeRange(), part.parameter,
                         part.gradient, lr, ValueRange(), momentum,
                         /*nesterov=*/false, weightDecay);
    else
      op = LarsOp::create(builder, loc, type, type, part.parameter,
                          part.gradient, lr, part.state, momentum, weightDecay);
    results.push_back(llvm::to_vector_of<Value>(op->getResults()));
  }
  return results;
}
