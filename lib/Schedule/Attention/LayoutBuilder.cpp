//===- LayoutBuilder.cpp - build ops with inferred layouts ----------------===//

#include "LayoutBuilder.h"

using namespace mlir;
using namespace dtc;

void LayoutBuilder::setLayouts(Operation *op, LayoutAttr repeated) {
  SmallVector<LayoutAttr> operands;
  for (Type type : op->getOperandTypes())
    operands.push_back(getLayout(type));
  if (!error.empty())
    return;
  ShardingRule rule = mlir::cast<ShardingRuleInterface>(op).getShardingRule();
  SmallVector<LayoutAttr> results;
  if (repeated)
    results.push_back(repeated);
  auto layouts = inferResultLayouts(rule, mesh, operands, error, results);
  if (failed(layouts))
    return;
  for (auto [result, layout] : llvm::zip(op->getResults(), *layouts))
    result.setType(withLayout(result.getType(), layout));
}
