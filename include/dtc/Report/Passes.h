//===- Passes.h - passes that record the cost of plans ----------*- C++ -*-===//
//
// Record the FLOPs and bytes that the report counts, so that a program can
// print its speed (docs/Metrics.md).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_PASSES_H
#define DTC_REPORT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Report/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Report/Passes.h.inc"

} // namespace dtc

#endif // DTC_REPORT_PASSES_H
