//===- Target.h - the machine that code is generated for --------*- C++ -*-===//
//
// Which CPU, how wide its vectors are, and object files for it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_TARGET_H
#define DTC_LOWERING_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace dtc {

struct TargetOptions {
  std::string triple;
  std::string cpu;
  std::string features;
  unsigned vectorBytes = 32;
  /// Whether it has instructions that round f32 to bf16.
  bool hasBf16 = false;

  /// The machine that the compiler runs on.
  static TargetOptions getHost();
  /// A named CPU; empty or "native" is the host.
  static TargetOptions get(llvm::StringRef cpu);
};

/// Translates a module of the LLVM dialect to LLVM IR, optimises it (-O3) and
/// writes a position-independent object file. Multiplications and additions
/// that carry the flag may be contracted; nothing is reassociated.
llvm::LogicalResult emitObject(mlir::ModuleOp module,
                               const TargetOptions &target,
                               llvm::StringRef path);

} // namespace dtc

#endif // DTC_LOWERING_TARGET_H
