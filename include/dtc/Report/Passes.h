//===- Passes.h - passes that write down what plans cost --------*- C++ -*-===//
//
// FLOPs and bytes, as the report counts them, for a program that shows how
// fast it is (docs/Metrics.md).
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
