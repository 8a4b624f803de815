//===- Ranks.h - the numbers of a mesh's ranks ------------------*- C++ -*-===//
//
// The one place of the compiler that numbers ranks; dtc::rt::Mesh is that of
// the runtime. Both follow the order of the mesh's axes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_RANKS_H
#define DTC_PLAN_RANKS_H

#include "dtc/Dialect/Dialect.h"
#include <map>

namespace dtc {

/// Ranks of a mesh, row-major over all axes but time. Axes that the mesh does
/// not have are of size 1.
class Ranks {
public:
  explicit Ranks(MeshAttr mesh);

  int64_t size() const { return count; }
  int64_t getCoordinate(int64_t rank, llvm::StringRef axis) const;
  /// The rank with this coordinate, and ours on all other axes.
  int64_t getPeer(int64_t rank, llvm::StringRef axis, int64_t coordinate) const;
  /// Ranks that differ from this one on these axes only, in order.
  llvm::SmallVector<int64_t> getGroup(int64_t rank,
                                      llvm::ArrayRef<llvm::StringRef>) const;
  llvm::SmallVector<int64_t> getGroup(int64_t rank, mlir::ArrayAttr axes) const;

private:
  struct Axis {
    int64_t size, stride;
  };
  int64_t count;
  std::map<llvm::StringRef, Axis> axes;
};

} // namespace dtc

#endif // DTC_PLAN_RANKS_H
