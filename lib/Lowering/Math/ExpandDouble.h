//===- ExpandDouble.h - functions of f64 as arithmetic ----------*- C++ -*-===//

#ifndef DTC_LIB_LOWERING_MATH_EXPANDDOUBLE_H
#define DTC_LIB_LOWERING_MATH_EXPANDDOUBLE_H

#include "mlir/IR/PatternMatch.h"

namespace dtc {

/// Rewrites exp and log of f64, and powers of f32 and f64, as arithmetic on
/// f64, for scalars and vectors. The error is at most 2 ulp for exp and log,
/// and 2 ulp times 1 + |y log x| for powers.
void populateExpandDoublePatterns(mlir::RewritePatternSet &patterns);

} // namespace dtc

#endif // DTC_LIB_LOWERING_MATH_EXPANDDOUBLE_H
