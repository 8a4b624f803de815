//===- Work.h - attributes of the cost of ops -------------------*- C++ -*-===//
//
// RecordWork writes the attributes, and LowerPlan embeds them in the program.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_WORK_H
#define DTC_PLAN_WORK_H

#include "llvm/ADT/StringRef.h"

namespace dtc::attr {

/// Launch or library call: FLOPs and bytes of one execution on a rank.
constexpr llvm::StringLiteral work = "dtc.work";
/// Product in a backward pass: it belongs to the forward pass but runs only
/// here.
constexpr llvm::StringLiteral ofForwardPass = "dtc.of_forward_pass";
/// Module: FLOPs of the model in a step, over all ranks.
constexpr llvm::StringLiteral modelFlops = "dtc.model_flops";

} // namespace dtc::attr

#endif // DTC_PLAN_WORK_H
