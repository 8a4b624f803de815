//===- Mesh.h - the ranks of a program --------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_PROGRAM_MESH_H
#define DTC_LIB_RUNTIME_PROGRAM_MESH_H

#include "dtc/Support/Axes.h"

#include <string>
#include <string_view>
#include <vector>

namespace dtc::rt {

using dtc::stageAxis;

/// The named axes of ranks, outermost first; a rank is the row-major index of
/// its coordinates.
struct Mesh {
  struct Axis {
    std::string name;
    int size;
  };
  std::vector<Axis> axes;
  /// The axis whose size follows from the number of ranks. Its size is 1 until
  /// that number is known. -1 if there is none.
  int openAxis = -1;

  int size() const;
  /// Index of the axis, or -1. A mesh without an axis has size 1 along it.
  int find(std::string_view name) const;
  int sizeOf(std::string_view name) const;
  /// The number of ranks that differ along these axes only.
  int sizeOf(const std::vector<int> &axes) const;
  std::vector<int> coordinates(int rank) const;
  int rank(const std::vector<int> &coordinates) const;
  /// The coordinate of `rank` along the axis; 0 when there is no such axis.
  int coordinate(int rank, std::string_view name) const;
  /// The ranks that differ from `rank` along these axes only, in the order of
  /// their coordinates, the last axis fastest.
  std::vector<int> members(const std::vector<int> &axes, int rank) const;
  /// The index of `rank` among these members.
  int place(const std::vector<int> &axes, int rank) const;
  /// "pp 2 x dp 4", "pp 2 x dp auto".
  std::string describe() const;
  /// "rank 7 (pp 1, dp 3)", for messages; "rank 0" without axes.
  std::string describeRank(int rank) const;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_PROGRAM_MESH_H
