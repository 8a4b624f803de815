//===- Passes.h - passes of communication -----------------------*- C++ -*-===//
//
// The proof that the ranks of a program neither hang nor mix up what they
// exchange.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_COMMUNICATION_PASSES_H
#define DTC_COMMUNICATION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Communication/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Communication/Passes.h.inc"

} // namespace dtc

#endif // DTC_COMMUNICATION_PASSES_H
