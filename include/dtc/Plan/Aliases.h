//===- Aliases.h - which values share memory --------------------*- C++ -*-===//
//
// Within one function, values joined by AliasInterface are one buffer: that of
// their root, an argument or a result that aliases nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_ALIASES_H
#define DTC_PLAN_ALIASES_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace dtc {

/// The operand that a result shares memory with, if any.
std::optional<Alias> getAlias(mlir::OpResult result);

/// Whether all results of an op only look at the memory of its operands.
bool isView(mlir::Operation *op);

/// Whether an op writes a result where an operand is.
bool overwritesOperand(mlir::Operation *op);

/// Bytes of what one rank holds of a tensor, all micro-batches included; a bool
/// takes one byte.
int64_t getLocalBytes(mlir::Type type);

/// Ops that read values or views of them, in order of their block.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::ValueRange values);

class AliasClasses {
public:
  explicit AliasClasses(mlir::Block &body);

  /// Takes in the ops that were appended to the block since.
  void extend();

  mlir::Value getRoot(mlir::Value value) const {
    return places.lookup(value).root;
  }
  /// Where a value lies in its root's buffer, in bytes.
  int64_t getOffset(mlir::Value value) const {
    return places.lookup(value).offset;
  }
  /// Whether a value overwrites what its buffer held before.
  bool isUpdate(mlir::Value value) const {
    return getUpdatedOperand(value).has_value();
  }
  /// The operand of its op that a value overwrites, if any.
  std::optional<unsigned> getUpdatedOperand(mlir::Value value) const {
    return places.lookup(value).updated;
  }
  /// The value that a buffer holds in the end: the last that overwrites what it
  /// held before, or its root.
  mlir::Value getLast(mlir::Value root) const;
  /// All values in the buffer of a root, in order of definition.
  llvm::ArrayRef<mlir::Value> getMembers(mlir::Value root) const {
    auto it = members.find(root);
    return it == members.end() ? llvm::ArrayRef<mlir::Value>() : it->second;
  }

private:
  struct Place {
    mlir::Value root;
    int64_t offset = 0;
    std::optional<unsigned> updated;
  };
  using Aliases = llvm::SmallVector<std::optional<Alias>>;
  void add(mlir::Operation &op);
  const Aliases *getAliasesOfCall(mlir::Operation &op);

  mlir::Block &body;
  mlir::Operation *last = nullptr; ///< that was taken in
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> members;
  /// By callee: functions are called many times and have many results.
  llvm::DenseMap<mlir::Attribute, Aliases> ofCallees;
};

/// The argument whose last value is returned as this, if it is overwritten.
mlir::BlockArgument getOverwritten(mlir::Value returned,
                                   const AliasClasses &classes);

/// Writes `dtc.update = i` on each argument that is overwritten by what result
/// i returns. What only looks at an argument is copied into a result.
void annotateUpdates(mlir::func::FuncOp function);

} // namespace dtc

#endif // DTC_PLAN_ALIASES_H
