//===- Slots.h - slots of transfers in flight -------------------*- C++ -*-===//
//
// In a plan, an SSA value links the start of a transfer to its wait. The
// runtime links them by a slot: a number that is taken at the start and freed
// by the wait. The number of slots needed is the number of transfers in flight
// at once.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_SLOTS_H
#define DTC_PLAN_SLOTS_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

class Slots {
public:
  /// Assigns slots to the transfers of a stage's plan and functions.
  void add(mlir::ModuleOp stage);
  /// The slot that an op takes (a message, or a collective with `dtc.async`) or
  /// that a wait frees; -1 if the plan did not start the wait's transfer.
  int64_t get(mlir::Operation *op) const {
    auto it = slots.find(op);
    return it == slots.end() ? -1 : it->second;
  }

private:
  llvm::DenseMap<mlir::Operation *, int64_t> slots;
};

} // namespace dtc

#endif // DTC_PLAN_SLOTS_H
