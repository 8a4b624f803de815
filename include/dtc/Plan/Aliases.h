//===- Aliases.h - values that share memory ---------------------*- C++ -*-===//
//
// Within one function, values that AliasInterface joins share one buffer. The
// root of the buffer is an argument, or a result that aliases nothing.
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

/// Whether all results of an op are read-only views of its operands' memory.
bool isView(mlir::Operation *op);

/// Whether an op writes a result into the memory of an operand.
bool overwritesOperand(mlir::Operation *op);

/// Bytes of one rank's shard of a tensor for all micro-batches. A bool takes
/// one byte.
int64_t getLocalBytes(mlir::Type type);

/// Ops that read the values or views of them, in block order.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::ValueRange values);

class AliasClasses {
public:
  explicit AliasClasses(mlir::Block &body);

  /// Adds the ops that have been appended to the block since the last call.
  void extend();

  mlir::Value getRoot(mlir::Value value) const {
    return places.lookup(value).root;
  }
  /// Byte offset of a value in its root's buffer.
  int64_t getOffset(mlir::Value value) const {
    return places.lookup(value).offset;
  }
  /// Whether a value overwrites the previous content of its buffer.
  bool isUpdate(mlir::Value value) const {
    return getUpdatedOperand(value).has_value();
  }
  /// The number of the operand that a value's op overwrites with it, if any.
  std::optional<unsigned> getUpdatedOperand(mlir::Value value) const {
    return places.lookup(value).updated;
  }
  /// The final value of a buffer: the last one that overwrites its content, or
  /// the root if none does.
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
  mlir::Operation *last = nullptr; ///< last op that was added
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> members;
  /// Aliases by callee, kept because functions are called many times and have
  /// many results.
  llvm::DenseMap<mlir::Attribute, Aliases> ofCallees;
};

/// The argument whose final value is the returned value, if it is overwritten.
mlir::BlockArgument getOverwritten(mlir::Value returned,
                                   const AliasClasses &classes);

/// Writes `dtc.update = i` on each argument that result i overwrites. A
/// returned view of an argument is no update: it is copied into the result.
void annotateUpdates(mlir::func::FuncOp function);

} // namespace dtc

#endif // DTC_PLAN_ALIASES_H
