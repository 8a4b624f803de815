//===- WidenFloats.h - kernels compute in f32 -------------------*- C++ -*-===//

#ifndef DTC_LIB_LOWERING_MATH_WIDENFLOATS_H
#define DTC_LIB_LOWERING_MATH_WIDENFLOATS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Makes a kernel, still of dtc ops, compute in f32 what it has in f16 or bf16:
/// arguments are widened where they enter it, and the result of each op is
/// rounded, whether it leaves the kernel or not.
void widenFloats(mlir::func::FuncOp kernel);

} // namespace dtc

#endif // DTC_LIB_LOWERING_MATH_WIDENFLOATS_H
