//===- WidenFloats.h - kernels compute in f32 -------------------*- C++ -*-===//

#ifndef DTC_LIB_LOWERING_MATH_WIDENFLOATS_H
#define DTC_LIB_LOWERING_MATH_WIDENFLOATS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Makes a kernel of dtc ops compute in f32 instead of f16 or bf16. Arguments
/// are widened where they are used, and the result of each op is rounded, even
/// if it stays in the kernel.
void widenFloats(mlir::func::FuncOp kernel);

} // namespace dtc

#endif // DTC_LIB_LOWERING_MATH_WIDENFLOATS_H
