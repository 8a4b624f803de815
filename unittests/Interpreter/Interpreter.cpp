//===- Interpreter.cpp - executes dtc ops in double precision -------------===//
//
// Looks up the rule of each op; see Rules.h.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

HostTensor::HostTensor(ArrayRef<int64_t> shape, double value)
    : shape(shape), data(ShapedType::getNumElements(shape), value) {}

Rules::Rules() {
  addAttentionRules(*this);
  addElementwiseRules(*this);
  addShapeRules(*this);
  addReductionRules(*this);
  addExpertRules(*this);
  addIndexingRules(*this);
  addWindowRules(*this);
  addLossRules(*this);
  addRandomRules(*this);
  addUpdateRules(*this);
}

const Rules::Rule *Rules::find(Operation *op) const {
  auto it = table.find(op->getName().getStringRef());
  return it == table.end() ? nullptr : &it->second;
}

HostTensor dtc::makeResult(Operation *op, unsigned number) {
  return HostTensor(
      cast<ShapedType>(op->getResult(number).getType()).getShape());
}

void dtc::forEachIndex(ArrayRef<int64_t> shape,
                       function_ref<void(ArrayRef<int64_t>)> body) {
  Index index(shape.size(), 0);
  for (int64_t n = ShapedType::getNumElements(shape); n > 0; --n) {
    body(index);
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

void dtc::forEachRow(const HostTensor &x,
                     function_ref<void(int64_t, Elements)> body) {
  int64_t width = x.shape.empty() ? 1 : x.shape.back();
  for (int64_t row = 0; row * width < x.size(); ++row)
    body(row, ArrayRef(x.data).slice(row * width, width));
}

double dtc::logSumExp(Elements row) {
  double max = *llvm::max_element(row), sum = 0;
  for (double x : row)
    sum += std::exp(x - max);
  return max + std::log(sum);
}

Tensors dtc::evaluateElementwise(Operation *op, Operands operands,
                                 function_ref<double(Elements)> function) {
  HostTensor result = makeResult(op);
  SmallVector<double> elements(operands.size());
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    for (auto [element, operand] : llvm::zip(elements, operands))
      element = at(operand, index);
    at(result, index) = function(elements);
  });
  return {result};
}

Tensors dtc::evaluate(Operation *op, Operands operands) {
  static const Rules rules;
  const Rules::Rule *rule = rules.find(op);
  if (!rule)
    llvm::report_fatal_error(Twine("the interpreter has no rule for ") +
                             op->getName().getStringRef());
  return (*rule)(op, operands);
}

Tensors dtc::interpret(func::FuncOp function, Operands arguments,
                       ObserveFn observe) {
  DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] :
       llvm::zip_equal(function.getArguments(), arguments))
    values.try_emplace(argument, tensor);
  auto getTensors = [&](ValueRange range) {
    Tensors tensors;
    for (Value value : range)
      tensors.push_back(values.find(value)->second);
    return tensors;
  };
  for (Operation &op : function.front().without_terminator()) {
    Tensors results = evaluate(&op, getTensors(op.getOperands()));
    if (observe)
      observe(&op, results);
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results))
      values.try_emplace(result, std::move(tensor));
  }
  return getTensors(function.front().getTerminator()->getOperands());
}
