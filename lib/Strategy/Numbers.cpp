//===- Numbers.cpp - constants of floating-point numbers ------------------===//

#include "Numbers.h"

using namespace mlir;
using namespace dtc;

DenseElementsAttr dtc::getConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                  : DenseElementsAttr();
}

std::optional<double> dtc::getNumber(Value value) {
  DenseElementsAttr constant = getConstant(value);
  if (!constant || !constant.isSplat() ||
      !isa<FloatType>(constant.getElementType()))
    return std::nullopt;
  return constant.getSplatValue<APFloat>().convertToDouble();
}

Value dtc::createNumber(OpBuilder &b, Location loc, Type element,
                        double number) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(
      b, loc, type,
      DenseElementsAttr::get(type, b.getFloatAttr(element, number)));
}
