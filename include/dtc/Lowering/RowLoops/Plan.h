//===- Plan.h - kernels as loops over rows ----------------------*- C++ -*-===//
//
// The loop form of a kernel, which all targets share. A kernel is a list of
// statements. Each is a loop nest over the elements of one tensor. The last
// loop runs over columns, and the others over rows. Statements with the same
// rows share a nest. Within a row, column loops ("phases") lie between the
// reductions of that row. The target chooses how to run the loops of a nest.
//
// A statement that is not a root is never stored: its users compute it where
// they need it, at any affine position.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_ROWLOOPS_PLAN_H
#define DTC_LOWERING_ROWLOOPS_PLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace dtc {

/// The elements of a tensor that a statement reads: indices from its loops.
struct TensorRead {
  mlir::Value tensor;
  mlir::AffineMap map;
};

enum class StatementKind {
  Map,          ///< one element for each iteration
  RowReduction, ///< one for each row: only the last loop is reduced
  Accumulation, ///< any other reduction; complete after its nest
  Scatter,      ///< adds to rows chosen by data; complete after its nest
};

struct Statement {
  mlir::Operation *op; ///< null: a copy of its input
  mlir::Value result;  ///< null for a copy
  StatementKind kind;
  llvm::SmallVector<int64_t> ranges;
  llvm::SmallVector<TensorRead>
      inputs;                          ///< by block argument of the op's region
  mlir::AffineMap outMap;              ///< from loops to result indices
  mlir::Operation *combiner = nullptr; ///< of a reduction
  bool isPart = false; ///< writes a part of its result: a statement of many
  Statement *previous = nullptr; ///< of a part but the first: the one before

  // Decisions of the plan.
  bool isRoot = false;   ///< has a place of its own in a nest
  bool isStored = false; ///< its result is in memory
  unsigned nest = 0, phase = 0;
  mlir::AffineMap position; ///< of a root: from the nest's loops to its own
  int64_t columns = 1;      ///< of a root: iterations of its column loop

  /// Whether an element of the result can be computed at any place, as a
  /// function of its indices.
  bool isFunction() const { return kind == StatementKind::Map && !isPart; }
  /// Maps the nest's loops to the result's indices. Only for a root.
  mlir::AffineMap getOutPosition() const { return outMap.compose(position); }
  /// The block of the scalar computation; null for a copy or a slice.
  mlir::Block *getBody() const;
};

/// A value that a later phase of the row needs again, and that costs more than
/// a load. It is kept in a row of scratch.
struct RowTemporary {
  unsigned phase;           ///< that computes it
  mlir::AffineMap position; ///< from the nest's loops to its indices
  int64_t columns;

  bool operator==(const RowTemporary &other) const {
    return phase == other.phase && position == other.position &&
           columns == other.columns;
  }
};

struct Nest {
  llvm::SmallVector<int64_t> rows; ///< ranges of the row loops
  llvm::SmallVector<Statement *> roots;
  llvm::MapVector<Statement *, RowTemporary> temporaries;
  unsigned numPhases = 1;

  /// Loops of the nest: rows and the column loop.
  unsigned getNumLoops() const { return rows.size() + 1; }
  unsigned getColumnLoop() const { return rows.size(); }
};

class RowLoopsPlan {
public:
  /// Whether a root may join a nest that has its rows.
  using MayJoin = llvm::function_ref<bool(const Nest &, const Statement &)>;

  /// Plans a function of linalg ops on tensors. Emits an error on any other op.
  /// Without `mayJoin` every root may join a nest.
  static llvm::FailureOr<RowLoopsPlan> create(mlir::func::FuncOp function,
                                              MayJoin mayJoin = {});

  llvm::ArrayRef<Nest> getNests() const { return nests; }
  /// Calls back for every statement whose result is in memory.
  void forEachStored(llvm::function_ref<void(Statement &)> callback) const {
    for (auto &statement : statements)
      if (statement->isStored)
        callback(*statement);
  }
  /// The statement that computes a value, or the last one if several write
  /// parts of it; null for arguments and constants.
  Statement *lookup(mlir::Value value) const { return byResult.lookup(value); }
  /// The statement that computes each result of the function.
  llvm::ArrayRef<Statement *> getResults() const { return results; }

private:
  llvm::LogicalResult addStatements(mlir::func::FuncOp function);
  llvm::LogicalResult addStructured(mlir::Operation *op);
  void addParts(mlir::tensor::ConcatOp concat);
  Statement &add(mlir::Operation *op, mlir::Value result, StatementKind kind);
  void chooseRoots(mlir::func::FuncOp function);
  void place(Statement &root, MayJoin mayJoin);
  struct Reach;
  void reach(mlir::Value value, mlir::AffineMap position, Reach &reach) const;
  void reachInputs(const Statement &statement, mlir::AffineMap position,
                   Reach &reach) const;
  void collapseLoops(unsigned nestIndex);
  void chooseTemporaries(unsigned nestIndex);
  void addCost(const Statement &statement, int64_t limit, int64_t &cost) const;

  std::vector<std::unique_ptr<Statement>> statements;
  llvm::DenseMap<mlir::Value, Statement *> byResult;
  llvm::SmallVector<Statement *> results;
  std::vector<Nest> nests;
};

/// Calls `callback` for every input that the statement's computation reads.
void forEachInput(const Statement &statement,
                  llvm::function_ref<void(const TensorRead &)> callback);
/// Tensors that the statement reads at positions that depend on data.
llvm::SmallVector<mlir::Value> getLookedUp(const Statement &statement);
/// Whether two positions differ at most in the column of a row.
bool isSameRow(mlir::AffineMap a, mlir::AffineMap b);

/// The position of a statement with the same rows as its nest.
mlir::AffineMap getIdentityPosition(mlir::MLIRContext *context,
                                    llvm::ArrayRef<int64_t> ranges,
                                    unsigned numLoops);

} // namespace dtc

#endif // DTC_LOWERING_ROWLOOPS_PLAN_H
