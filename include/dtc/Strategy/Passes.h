//===- Passes.h - passes of the strategy phase ------------------*- C++ -*-===//
//
// What a plan decides about a model: cuts, splits, padding, what is said of
// parameters by name.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_STRATEGY_PASSES_H
#define DTC_STRATEGY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Strategy/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Strategy/Passes.h.inc"

} // namespace dtc

#endif // DTC_STRATEGY_PASSES_H
