//===- Rules.h - rules of the interpreter -----------------------*- C++ -*-===//
//
// Each file of this folder registers a rule for each op of a family. To add an
// op, write a function from its operands to its results and register it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_INTERPRETER_RULES_H
#define DTC_UNITTESTS_INTERPRETER_RULES_H

#include "Interpreter.h"
#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace dtc {

using Tensors = std::vector<HostTensor>;
using Operands = llvm::ArrayRef<HostTensor>;
using Index = llvm::SmallVector<int64_t>;
using Elements = llvm::ArrayRef<double>;

class Rules {
public:
  using Rule = std::function<Tensors(mlir::Operation *, Operands)>;

  Rules();
  const Rule *find(mlir::Operation *op) const;

  template <typename OpType> void add(Tensors (*rule)(OpType, Operands)) {
    table[OpType::getOperationName()] = [=](mlir::Operation *op, Operands x) {
      return rule(mlir::cast<OpType>(op), x);
    };
  }
  /// An element of the result from those of the operands, broadcast.
  template <typename OpType> void addElementwise(double (*rule)(Elements));
  template <typename OpType>
  void addElementwise(double (*rule)(OpType, Elements));

private:
  llvm::StringMap<Rule> table;
};

void addAttentionRules(Rules &rules);
void addElementwiseRules(Rules &rules);
void addShapeRules(Rules &rules);
void addReductionRules(Rules &rules);
void addExpertRules(Rules &rules);
void addIndexingRules(Rules &rules);
void addWindowRules(Rules &rules);
void addLossRules(Rules &rules);
void addRandomRules(Rules &rules);
void addUpdateRules(Rules &rules);

//===----------------------------------------------------------------------===//
// For rules
//===----------------------------------------------------------------------===//

/// Returns zeros in the shape of a result.
HostTensor makeResult(mlir::Operation *op, unsigned number = 0);

/// Calls back for every index of a shape, in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body);

/// The element of a tensor at an index of a shape that it broadcasts to.
template <typename TensorT>
auto &at(TensorT &tensor, llvm::ArrayRef<int64_t> index) {
  int64_t offset = 0;
  int64_t skipped = index.size() - tensor.shape.size();
  for (auto [d, size] : llvm::enumerate(tensor.shape))
    offset = offset * size + (size == 1 ? 0 : index[skipped + d]);
  return tensor.data[offset];
}

/// A row (the last dimension) at a time.
void forEachRow(const HostTensor &x,
                llvm::function_ref<void(int64_t row, Elements)> body);

double logSumExp(Elements row);

Tensors evaluateElementwise(mlir::Operation *op, Operands operands,
                            llvm::function_ref<double(Elements)> function);

template <typename OpType>
void Rules::addElementwise(double (*rule)(Elements)) {
  table[OpType::getOperationName()] = [=](mlir::Operation *op, Operands x) {
    return evaluateElementwise(op, x, rule);
  };
}

template <typename OpType>
void Rules::addElementwise(double (*rule)(OpType, Elements)) {
  table[OpType::getOperationName()] = [=](mlir::Operation *op, Operands x) {
    auto own = mlir::cast<OpType>(op);
    return evaluateElementwise(op, x, [&](Elements e) { return rule(own, e); });
  };
}

} // namespace dtc

#endif // DTC_UNITTESTS_INTERPRETER_RULES_H
