//===- Shard.cpp - the part of a tensor that a rank holds -----------------===//

#include "Shard.h"

#include "Core/Elements.h"

#include <algorithm>

using namespace dtc::rt;

Box dtc::rt::boxOf(const std::vector<int64_t> &shape,
                   const std::vector<AxisSplit> &splits, const Mesh &mesh,
                   int rank) {
  Box box{std::vector<int64_t>(shape.size(), 0), shape};
  for (const AxisSplit &split : splits) {
    int64_t &size = box.size[split.dim];
    size /= mesh.axes[split.axis].size;
    box.start[split.dim] += size * mesh.coordinates(rank)[split.axis];
  }
  return box;
}

Box dtc::rt::boxOf(const ParameterInfo &parameter, const Mesh &mesh, int rank) {
  Box box = boxOf(parameter.shape, parameter.splits, mesh, rank);
  for (size_t dim = 0; dim < box.start.size(); ++dim)
    box.start[dim] += parameter.start[dim];
  return box;
}

Piece dtc::rt::pieceOf(const ParameterInfo &parameter,
                       const Stage::Place &place, const Mesh &mesh, int rank) {
  Piece piece{boxOf(parameter, mesh, rank), 0, 0, place.offset};
  piece.count = elementCount(piece.box.size);
  if (!place.shard)
    return piece;
  int64_t part = place.shard->length / place.shard->countParts(mesh);
  int64_t begin = part * place.shard->partOf(mesh, rank);
  int64_t first = std::max(begin, place.shard->start);
  int64_t end = std::min(begin + part, place.shard->start + piece.count);
  piece.first = first - place.shard->start;
  piece.count = std::max<int64_t>(end - first, 0);
  piece.offset += (first - begin) * sizeOf(parameter.dtype);
  return piece;
}

void dtc::rt::forEachRun(
    const std::vector<int64_t> &tensor, const Piece &piece,
    const std::function<void(int64_t, int64_t, int64_t)> &callback) {
  int64_t last = piece.first + piece.count;
  forEachRun(
      tensor, piece.box, [&](int64_t inTensor, int64_t inBox, int64_t count) {
        int64_t begin = std::max(inBox, piece.first);
        int64_t end = std::min(inBox + count, last);
        if (begin < end)
          callback(inTensor + begin - inBox, begin - piece.first, end - begin);
      });
}

void dtc::rt::forEachRun(
    const std::vector<int64_t> &tensor, const Box &box,
    const std::function<void(int64_t, int64_t, int64_t)> &callback) {
  // The part of the box that lies in the tensor; the rest is padding.
  size_t rank = tensor.size();
  std::vector<int64_t> size(rank), inTensor(rank, 1), inBox(rank, 1);
  for (size_t dim = rank; dim-- > 0;) {
    size[dim] =
        std::clamp<int64_t>(tensor[dim] - box.start[dim], 0, box.size[dim]);
    if (dim + 1 < rank) {
      inTensor[dim] = inTensor[dim + 1] * tensor[dim + 1];
      inBox[dim] = inBox[dim + 1] * box.size[dim + 1];
    }
  }
  // Dimensions after the last one that differs form one run, together with that
  // one.
  size_t inner = rank;
  int64_t run = 1;
  while (inner > 0 && box.size[inner - 1] == tensor[inner - 1] &&
         size[inner - 1] == tensor[inner - 1])
    run *= tensor[--inner];
  int64_t first = 0;
  if (inner > 0) {
    --inner;
    first = box.start[inner] * run;
    run *= size[inner];
  }
  int64_t runs = run ? elementCount(size) / run : 0;
  std::vector<int64_t> at(inner, 0);
  for (int64_t i = 0; i < runs; ++i) {
    int64_t from = first, to = 0;
    for (size_t dim = 0; dim < inner; ++dim) {
      from += (box.start[dim] + at[dim]) * inTensor[dim];
      to += at[dim] * inBox[dim];
    }
    callback(from, to, run);
    for (size_t dim = inner; dim-- > 0;) {
      if (++at[dim] < size[dim])
        break;
      at[dim] = 0;
    }
  }
}
