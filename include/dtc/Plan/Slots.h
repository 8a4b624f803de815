//===- Slots.h - numbers of what is in flight -------------------*- C++ -*-===//
//
// In plans an SSA value joins the start of a transfer and its wait. The runtime
// knows it by a slot: a number that is taken at the start and free again after
// the wait, so that as many are needed as transfers are in flight at once.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_SLOTS_H
#define DTC_PLAN_SLOTS_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

class Slots {
public:
  /// Numbers what is in flight in a stage's plan and functions.
  void add(mlir::ModuleOp stage);
  /// The slot that a message or a collective with `dtc.async` takes, or that a
  /// wait frees; -1 if a wait ends nothing that the plan started.
  int64_t get(mlir::Operation *op) const {
    auto it = slots.find(op);
    return it == slots.end() ? -1 : it->second;
  }

private:
  llvm::DenseMap<mlir::Operation *, int64_t> slots;
};

} // namespace dtc

#endif // DTC_PLAN_SLOTS_H
