//===- Passes.h - passes of the strategy phase ------------------*- C++ -*-===//
//
// Prepare the forward pass with its loss, and apply the decisions of the
// strategy: cuts, splits, padding, and options that name parameters.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_STRATEGY_PASSES_H
#define DTC_STRATEGY_PASSES_H

#include "dtc/Options/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Strategy/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Strategy/Passes.h.inc"

} // namespace dtc

#endif // DTC_STRATEGY_PASSES_H
