//===- Targets.h - all targets ----------------------------------*- C++ -*-===//
//
// The only file that lists the targets.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TARGET_TARGETS_H
#define DTC_TARGET_TARGETS_H

#include "dtc/Lowering/Target.h"
#include "dtc/Options/Options.h"

namespace dtc {

/// The kinds of targets: "cpu", "cuda".
llvm::ArrayRef<llvm::StringRef> getTargetKinds();

/// Creates the target for some options. Returns an error if they are wrong.
llvm::Expected<std::shared_ptr<const Target>>
getTarget(const TargetOptions &options);

/// Target::computes of the options' target; false if the options are wrong.
bool computes(const TargetOptions &options, LibraryFunction function);

/// Target::joinsKernels of the options' target; false if the options are wrong.
bool joinsKernels(const TargetOptions &options);

/// Target::getColumnMultiple of the options' target; 1 if the options are
/// wrong.
int64_t getColumnMultiple(const TargetOptions &options);

/// Target::getReservedBytes of the options' target; 0 on a CPU.
int64_t getReservedBytes(const TargetOptions &options, mlir::ModuleOp module);

/// Target::getAttentionLimits for a precision: "fp32", "bf16" or "fp16". The
/// largest width is 0 if the target's runtime does not compute attention in it.
AttentionLimits getAttentionLimits(const TargetOptions &options,
                                   llvm::StringRef precision);

/// Registers the passes of all targets, for dtc-opt.
void registerTargetPasses();

} // namespace dtc

#endif // DTC_TARGET_TARGETS_H
