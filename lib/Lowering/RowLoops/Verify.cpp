//===- Verify.cpp - checks of a kernel's buffers --------------------------===//
//
// Every stored tensor has a buffer of its own, except a result that overwrites
// an argument. Checks that no two results share an argument's buffer, and that
// nothing reads an argument after it is overwritten.
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/RowLoops/Verify.h"
#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dtc;

namespace {

/// A read of an argument in the code of a root.
struct Read {
  const Statement *root;
  Value argument;
  AffineMap position; ///< null if the position is data
  unsigned nest, phase;
  int64_t columns;
};

/// Finds the reads of a nest in the order of Evaluator.
class ReadCollector {
public:
  ReadCollector(const RowLoopsPlan &plan, unsigned nestIndex)
      : plan(plan), nest(plan.getNests()[nestIndex]), nestIndex(nestIndex) {}

  SmallVector<Read> collect();

private:
  void visit(Value tensor, AffineMap position);
  void visitInputs(const Statement &s, AffineMap position);
  void add(Value tensor, AffineMap position) {
    if (isa<BlockArgument>(tensor))
      reads.push_back({root, tensor, position, nestIndex, phase, columns});
  }

  const RowLoopsPlan &plan;
  const Nest &nest;
  unsigned nestIndex;
  SmallVector<Read> reads;
  // The statement and phase that are being visited.
  const Statement *root = nullptr;
  unsigned phase = 0;
  int64_t columns = 1;
  DenseSet<std::pair<Value, AffineMap>> seen;
};

} // namespace

void ReadCollector::visitInputs(const Statement &s, AffineMap position) {
  forEachInput(s, [&](const TensorRead &input) {
    visit(input.tensor, input.map.compose(position));
  });
  for (Value source : getLookedUp(s))
    add(source, AffineMap());
}

void ReadCollector::visit(Value tensor, AffineMap position) {
  if (!isa<RankedTensorType>(tensor.getType()) ||
      !seen.insert({tensor, position}).second)
    return;
  Statement *s = plan.lookup(tensor);
  if (!s)
    return add(tensor, position);
  bool isAgain = s->nest == nestIndex && s->phase >= phase && s->isFunction();
  if (s->isRoot && !isAgain)
    return;
  auto temporary = nest.temporaries.find(s);
  bool isKept = temporary != nest.temporaries.end() &&
                temporary->second.phase < phase &&
                temporary->second.position == position;
  if (!isKept)
    visitInputs(*s, position);
}

SmallVector<Read> ReadCollector::collect() {
  for (Statement *statement : nest.roots) {
    seen.clear();
    root = statement;
    phase = statement->phase;
    columns = statement->columns;
    visitInputs(*statement, statement->position);
  }
  for (auto &[statement, temporary] : nest.temporaries) {
    seen.clear();
    root = statement;
    phase = temporary.phase;
    columns = temporary.columns;
    visitInputs(*statement, temporary.position);
  }
  return reads;
}

/// Whether the read happens before `writer` overwrites the element: in an
/// earlier nest, in an earlier phase of the row, or in the same iteration,
/// where the store comes last.
static bool isBefore(const Read &read, const Statement &writer) {
  if (read.nest != writer.nest)
    return read.nest < writer.nest;
  if (!read.position)
    return false;
  AffineMap written = writer.getOutPosition();
  if (read.phase < writer.phase)
    return isSameRow(read.position, written);
  return read.phase == writer.phase && read.columns == writer.columns &&
         read.position == written;
}

LogicalResult dtc::verifyUpdates(func::FuncOp function,
                                 const RowLoopsPlan &plan) {
  DenseMap<Value, Statement *> writers; // of arguments
  SmallPtrSet<Statement *, 4> overwriting;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto update = function.getArgAttrOfType<IntegerAttr>(number, attr::update);
    if (!update)
      continue;
    Statement *writer = plan.getResults()[update.getInt()];
    if (!overwriting.insert(writer).second)
      return function.emitOpError("has result ")
             << update.getInt()
             << ", which overwrites two arguments, expected one";
    writers[argument] = writer;
  }
  if (writers.empty())
    return success();
  for (unsigned nest = 0; nest < plan.getNests().size(); ++nest)
    for (const Read &read : ReadCollector(plan, nest).collect()) {
      Statement *writer = writers.lookup(read.argument);
      if (!writer || isBefore(read, *writer))
        continue;
      unsigned number = cast<BlockArgument>(read.argument).getArgNumber();
      Location loc =
          read.root->op ? read.root->op->getLoc() : function.getLoc();
      return emitError(loc, "reads argument ")
             << number
             << " of a kernel where a result has overwritten it, expected a "
                "read at the elements that are written";
    }
  return success();
}
