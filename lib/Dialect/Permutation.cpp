//===- Permutation.cpp - moves of shards between ranks --------------------===//
//
// A shard is identified by its start in each dimension, in units of shards. If
// the start depends on axes outside the group, it is compared at both ends of
// these axes.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Permutation.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using namespace dtc;

/// A shard of a member, at the first and last coordinates on the other axes.
using Shard = SmallVector<int64_t, 8>;

static Shard getShard(LayoutAttr layout, ArrayRef<StringRef> axes, int64_t rank,
                      int64_t member) {
  MeshAttr mesh = layout.getMesh();
  llvm::DenseMap<StringRef, int64_t> place;
  for (StringRef axis : llvm::reverse(axes)) {
    place[axis] = member % mesh.getSize(axis);
    member /= mesh.getSize(axis);
  }
  Shard shard;
  for (bool isAtEnd : {false, true})
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t begin = 0;
      for (StringAttr axis : layout.getAxesOfDim(dim)) {
        int64_t size = mesh.getSize(axis);
        auto own = place.find(axis.getValue());
        begin = begin * size + (own != place.end() ? own->second
                                : isAtEnd          ? size - 1
                                                   : 0);
      }
      shard.push_back(begin);
    }
  return shard;
}

/// Whether shards of both layouts have the same shape and order of elements.
static bool areComparable(LayoutAttr from, LayoutAttr to, int64_t rank) {
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<AxisLayout> a = from.getSplitsOfDim(dim),
                            b = to.getSplitsOfDim(dim);
    if (a == b)
      continue;
    auto isInPieces = [](const AxisLayout &split) { return split.pieces > 1; };
    auto count = [&](ArrayRef<AxisLayout> splits) {
      int64_t shards = 1;
      for (const AxisLayout &split : splits)
        shards *= from.getMesh().getSize(split.axis.getValue());
      return shards;
    };
    if (llvm::any_of(a, isInPieces) || llvm::any_of(b, isInPieces) ||
        count(a) != count(b))
      return false;
  }
  return true;
}

static int64_t countMembers(MeshAttr mesh, ArrayRef<StringRef> axes) {
  int64_t members = 1;
  for (StringRef axis : axes)
    members *= mesh.getSize(axis);
  return members;
}

bool dtc::isPermutation(ArrayRef<int64_t> numbers, int64_t size) {
  SmallVector<bool> seen(std::max<int64_t>(size, 0));
  for (int64_t number : numbers)
    if (number < 0 || number >= size || std::exchange(seen[number], true))
      return false;
  return static_cast<int64_t>(numbers.size()) == size;
}

bool dtc::getsOwnShards(LayoutAttr from, LayoutAttr to,
                        ArrayRef<StringRef> axes, int64_t rank,
                        ArrayRef<int64_t> sources) {
  if (!areComparable(from, to, rank))
    return false;
  for (auto [member, source] : llvm::enumerate(sources))
    if (getShard(to, axes, rank, member) != getShard(from, axes, rank, source))
      return false;
  return true;
}

SmallVector<int64_t> dtc::findSources(LayoutAttr from, LayoutAttr to,
                                      ArrayRef<StringRef> axes, int64_t rank) {
  if (!areComparable(from, to, rank))
    return {};
  int64_t members = countMembers(from.getMesh(), axes);
  std::map<Shard, SmallVector<int64_t>> holders;
  SmallVector<int64_t> sources(members, -1);
  for (int64_t member = 0; member < members; ++member)
    if (Shard held = getShard(from, axes, rank, member);
        held == getShard(to, axes, rank, member))
      sources[member] = member;
    else
      holders[held].push_back(member);
  // Several holders of one shard send it in order.
  for (int64_t member = members; member-- > 0;) {
    if (sources[member] >= 0)
      continue;
    SmallVector<int64_t> &left = holders[getShard(to, axes, rank, member)];
    if (left.empty())
      return {};
    sources[member] = left.pop_back_val();
  }
  return sources;
}
