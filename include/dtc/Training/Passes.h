//===- Passes.h - passes of the training phase ------------------*- C++ -*-===//
//
// Passes that turn the forward pass with its loss into a training step:
// gradients and optimizer.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_PASSES_H
#define DTC_TRAINING_PASSES_H

#include "dtc/Options/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Training/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Training/Passes.h.inc"

} // namespace dtc

#endif // DTC_TRAINING_PASSES_H
