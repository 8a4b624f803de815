//===- ExpandPhilox.h - random numbers as integer arithmetic ----*- C++ -*-===//

#ifndef DTC_LIB_LOWERING_MATH_EXPANDPHILOX_H
#define DTC_LIB_LOWERING_MATH_EXPANDPHILOX_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

/// Builds the ten rounds of `dtc.philox` before the op (Philox 4x32-10). If the
/// positions are consecutive and start at a multiple of 4, four lanes take the
/// four words of one block. Otherwise each lane computes a block and takes one
/// word of it.
mlir::Value expandPhilox(PhiloxOp op);

} // namespace dtc

#endif // DTC_LIB_LOWERING_MATH_EXPANDPHILOX_H
