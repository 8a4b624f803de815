//===- EmitPtx.h - PTX and machine code of device functions -----*- C++ -*-===//

#ifndef DTC_LIB_TARGET_CUDA_EMITPTX_H
#define DTC_LIB_TARGET_CUDA_EMITPTX_H

#include "dtc/Target/CUDA/CudaTarget.h"

namespace dtc {

/// Machine code of PTX for an architecture, by the assembler at the path
/// `ptxas`; `report` gets what it says of registers and memory.
mlir::FailureOr<std::string>
assemblePtx(mlir::Location loc, llvm::StringRef ptx, llvm::StringRef ptxas,
            const CudaArchitecture &architecture, std::string *report);

} // namespace dtc

#endif // DTC_LIB_TARGET_CUDA_EMITPTX_H
