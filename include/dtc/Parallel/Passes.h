//===- Passes.h - passes of the parallel phase ------------------*- C++ -*-===//
//
// Convert a training step on global shapes to an SPMD step with layouts.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PARALLEL_PASSES_H
#define DTC_PARALLEL_PASSES_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Pass/Pass.h"

namespace dtc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

#endif // DTC_PARALLEL_PASSES_H
