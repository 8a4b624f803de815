//===- Buckets.h - sizes of gradient buckets --------------------*- C++ -*-===//

#ifndef DTC_SUPPORT_BUCKETS_H
#define DTC_SUPPORT_BUCKETS_H

#include <cstdint>

namespace dtc {

/// Bytes of the first gradient bucket that a stage completes, whatever the size
/// of the others, so that communication begins early, as in PyTorch's DDP (Li
/// et al., arXiv 2006.15704). A larger gradient is a bucket of its own.
constexpr int64_t firstBucketBytes = 1 << 20;

} // namespace dtc

#endif // DTC_SUPPORT_BUCKETS_H
