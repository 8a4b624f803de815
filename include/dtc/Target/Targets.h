//===- Targets.h - all targets ----------------------------------*- C++ -*-===//
//
// The one place that knows which targets there are.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TARGET_TARGETS_H
#define DTC_TARGET_TARGETS_H

#include "dtc/Lowering/Target.h"
#include "dtc/Options/Options.h"

namespace dtc {

/// "cpu", "cuda".
llvm::ArrayRef<llvm::StringRef> getTargetKinds();

/// The target of some options, or an error that says what is wrong with them.
llvm::Expected<std::shared_ptr<const Target>>
getTarget(const TargetOptions &options);

/// What Target::computes says; false for options that are wrong.
bool computes(const TargetOptions &options, LibraryFunction function);

/// What Target::joinsKernels says; false for options that are wrong.
bool joinsKernels(const TargetOptions &options);

/// What Target::getColumnMultiple says; 1 for options that are wrong.
int64_t getColumnMultiple(const TargetOptions &options);

/// Bytes that each rank of a planned module needs beside its arena: nothing on
/// a CPU.
int64_t getReservedBytes(const TargetOptions &options, mlir::ModuleOp module);

/// What Target::getAttentionLimits says of this precision: "fp32", "bf16" or
/// "fp16". The largest width is 0 if the target's runtime computes no attention
/// in it.
AttentionLimits getAttentionLimits(const TargetOptions &options,
                                   llvm::StringRef precision);

/// Registers the passes of all targets, for dtc-opt.
void registerTargetPasses();

} // namespace dtc

#endif // DTC_TARGET_TARGETS_H
