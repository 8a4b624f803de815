//===- Shard.h - the part of a tensor that a rank holds ---------*- C++ -*-===//
//
// Files contain whole tensors. Ranks hold boxes of them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_PROGRAM_SHARD_H
#define DTC_LIB_RUNTIME_PROGRAM_SHARD_H

#include "Program.h"

#include <functional>

namespace dtc::rt {

/// Elements start .. start + size of each dimension of a tensor. Elements
/// beyond the tensor's end are padding.
struct Box {
  std::vector<int64_t> start, size;
};

/// The part of a tensor that a rank holds, if axes split the tensor.
Box boxOf(const std::vector<int64_t> &shape,
          const std::vector<AxisSplit> &splits, const Mesh &mesh, int rank);

/// The part of a parameter that a rank holds, as a box of the parameter's
/// tensor.
Box boxOf(const ParameterInfo &parameter, const Mesh &mesh, int rank);

/// The data of a rank at a place: elements first .. first + count of a box, in
/// row-major order, at an offset of the arena.
struct Piece {
  Box box;
  int64_t first, count, offset;
};
Piece pieceOf(const ParameterInfo &parameter, const Stage::Place &place,
              const Mesh &mesh, int rank);

/// Calls `body` for each contiguous run of a box, with the index of the first
/// element in the tensor and in the box, and the number of elements. Skips
/// padding.
void forEachRun(const std::vector<int64_t> &tensor, const Box &box,
                const std::function<void(int64_t inTensor, int64_t inBox,
                                         int64_t count)> &callback);

/// The same for a piece, whose elements count from its first.
void forEachRun(const std::vector<int64_t> &tensor, const Piece &piece,
                const std::function<void(int64_t inTensor, int64_t inPiece,
                                         int64_t count)> &callback);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_PROGRAM_SHARD_H
