//===- Shard.cpp - the part of a tensor that a rank holds -----------------===//

#include "Shard.h"

#include "Elements.h"

using namespace dtc::rt;

Box dtc::rt::boxOf(const ParameterInfo &parameter, const Mesh &mesh, int rank) {
  Box box{parameter.start, parameter.shape};
  for (const ParameterInfo::Split &split : parameter.splits) {
    int64_t &size = box.size[split.dim];
    size /= mesh.axes[split.axis].size;
    box.start[split.dim] += size * mesh.coordinates(rank)[split.axis];
  }
  return box;
}

void dtc::rt::forEachRun(
    const std::vector<int64_t> &tensor, const Box &box,
    const std::function<void(int64_t, int64_t, int64_t)> &callback) {
  // Dimensions after the last one that the box cuts are one run.
  size_t inner = tensor.size();
  int64_t run = 1;
  while (inner > 0 && box.size[inner - 1] == tensor[inner - 1])
    run *= tensor[--inner];
  int64_t first = 0;
  if (inner > 0) {
    --inner;
    first = box.start[inner] * run;
    run *= box.size[inner];
  }
  std::vector<int64_t> strides(tensor.size(), 1);
  for (size_t dim = tensor.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * tensor[dim];
  int64_t runs = run ? elementCount(box.size) / run : 0;
  std::vector<int64_t> at(inner, 0);
  for (int64_t i = 0; i < runs; ++i) {
    int64_t offset = first;
    for (size_t dim = 0; dim < inner; ++dim)
      offset += (box.start[dim] + at[dim]) * strides[dim];
    callback(offset, i * run, run);
    for (size_t dim = inner; dim-- > 0;) {
      if (++at[dim] < box.size[dim])
        break;
      at[dim] = 0;
    }
  }
}
