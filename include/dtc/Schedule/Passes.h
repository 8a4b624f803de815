//===- Passes.h - passes of the schedule phase ------------------*- C++ -*-===//
//
// Turn one SPMD step into one plan for each pipeline stage.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_PASSES_H
#define DTC_SCHEDULE_PASSES_H

#include "dtc/Options/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Schedule/Passes.h.inc"

} // namespace dtc

#endif // DTC_SCHEDULE_PASSES_H
