//===- Reduce.h - sums and maxima of two buffers ----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_REDUCE_H
#define DTC_LIB_RUNTIME_COLLECTIVES_REDUCE_H

#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// target = target + x, or their maximum, for each of `count` elements of two
/// buffers that do not overlap. A NaN in either is one in the maximum; of bools
/// both reductions are "any".
void reduceInto(dtc_dtype dtype, dtc_reduction reduction, void *target,
                const void *x, int64_t count);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_REDUCE_H
