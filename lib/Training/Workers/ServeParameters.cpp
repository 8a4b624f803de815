//===- ServeParameters.cpp - updates in the order of arrival --------------===//
//
// A server has the parameters. Workers push gradients to it, each when it has
// computed its share of a batch, and the server updates the parameters by one
// push after the other.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Support/Axes.h"
#include "dtc/Training/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_SERVEPARAMETERS
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct ServeParametersPass
    : dtc::impl::ServeParametersBase<ServeParametersPass> {
  using ServeParametersBase::ServeParametersBase;

  void runOnOperation() override;

private:
  FailureOr<Value> pushChange(unsigned result, Results &results);
  void shareArguments();

  func::FuncOp step;
};

} // namespace

static BlockArgument findParameter(func::FuncOp step, StringAttr name) {
  for (BlockArgument argument : step.getArguments())
    if (getArgString(argument, attr::parameter) == name)
      return argument;
  llvm_unreachable("each result of a parameter has its argument");
}

/// Adds the change of a running statistic to what the worker pushes. Returns
/// the server's new value.
FailureOr<Value> ServeParametersPass::pushChange(unsigned result,
                                                 Results &results) {
  Value updated = getReturn(step).getOperand(result);
  Location loc = updated.getLoc();
  StringAttr name = getResultString(step, result, attr::parameter);
  auto type = cast<RankedTensorType>(updated.getType());
  if (!isFloatTensor(type))
    return step.emitError("parameter '")
           << name.getValue() << "' is not trained and changes, but has type "
           << type << ", whose changes --sync async cannot average";
  std::string stateName = (name.getValue() + "." + pushedStateName).str();
  BlockArgument old = findParameter(step, name);
  NamedAttrList attributes;
  attributes.set(attr::state, StringAttr::get(&getContext(), stateName));
  unsigned position = old.getArgNumber() + 1;
  (void)step.insertArgument(position, type,
                            attributes.getDictionary(&getContext()), loc);
  OpBuilder builder(getReturn(step));
  results.add(SubOp::create(builder, loc, updated, old), attr::state,
              stateName);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value count = ConstantOp::create(
      builder, loc, scalar,
      DenseElementsAttr::get(
          scalar, Attribute(builder.getFloatAttr(type.getElementType(),
                                                 double(workers)))));
  Value pushed = PushedOp::create(builder, loc, type,
                                  step.getArgument(position), dataAxis);
  return AddOp::create(builder, loc, old,
                       DivOp::create(builder, loc, pushed, count))
      .getResult();
}

/// All that the server keeps is the same for all workers.
void ServeParametersPass::shareArguments() {
  auto unit = UnitAttr::get(&getContext());
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (isPushedState(getArgString(argument, attr::state)))
      step.setArgAttr(number, attr::transient, unit);
    else if (isKept(step, number))
      step.setArgAttr(number, attr::shared, unit);
  }
}

/// The sums of the workers. The server evaluates samples of one of them.
static Value createSumOfWorkers(OpBuilder &builder, Value x, int64_t workers) {
  auto type = cast<RankedTensorType>(x.getType());
  auto rowsOf = [&](int64_t rows) {
    SmallVector<int64_t> shape = {rows};
    llvm::append_range(shape, type.getShape());
    return type.clone(shape);
  };
  Location loc = x.getLoc();
  Value terms = TermsOp::create(builder, loc, rowsOf(workers + 1), x, dataAxis);
  Value rows =
      SliceOp::create(builder, loc, rowsOf(workers), terms, 0, /*start=*/1);
  Value sum = ReduceSumOp::create(builder, loc, rows, ArrayRef<int64_t>{0});
  return ReshapeOp::create(builder, loc, type, sum);
}

void ServeParametersPass::runOnOperation() {
  FailureOr<func::FuncOp> found = findFunction(getOperation(), stepName);
  if (failed(found))
    return signalPassFailure();
  step = *found;
  Results results;
  auto program = StringAttr::get(&getContext(), applyName);
  for (unsigned i : llvm::seq(step.getNumResults())) {
    Value value = getReturn(step).getOperand(i);
    NamedAttrList attributes(step.getResultAttrDict(i));
    if (attributes.get(attr::gradient)) // it is pushed
      continue;
    bool isParameter = attributes.get(attr::parameter) != nullptr;
    StringAttr state = getResultString(step, i, attr::state);
    if (isParameter) {
      StringAttr name = getResultString(step, i, attr::parameter);
      if (step.getArgAttr(findParameter(step, name).getArgNumber(),
                          attr::frozen)) {
        FailureOr<Value> updated = pushChange(i, results);
        if (failed(updated))
          return signalPassFailure();
        value = *updated;
      }
    }
    if (isParameter || (state && !isPushedState(state)))
      attributes.set(attr::program, program);
    if (StringAttr output = getResultString(step, i, attr::output);
        output && output == evalName) {
      OpBuilder builder(getReturn(step));
      value = createSumOfWorkers(builder, value, workers);
    }
    results.add(value, attributes.getDictionary(&getContext()));
  }
  results.assignTo(step);
  shareArguments();
}
