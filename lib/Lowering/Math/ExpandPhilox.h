//===- ExpandPhilox.h - random numbers by integer arithmetic ----*- C++ -*-===//

#ifndef DTC_LIB_LOWERING_MATH_EXPANDPHILOX_H
#define DTC_LIB_LOWERING_MATH_EXPANDPHILOX_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

/// The ten rounds of `dtc.philox`, before the op. A vector of neighbouring
/// positions from a multiple of 4 on has four lanes for the four words of a
/// block; else each lane computes the block that it takes a word of.
mlir::Value expandPhilox(PhiloxOp op);

} // namespace dtc

#endif // DTC_LIB_LOWERING_MATH_EXPANDPHILOX_H
