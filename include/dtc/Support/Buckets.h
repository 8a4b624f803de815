//===- Buckets.h - sizes of gradient buckets --------------------*- C++ -*-===//

#ifndef DTC_SUPPORT_BUCKETS_H
#define DTC_SUPPORT_BUCKETS_H

#include <cstdint>

namespace dtc {

/// Bytes of the first bucket of gradients that a stage completes, of whatever
/// size the others are: communication begins early, as in PyTorch's DDP (Li et
/// al., arXiv 2006.15704). A larger gradient is alone.
constexpr int64_t firstBucketBytes = 1 << 20;

} // namespace dtc

#endif // DTC_SUPPORT_BUCKETS_H
