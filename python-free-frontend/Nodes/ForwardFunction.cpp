//===- ForwardFunction.cpp - the function that an import builds -----------===//
//
// See ForwardFunction.h.
//
//===----------------------------------------------------------------------===//

#include "Nodes/ForwardFunction.h"
#include "Ops/KnownValues.h"

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

void ForwardFunction::create(StringRef path) {
  mlir::Location loc =
      mlir::NameLoc::get(builder.getStringAttr(sys::path::filename(path)));
  module = mlir::ModuleOp::create(loc, sys::path::stem(path));
  builder.setInsertionPointToEnd(module->getBody());
  function = mlir::func::FuncOp::create(builder, loc, forwardName,
                                        builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

Value ForwardFunction::addData(StringRef name, mlir::RankedTensorType type,
                               int64_t batchDim) {
  attributes.push_back(builder.getDictionaryAttr(
      builder.getNamedAttr(attr::input, builder.getStringAttr(name))));
  mlir::Location loc = mlir::NameLoc::get(builder.getStringAttr(name));
  if (batchDim == 0 ||
      batchDim >= type.getRank()) // a later check reports the latter
    return getBody().addArgument(type, loc);
  SmallVector<int64_t> shape(type.getShape());
  auto batch = shape.begin() + batchDim;
  std::rotate(shape.begin(), batch, batch + 1);
  std::string samples = "[batch";
  for (int64_t size : drop_begin(shape))
    samples += ", " + std::to_string(size);
  report.notes.push_back("the batch is dimension " + std::to_string(batchDim) +
                         " of input '" + name.str() +
                         "', but data have it first, as " + samples + "]");
  Value data = getBody().addArgument(type.clone(shape), loc);
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    order.push_back(dim == batchDim ? 0 : dim < batchDim ? dim + 1 : dim);
  return TransposeOp::create(builder, loc, data, order);
}

Value ForwardFunction::addInput(StringRef kind, mlir::Type type) {
  std::string name = kind.str();
  while (inputNames.contains(name))
    name += '_';
  mlir::Location loc = mlir::NameLoc::get(builder.getStringAttr(name));
  // Parameters are the last arguments.
  unsigned position = getBody().getNumArguments() - parameters.size();
  attributes.insert(
      attributes.begin() + position,
      builder.getDictionaryAttr(
          {builder.getNamedAttr(attr::input, builder.getStringAttr(name)),
           builder.getNamedAttr(attr::kind, builder.getStringAttr(kind))}));
  return getBody().insertArgument(position, type, loc);
}

Value ForwardFunction::addParameter(const Parameter &parameter,
                                    mlir::Type elementType) {
  mlir::StringAttr name = builder.getStringAttr(parameter.name);
  SmallVector<mlir::NamedAttribute> own{
      builder.getNamedAttr(attr::parameter, name)};
  if (!parameter.isTrained)
    own.push_back(builder.getNamedAttr(attr::frozen, builder.getUnitAttr()));
  attributes.push_back(builder.getDictionaryAttr(own));
  parameters.push_back(parameter);
  return getBody().addArgument(
      mlir::RankedTensorType::get(parameter.shape, elementType),
      mlir::NameLoc::get(name));
}

void ForwardFunction::eraseDeadOps() {
  for (mlir::Operation &op : make_early_inc_range(reverse(getBody())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

void ForwardFunction::eraseUnusedArguments() {
  mlir::Block &body = getBody();
  for (unsigned i = body.getNumArguments(); i-- > 0;) {
    if (!body.getArgument(i).use_empty())
      continue;
    auto name = attributes[i].getAs<mlir::StringAttr>(attr::input);
    if (attributes[i].contains(attr::kind)) {
      // A seed or step for random numbers that nothing reads.
    } else if (name)
      report.notes.push_back("dtc leaves out input '" + name.str() +
                             "', which does not influence any output");
    else
      parameters.erase(parameters.begin() +
                       (i + parameters.size() - body.getNumArguments()));
    attributes.erase(attributes.begin() + i);
    body.eraseArgument(i);
  }
}

mlir::OwningOpRef<mlir::ModuleOp>
ForwardFunction::finish(ArrayRef<Value> results, ArrayRef<StringRef> names) {
  mlir::func::ReturnOp::create(builder, function.getLoc(), results);
  eraseDeadOps();
  eraseMarks(function);
  eraseUnusedArguments();
  function.setType(builder.getFunctionType(
      getBody().getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  function.setAllArgAttrs(attributes);
  SmallVector<mlir::DictionaryAttr> resultAttributes;
  for (StringRef name : names)
    resultAttributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(attr::output, builder.getStringAttr(name))));
  function.setAllResultAttrs(resultAttributes);
  report.parameters.parameters = std::move(parameters);
  return std::move(module);
}

} // namespace dtc::frontend
