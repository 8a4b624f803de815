//===- Shard.h - the part of a tensor that a rank holds ---------*- C++ -*-===//
//
// Files hold whole tensors, ranks hold boxes of them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_SHARD_H
#define DTC_LIB_RUNTIME_SHARD_H

#include "Program.h"

#include <functional>

namespace dtc::rt {

/// Elements start .. start + size of each dimension of a tensor.
struct Box {
  std::vector<int64_t> start, size;
};

/// What a rank holds of a parameter, as a box of the parameter's tensor.
Box boxOf(const ParameterInfo &parameter, const Mesh &mesh, int rank);

/// Calls back for each contiguous run of a box: the first element's index in
/// the tensor and in the box, and the number of elements.
void forEachRun(const std::vector<int64_t> &tensor, const Box &box,
                const std::function<void(int64_t inTensor, int64_t inBox,
                                         int64_t count)> &callback);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SHARD_H
