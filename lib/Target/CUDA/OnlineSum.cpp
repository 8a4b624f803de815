//===- OnlineSum.cpp - softmax sums in the maximum's loop -----------------===//
//
// A softmax subtracts the maximum of a row, which normally takes another loop
// over the row. Instead, the sum of exponentials uses the maximum of the
// elements read so far, and is rescaled whenever that grows (M. Milakov and N.
// Gimelshein, Online normalizer calculation for softmax, 2018).
//
//===----------------------------------------------------------------------===//

#include "NestSchedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dtc;

/// Whether an element can be computed before the phase's reductions are known.
static bool isKnownIn(const RowLoopsPlan &plan, Value tensor, unsigned nest,
                      unsigned phase) {
  Statement *s = plan.lookup(tensor);
  if (!s || (s->isRoot && s->nest != nest))
    return true;
  if (s->isRoot && s->phase < phase)
    return true;
  if (!s->isFunction())
    return false;
  bool isKnown = true;
  forEachInput(*s, [&](const TensorRead &input) {
    isKnown &= isKnownIn(plan, input.tensor, nest, phase);
  });
  for (Value source : getLookedUp(*s))
    isKnown &= isKnownIn(plan, source, nest, phase);
  return isKnown;
}

/// Matches a body that yields exp(x - m), or 0 if a condition does not hold.
/// Returns its argument m; null if the body yields anything else.
static BlockArgument matchShiftedExp(Block *body) {
  if (!body)
    return {};
  Value value = body->getTerminator()->getOperand(0);
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    if (matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
      value = select.getTrueValue();
  auto exp = value.getDefiningOp<math::ExpOp>();
  auto shifted =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  if (!shifted || !isa<BlockArgument>(shifted.getLhs()) ||
      shifted.getLhs() == shifted.getRhs())
    return {};
  auto shift = dyn_cast<BlockArgument>(shifted.getRhs());
  return shift && shift.hasOneUse() ? shift : BlockArgument();
}

std::optional<OnlineSum> dtc::findOnlineSum(const RowLoopsPlan &plan,
                                            const NestSchedule &schedule,
                                            unsigned phase) {
  // The next phase must be this sum.
  if (phase + 1 >= schedule.phases.size())
    return {};
  ArrayRef<ColumnWork> next = schedule.phases[phase + 1];
  if (next.size() != 1 || next[0].reductions.size() != 1 ||
      !next[0].stores.empty() || !next[0].accumulations.empty())
    return {};
  Statement *sum = next[0].reductions[0];
  Block *body = sum->getBody();
  if (!isa<arith::AddFOp>(sum->combiner) ||
      !llvm::is_contained(sum->combiner->getOperands(), body->getArgument(0)))
    return {};
  Statement *exp = plan.lookup(sum->inputs[0].tensor);
  if (!exp || exp->isRoot)
    return {};
  BlockArgument shift = matchShiftedExp(exp->getBody());
  if (!shift)
    return {};
  Statement *max = plan.lookup(exp->inputs[shift.getArgNumber()].tensor);
  if (!max || max->kind != StatementKind::RowReduction ||
      max->nest != sum->nest || max->phase != phase ||
      isa<arith::AddFOp>(max->combiner))
    return {};
  for (auto [number, input] : llvm::enumerate(exp->inputs))
    if (number != shift.getArgNumber() &&
        !isKnownIn(plan, input.tensor, sum->nest, phase))
      return {};
  // Both loops must have the same chunks.
  for (const ColumnWork &work : schedule.phases[phase])
    if (llvm::is_contained(work.reductions, max) &&
        work.columns == next[0].columns && work.lanes == next[0].lanes &&
        work.accumulations.empty())
      return OnlineSum{max, sum};
  return {};
}
