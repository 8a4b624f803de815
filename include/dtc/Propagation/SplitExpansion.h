//===- SplitExpansion.h - ops over a split dimension ------------*- C++ -*-===//
//
// The interface that dtc-propagate-layouts queries, and the registration of the
// models that implement it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PROPAGATION_SPLITEXPANSION_H
#define DTC_PROPAGATION_SPLITEXPANSION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "dtc/Propagation/SplitExpansion.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace dtc {

/// Attaches the expansions of all dtc ops that have one. A context that runs
/// dtc-choose-splits or dtc-propagate-layouts needs them.
void registerSplitExpansions(mlir::DialectRegistry &registry);

} // namespace dtc

#endif // DTC_PROPAGATION_SPLITEXPANSION_H
