//===- AttentionScores.h - workspace of attention's gradient ----*- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_ATTENTIONSCORES_H
#define DTC_LIB_SCHEDULE_ATTENTIONSCORES_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

/// Bytes that a library keeps for the gradient of one sample's group of heads:
/// 16 bits for each score, in tiles of 128 queries and keys.
int64_t getScoreBytes(const AttentionSizes &sizes);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_ATTENTIONSCORES_H
