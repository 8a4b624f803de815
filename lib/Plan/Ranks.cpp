//===- Ranks.cpp - numbers of a mesh's ranks ------------------------------===//
//
// See Ranks.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/Ranks.h"

using namespace mlir;
using namespace dtc;

Ranks::Ranks(MeshAttr mesh) : count(mesh.getNumRanks()) {
  int64_t stride = count;
  for (const MeshAxis &axis : mesh.getAxes()) {
    if (axis.name.getValue() == MeshAttr::timeAxis)
      continue;
    stride /= axis.size;
    axes[axis.name.getValue()] = {axis.size, stride};
  }
}

int64_t Ranks::getCoordinate(int64_t rank, StringRef axis) const {
  auto it = axes.find(axis);
  return it == axes.end() ? 0 : rank / it->second.stride % it->second.size;
}

int64_t Ranks::getPeer(int64_t rank, StringRef axis, int64_t coordinate) const {
  auto it = axes.find(axis);
  assert(
      (it == axes.end() || (coordinate >= 0 && coordinate < it->second.size)) &&
      "a coordinate is within its axis");
  return it == axes.end() ? rank
                          : rank + (coordinate - getCoordinate(rank, axis)) *
                                       it->second.stride;
}

SmallVector<int64_t> Ranks::getGroup(int64_t rank,
                                     ArrayRef<StringRef> names) const {
  SmallVector<int64_t> group = {rank};
  for (StringRef name : names) {
    SmallVector<int64_t> larger;
    auto it = axes.find(name);
    for (int64_t member : group)
      for (int64_t i = 0; i < (it == axes.end() ? 1 : it->second.size); ++i)
        larger.push_back(getPeer(member, name, i));
    group = larger;
  }
  llvm::sort(group);
  return group;
}

SmallVector<int64_t> Ranks::getGroup(int64_t rank, ArrayAttr names) const {
  return getGroup(rank, llvm::to_vector(names.getAsValueRange<StringAttr>()));
}
