//===- Work.h - attributes of what ops cost ---------------------*- C++ -*-===//
//
// RecordWork writes them, and LowerPlan tells the program.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_WORK_H
#define DTC_PLAN_WORK_H

#include "llvm/ADT/StringRef.h"

namespace dtc::attr {

/// Launch or library call: FLOPs and bytes of one execution on a rank.
constexpr llvm::StringLiteral work = "dtc.work";
/// Product in a backward pass: one of the forward pass, which runs here alone.
constexpr llvm::StringLiteral ofForwardPass = "dtc.of_forward_pass";
/// Module: FLOPs that the model asks of all ranks in a step.
constexpr llvm::StringLiteral modelFlops = "dtc.model_flops";

} // namespace dtc::attr

#endif // DTC_PLAN_WORK_H
