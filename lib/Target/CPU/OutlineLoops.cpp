//===- OutlineLoops.cpp - functions for the loops of threads --------------===//

#include "NestDivision.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace dtc {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "dtc/Target/CPU/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Moves a loop to a new function. Buffers become arguments. The function has
/// copies of all other values that the loop uses, which are constants.
static LogicalResult outline(scf::ParallelOp loop, func::FuncOp kernel,
                             unsigned number, SymbolTable &symbols) {
  Location loc = loop.getLoc();
  if (loop.getNumLoops() != 1 || loop.getNumReductions() != 0 ||
      !matchPattern(loop.getStep()[0], m_One()) || !loop->hasAttr(workAttrName))
    return loop.emitOpError("expected one loop of step 1, no reduction and '")
           << workAttrName << "'";
  OpBuilder b(kernel);
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  SmallVector<Value> operands = {loop.getLowerBound()[0],
                                 loop.getUpperBound()[0]};
  for (Value value : used)
    if (isa<MemRefType>(value.getType()))
      operands.push_back(value);
    else if (!matchPattern(value, m_Constant()))
      return loop.emitOpError("uses a value that is neither a buffer nor a "
                              "constant, expected those alone");

  auto part = func::FuncOp::create(
      b, loc, (kernel.getName() + "_part" + Twine(number)).str(),
      b.getFunctionType(ValueRange(operands).getTypes(), {}));
  part.setPrivate();
  symbols.insert(part, kernel->getIterator());
  part->setAttr(workAttrName, loop->getAttr(workAttrName));
  Block &entry = *part.addEntryBlock();
  b.setInsertionPointToStart(&entry);
  IRMapping mapping;
  mapping.map(ArrayRef(operands).drop_front(2),
              entry.getArguments().drop_front(2));
  for (Value value : used)
    if (!isa<MemRefType>(value.getType()))
      b.clone(*value.getDefiningOp(), mapping);
  Value step = arith::ConstantIndexOp::create(b, loc, 1);
  auto range = scf::ForOp::create(b, loc, entry.getArgument(0),
                                  entry.getArgument(1), step);
  func::ReturnOp::create(b, loc);
  mapping.map(loop.getInductionVars()[0], range.getInductionVar());
  b.setInsertionPoint(range.getBody()->getTerminator());
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);

  b.setInsertionPoint(loop);
  func::CallOp::create(b, loc, part, operands);
  loop.erase();
  return success();
}

namespace {

struct OutlineLoops : dtc::impl::OutlineLoopsBase<OutlineLoops> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(attr::kernel) || kernel.isExternal())
        continue;
      unsigned number = 0;
      for (auto loop :
           llvm::make_early_inc_range(kernel.getOps<scf::ParallelOp>()))
        if (failed(outline(loop, kernel, number++, symbols)))
          return signalPassFailure();
    }
  }
};

} // namespace
