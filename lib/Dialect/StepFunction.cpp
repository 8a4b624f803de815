//===- StepFunction.cpp - arguments and results of a step -----------------===//
//
// Reads and edits the signatures of @forward and @step.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"

using namespace mlir;
using namespace dtc;

FailureOr<func::FuncOp> dtc::findFunction(ModuleOp module, StringRef name) {
  if (auto func = module.lookupSymbol<func::FuncOp>(name))
    if (func.getBody().hasOneBlock())
      return func;
  return module.emitError("has no function @") << name << " with one block";
}

bool dtc::isRecorded(func::FuncOp function, unsigned result) {
  StringAttr name = getResultString(function, result, attr::output);
  return name && name == recordedName;
}

func::ReturnOp dtc::getReturn(func::FuncOp func) {
  return cast<func::ReturnOp>(func.front().getTerminator());
}

StringAttr dtc::getArgString(BlockArgument argument, StringRef name) {
  auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), name);
}

StringRef dtc::getTensorName(BlockArgument parameter) {
  auto func = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  if (auto part = func.getArgAttrOfType<DictionaryAttr>(
          parameter.getArgNumber(), attr::part))
    return part.getAs<StringAttr>("tensor").getValue();
  return getArgString(parameter, attr::parameter).getValue();
}

StringAttr dtc::getResultString(func::FuncOp func, unsigned result,
                                StringRef name) {
  return func.getResultAttrOfType<StringAttr>(result, name);
}

std::optional<unsigned> dtc::findResult(func::FuncOp func, StringRef name,
                                        StringRef string) {
  for (unsigned i : llvm::seq(func.getNumResults()))
    if (StringAttr found = getResultString(func, i, name);
        found && found == string)
      return i;
  return std::nullopt;
}

Value dtc::findScalarInput(func::FuncOp step, StringRef kind) {
  for (BlockArgument argument : step.getArguments())
    if (StringAttr own = getArgString(argument, attr::kind); own && own == kind)
      return argument;
  return {};
}

StringAttr dtc::getFreeInputName(func::FuncOp step, StringRef name) {
  std::string free = name.str();
  auto isTaken = [&](BlockArgument argument) {
    StringAttr own = getArgString(argument, attr::input);
    return own && own == free;
  };
  while (llvm::any_of(step.getArguments(), isTaken))
    free += '_';
  return StringAttr::get(step.getContext(), free);
}

FailureOr<Value> dtc::getScalarInput(func::FuncOp step, StringRef kind) {
  if (Value found = findScalarInput(step, kind))
    return found;
  Builder builder(step.getContext());
  unsigned position = 0;
  for (BlockArgument argument : step.getArguments())
    if (getArgString(argument, attr::input))
      position = argument.getArgNumber() + 1;
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(attr::input, getFreeInputName(step, kind)),
       builder.getNamedAttr(attr::kind, builder.getStringAttr(kind))});
  if (failed(step.insertArgument(
          position, RankedTensorType::get({}, builder.getF64Type()), attributes,
          step.getLoc())))
    return failure();
  return Value(step.getArgument(position));
}

bool dtc::isKept(func::FuncOp step, unsigned argument) {
  if (step.getArgAttr(argument, attr::state))
    return true;
  return step.getArgAttr(argument, attr::parameter) &&
         (!step.getArgAttr(argument, attr::frozen) ||
          step.getArgAttr(argument, attr::statistic));
}

bool dtc::isPushedState(StringAttr state) {
  return state && state.getValue().rsplit('.').second == pushedStateName;
}

Value dtc::getGradient(func::FuncOp step, unsigned result) {
  Value value = getReturn(step).getOperand(result);
  if (step.getResultAttr(result, attr::gradient))
    return value;
  if (!isPushedState(getResultString(step, result, attr::state)))
    return {};
  auto keep = value.getDefiningOp<KeepOp>(); // as AddOptimizer has it
  if (!keep)
    return {};
  auto clip = keep.getValue().getDefiningOp<ClipByNormOp>();
  return clip ? clip.getGradient() : keep.getValue();
}

bool dtc::isFloatTensor(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

void Results::add(Value value, StringRef name, StringRef string,
                  Attribute members) {
  MLIRContext *context = value.getContext();
  NamedAttrList list;
  list.set(name, StringAttr::get(context, string));
  if (members)
    list.set(attr::members, members);
  add(value, list.getDictionary(context));
}

void Results::add(Value value, DictionaryAttr attributes) {
  values.push_back(value);
  this->attributes.push_back(attributes);
}

void Results::keep(func::FuncOp func, StringRef name) {
  for (auto [i, value] : llvm::enumerate(getReturn(func).getOperands()))
    if (getResultString(func, i, name))
      add(value, func.getResultAttrDict(i));
}

void Results::keepAll(func::FuncOp func) {
  for (auto [i, value] : llvm::enumerate(getReturn(func).getOperands()))
    add(value, func.getResultAttrDict(i));
}

void Results::append(const Results &others) {
  llvm::append_range(values, others.values);
  llvm::append_range(attributes, others.attributes);
}

void Results::assignTo(func::FuncOp func) const {
  getReturn(func).getOperandsMutable().assign(values);
  func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(),
                                 ValueRange(values).getTypes()));
  func.setResAttrsAttr(ArrayAttr::get(func.getContext(), attributes));
}

void dtc::eraseDeadOps(func::FuncOp func, Operation *first) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(func.front()))) {
    bool isFirst = &op == first;
    if (isOpTriviallyDead(&op))
      op.erase();
    if (isFirst)
      return;
  }
}
