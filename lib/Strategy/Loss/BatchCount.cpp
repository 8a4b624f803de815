//===- BatchCount.cpp - number of elements in a batch ---------------------===//

#include "BatchCount.h"
#include "dtc/Dialect/StepFunction.h"

using namespace mlir;
using namespace dtc;

Value dtc::createBatchCount(ImplicitLocOpBuilder &b, int64_t count,
                            int64_t replicas) {
  auto type = RankedTensorType::get({}, b.getF64Type());
  auto number = [&](double value) -> Value {
    return ConstantOp::create(b, type, DenseElementsAttr::get(type, value));
  };
  if (replicas == 0)
    return number(double(count));
  auto step = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  FailureOr<Value> found = getScalarInput(step, replicasKind);
  assert(succeeded(found) && "a function takes any argument");
  return MulOp::create(b, number(double(count) / double(replicas)), *found);
}
