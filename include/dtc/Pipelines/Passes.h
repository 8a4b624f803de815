//===- Passes.h - passes of all phases --------------------------*- C++ -*-===//
//
// The pass that checks the result of each phase.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PIPELINES_PASSES_H
#define DTC_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Pipelines/Passes.h.inc"

} // namespace dtc

#endif // DTC_PIPELINES_PASSES_H
