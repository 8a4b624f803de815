//===- AttentionScores.h - workspace of attention's gradient ----*- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_ATTENTION_ATTENTIONSCORES_H
#define DTC_LIB_SCHEDULE_ATTENTION_ATTENTIONSCORES_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

/// Bytes of a rank's scores, as `scoreBytesOf` counts them on local shapes.
int64_t getScoreBytes(const AttentionSizes &sizes);

} // namespace dtc

#endif // DTC_LIB_SCHEDULE_ATTENTION_ATTENTIONSCORES_H
