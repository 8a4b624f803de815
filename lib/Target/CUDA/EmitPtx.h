//===- EmitPtx.h - PTX and machine code of device functions -----*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CUDA_EMITPTX_H
#define DTC_LIB_TARGET_CUDA_EMITPTX_H

#include "dtc/Target/CUDA/CudaTarget.h"

namespace dtc {

/// Assembles PTX to machine code for an architecture with the assembler at the
/// path `ptxas`. `report` gets its output on registers and memory. Fails with a
/// diagnostic.
mlir::FailureOr<std::string>
assemblePtx(mlir::Location loc, llvm::StringRef ptx, llvm::StringRef ptxas,
            const CudaArchitecture &architecture, std::string *report);

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_EMITPTX_H
