//===- VerifyLayouts.cpp - the verifier of every op with a sharding rule --===//
//
// Runs on every op with a sharding rule whenever a module is verified. MLIR
// verifies encodings only in the parser, so divisibility is checked here, too.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

LogicalResult dtc::detail::verifyLayouts(Operation *op) {
  SmallVector<LayoutAttr> operands, results;
  for (Type type : op->getOperandTypes())
    operands.push_back(getLayout(type));
  for (Type type : op->getResultTypes())
    results.push_back(getLayout(type));
  unsigned count = llvm::count_if(operands, [](LayoutAttr l) { return !!l; }) +
                   llvm::count_if(results, [](LayoutAttr l) { return !!l; });
  if (count == 0)
    return success();
  if (count != operands.size() + results.size())
    return op->emitOpError("has layouts on some operands and results, expected "
                           "layouts on all of them or on none");

  MeshAttr mesh =
      operands.empty() ? results.front().getMesh() : operands.front().getMesh();
  for (LayoutAttr layout : llvm::concat<LayoutAttr>(operands, results))
    if (layout.getMesh() != mesh)
      return op->emitOpError("mixes the meshes ")
             << mesh << " and " << layout.getMesh();
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                SmallVector<Type>(op->getResultTypes())))
    if (failed(getLayout(type).verifyEncoding(
            cast<ShapedType>(type).getShape(),
            cast<ShapedType>(type).getElementType(),
            [&] { return op->emitOpError(); })))
      return failure();

  ShardingRule rule = cast<ShardingRuleInterface>(op).getShardingRule();
  std::string error;
  FailureOr<SmallVector<LayoutAttr>> inferred =
      inferResultLayouts(rule, mesh, operands, error, results);
  if (failed(inferred))
    return op->emitOpError("cannot take these operand layouts: ") << error;
  for (auto [i, pair] : llvm::enumerate(llvm::zip(results, *inferred)))
    if (std::get<0>(pair) != std::get<1>(pair))
      return op->emitOpError("result ")
             << i << " has layout " << std::get<0>(pair) << ", expected "
             << std::get<1>(pair)
             << " from its operands by the op's sharding rule";
  return success();
}

int64_t dtc::detail::countResultElements(Operation *op) {
  int64_t elements = 0;
  for (Type type : op->getResultTypes())
    elements += cast<ShapedType>(type).getNumElements();
  return elements;
}
