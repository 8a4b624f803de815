//===- Passes.h - passes of memory ------------------------------*- C++ -*-===//
//
// Insert copies before early overwrites, assign a static offset to every
// buffer, and prove that no two live buffers overlap.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MEMORY_PASSES_H
#define DTC_MEMORY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Memory/Passes.h.inc"

} // namespace dtc

#endif // DTC_MEMORY_PASSES_H
