//===- GuardedSoftmax.h - zeros for rows of NaN -----------------*- C++ -*-===//

#ifndef DTC_LIB_STRATEGY_ATTENTION_GUARDEDSOFTMAX_H
#define DTC_LIB_STRATEGY_ATTENTION_GUARDEDSOFTMAX_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

/// The softmax whose NaN the op replaces with zeros; null if the op does
/// something else.
SoftmaxOp findGuardedSoftmax(SelectOp select);

} // namespace dtc

#endif // DTC_LIB_STRATEGY_ATTENTION_GUARDEDSOFTMAX_H
