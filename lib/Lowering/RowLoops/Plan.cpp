//===- Plan.cpp - assignment of statements to loop nests ------------------===//
//
// Decides which statements share a nest, which phase of a row each belongs to,
// which loops are collapsed into one, and which values are stored.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/RowLoops/Plan.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/RowLoops/Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> getShape(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

AffineMap dtc::getIdentityPosition(MLIRContext *context,
                                   ArrayRef<int64_t> ranges,
                                   unsigned numLoops) {
  SmallVector<AffineExpr> loops;
  for (size_t i = 0; i < ranges.size(); ++i)
    loops.push_back(ranges[i] == 1 ? getAffineConstantExpr(0, context)
                                   : getAffineDimExpr(i, context));
  return AffineMap::get(numLoops, 0, loops, context);
}

//===----------------------------------------------------------------------===//
// Nests and phases
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getRows(const Statement &s) {
  ArrayRef<int64_t> ranges = s.ranges;
  return ranges.empty() ? ranges : ranges.drop_back();
}

bool dtc::isSameRow(AffineMap a, AffineMap b) {
  return a.getNumResults() == b.getNumResults() &&
         (a.getNumResults() == 0 ||
          a.getResults().drop_back() == b.getResults().drop_back());
}

/// The inputs of a statement, if it is computed in a nest.
struct RowLoopsPlan::Reach {
  unsigned nest;
  bool isPossible = true; ///< the nest can compute or load all inputs
  unsigned phase = 0;     ///< the first phase that can
  SmallVector<Statement *> fromMemory; ///< roots of earlier nests
  DenseSet<std::pair<Value, AffineMap>> seen;
};

void RowLoopsPlan::reach(Value value, AffineMap position, Reach &reach) const {
  Statement *s = lookup(value);
  if (!s || !reach.seen.insert({value, position}).second)
    return;
  if (!s->isRoot)
    return reachInputs(*s, position, reach);
  if (s->nest != reach.nest) {
    reach.fromMemory.push_back(s);
    return;
  }
  bool isHere = position == s->getOutPosition();
  bool isAgain = isHere && s->isFunction(); // the same code computes it again
  bool isKnown = s->kind == StatementKind::Map
                     ? isSameRow(position, s->getOutPosition())
                     : isHere && s->kind == StatementKind::RowReduction;
  reach.isPossible &= isAgain || isKnown;
  reach.phase = std::max(reach.phase, s->phase + (isAgain ? 0 : 1));
}

void RowLoopsPlan::reachInputs(const Statement &s, AffineMap position,
                               Reach &reach) const {
  forEachInput(s, [&](const TensorRead &input) {
    this->reach(input.tensor, input.map.compose(position), reach);
  });
  for (Value source : getLookedUp(s))
    if (Statement *producer = lookup(source)) {
      reach.isPossible &= producer->nest != reach.nest;
      reach.fromMemory.push_back(producer);
    }
}

void RowLoopsPlan::place(Statement &root, MayJoin mayJoin) {
  MLIRContext *context = root.outMap.getContext();
  unsigned numLoops = std::max<size_t>(root.ranges.size(), 1);
  root.position = getIdentityPosition(context, root.ranges, numLoops);
  root.columns = root.ranges.empty() ? 1 : root.ranges.back();

  // Selects the latest nest, if it has the root's rows and can compute its
  // inputs.
  Reach needs;
  needs.nest = nests.size() - 1;
  bool joins = !nests.empty() && ArrayRef(nests.back().rows) == getRows(root) &&
               (!mayJoin || mayJoin(nests.back(), root));
  if (joins) {
    reachInputs(root, root.position, needs);
    joins = needs.isPossible;
  }
  if (!joins) {
    needs = Reach();
    needs.nest = nests.size();
    nests.emplace_back().rows = llvm::to_vector(getRows(root));
    reachInputs(root, root.position, needs);
  }
  root.nest = needs.nest;
  root.phase = needs.phase;
  for (Statement *s : needs.fromMemory)
    s->isStored = true;
  // The last part completes the result.
  if (root.previous && root.previous->nest == root.nest)
    root.phase = std::max(root.phase, root.previous->phase);

  Nest &nest = nests[root.nest];
  nest.roots.push_back(&root);
  nest.numPhases = std::max(nest.numPhases, root.phase + 1);
}

//===----------------------------------------------------------------------===//
// Collapsing
//===----------------------------------------------------------------------===//

namespace {

/// The memory accesses of a nest's loops: the flat indices of all of them.
struct AccessCollector {
  const RowLoopsPlan &plan;
  unsigned nest;
  SmallVector<FlatIndex> indices;
  bool usesLoopNumbers = false;
  DenseSet<std::pair<Value, AffineMap>> seen;

  void visit(Value tensor, AffineMap position) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type || !seen.insert({tensor, position}).second)
      return;
    Statement *s = plan.lookup(tensor);
    if (!s || s->isStored)
      indices.push_back(FlatIndex::get(position, type.getShape()));
    if (s && !(s->isRoot && s->nest != nest))
      visitInputs(*s, position);
  }

  void visitInputs(const Statement &s, AffineMap position) {
    if (Block *body = s.getBody())
      usesLoopNumbers |= !body->getOps<linalg::IndexOp>().empty();
    forEachInput(s, [&](const TensorRead &input) {
      visit(input.tensor, input.map.compose(position));
    });
  }
};

} // namespace

/// Collapses adjacent loops where every access steps through both as through
/// one loop: a purely elementwise nest becomes a single loop. The outer loop
/// disappears and the inner one covers both ranges. Flat indices stay valid.
void RowLoopsPlan::collapseLoops(unsigned nestIndex) {
  Nest &nest = nests[nestIndex];
  if (nest.rows.empty())
    return;
  AccessCollector accesses{*this, nestIndex, {}, false, {}};
  bool columnsToo = true;
  for (Statement *root : nest.roots) {
    accesses.visitInputs(*root, root->position);
    if (root->kind == StatementKind::Scatter)
      return;
    Value result = root->result ? root->result : root->inputs[0].tensor;
    if (root->kind != StatementKind::RowReduction || root->isStored)
      accesses.indices.push_back(
          FlatIndex::get(root->getOutPosition(), getShape(result)));
    // Sums in single precision are more exact as sums of row sums.
    bool isPrecise =
        !root->combiner ||
        (root->kind == StatementKind::Accumulation &&
         (!isa<arith::AddFOp>(root->combiner) ||
          cast<RankedTensorType>(result.getType()).getElementType().isF64()));
    columnsToo &= isPrecise && root->ranges == nest.roots[0]->ranges;
  }
  if (accesses.usesLoopNumbers)
    return;

  // Merges loops with more than one iteration into `inner`, inner loops first.
  SmallVector<int64_t> ranges(nest.rows);
  ranges.push_back(nest.roots[0]->columns);
  unsigned column = nest.getColumnLoop();
  std::optional<unsigned> inner, innermost;
  for (unsigned loop = columnsToo ? column + 1 : column; loop-- > 0;) {
    if (ranges[loop] == 1)
      continue;
    bool isOne = inner && llvm::all_of(accesses.indices, [&](auto &index) {
                   return index.coefficients[loop] ==
                          index.coefficients[*inner] * ranges[*inner];
                 });
    if (isOne) {
      ranges[*inner] *= ranges[loop];
      ranges[loop] = 1;
      continue;
    }
    inner = loop;
    if (!innermost)
      innermost = loop;
  }
  // The innermost loop stays the column loop, even if the last range is 1.
  bool isMoved = columnsToo && innermost && *innermost != column;
  MLIRContext *context = nest.roots[0]->position.getContext();
  for (Statement *root : nest.roots) {
    SmallVector<int64_t> own(ranges);
    if (!columnsToo)
      own.back() = root->columns;
    AffineMap position = getIdentityPosition(context, own, nest.getNumLoops());
    if (isMoved)
      position = position.replace(getAffineDimExpr(*innermost, context),
                                  getAffineDimExpr(column, context),
                                  nest.getNumLoops(), 0);
    root->position = position;
    root->columns = isMoved ? ranges[*innermost] : own.back();
  }
  if (isMoved)
    ranges[*innermost] = 1;
  nest.rows.assign(ranges.begin(), std::prev(ranges.end()));
}

//===----------------------------------------------------------------------===//
// Temporaries
//===----------------------------------------------------------------------===//

/// Adds a rough number of vector instructions for one element, inputs included.
/// Stops when the sum exceeds `limit`.
void RowLoopsPlan::addCost(const Statement &s, int64_t limit,
                           int64_t &cost) const {
  constexpr int64_t transcendental = 16, division = 4;
  if (Block *body = s.getBody())
    for (Operation &op : body->without_terminator()) {
      if (isa<math::ExpOp, math::TanhOp, math::ErfOp, math::LogOp, math::SinOp,
              math::CosOp, math::AtanOp, math::PowFOp, PhiloxOp>(op))
        cost += transcendental;
      else if (isa<arith::DivFOp, math::SqrtOp>(op))
        cost += division;
      else
        ++cost;
    }
  forEachInput(s, [&](const TensorRead &input) {
    bool variesInRow =
        !s.ranges.empty() && input.map.isFunctionOfDim(s.ranges.size() - 1);
    Statement *producer = lookup(input.tensor);
    bool isComputed = producer && !producer->isRoot && variesInRow;
    if (!isComputed)
      ++cost;
    else if (cost <= limit)
      addCost(*producer, limit, cost);
  });
}

void RowLoopsPlan::chooseTemporaries(unsigned nestIndex) {
  constexpr int64_t cheap = 6;
  Nest &nest = nests[nestIndex];
  DenseMap<Statement *, SmallVector<RowTemporary>> demands;
  auto demandInputs = [&](const Statement &s, const RowTemporary &use) {
    forEachInput(s, [&](const TensorRead &input) {
      Statement *producer = lookup(input.tensor);
      if (!producer)
        return;
      RowTemporary demand = {use.phase, input.map.compose(use.position),
                             use.columns};
      SmallVector<RowTemporary> &known = demands[producer];
      if (!llvm::is_contained(known, demand))
        known.push_back(demand);
    });
  };
  // In reverse order, users come first: if a value is kept, its inputs need not
  // be.
  for (auto &owned : llvm::reverse(statements)) {
    Statement *s = owned.get();
    if (s->isRoot) {
      if (s->nest == nestIndex)
        demandInputs(*s, {s->phase, s->position, s->columns});
      continue;
    }
    auto it = demands.find(s);
    if (it == demands.end())
      continue;
    SmallVector<RowTemporary> uses = std::move(it->second);
    const RowTemporary &first = *llvm::min_element(
        uses, [](auto &a, auto &b) { return a.phase < b.phase; });
    bool isAgain =
        llvm::any_of(uses, [&](auto &use) { return use.phase > first.phase; });
    bool isOnePlace = llvm::all_of(uses, [&](auto &use) {
      return use.position == first.position && use.columns == first.columns;
    });
    int64_t cost = 0;
    addCost(*s, cheap, cost);
    if (isAgain && isOnePlace && cost > cheap &&
        first.position.isFunctionOfDim(nest.getColumnLoop())) {
      nest.temporaries.insert({s, first});
      demandInputs(*s, first);
      continue;
    }
    for (const RowTemporary &use : uses)
      demandInputs(*s, use);
  }
}

FailureOr<RowLoopsPlan> RowLoopsPlan::create(func::FuncOp function,
                                             MayJoin mayJoin) {
  RowLoopsPlan plan;
  if (failed(plan.addStatements(function)))
    return failure();
  plan.chooseRoots(function);
  for (auto &statement : plan.statements)
    if (statement->isRoot)
      plan.place(*statement, mayJoin);
  for (unsigned nest = 0; nest < plan.nests.size(); ++nest) {
    plan.collapseLoops(nest);
    plan.chooseTemporaries(nest);
  }
  return plan;
}
