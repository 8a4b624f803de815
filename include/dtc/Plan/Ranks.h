//===- Ranks.h - numbers of a mesh's ranks ----------------------*- C++ -*-===//
//
// The only place in the compiler that numbers ranks. Its counterpart in the
// runtime is dtc::rt::Mesh. Both follow the order of the mesh's axes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLAN_RANKS_H
#define DTC_PLAN_RANKS_H

#include "dtc/Dialect/Dialect.h"
#include <map>

namespace dtc {

/// The ranks of a mesh, row-major over all axes but time. An axis that the mesh
/// lacks has size 1.
class Ranks {
public:
  explicit Ranks(MeshAttr mesh);

  int64_t size() const { return count; }
  int64_t getCoordinate(int64_t rank, llvm::StringRef axis) const;
  /// The rank with this coordinate on the axis and the coordinates of `rank` on
  /// all others.
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
