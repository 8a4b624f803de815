//===- Context.cpp - the state of a rank that runs a plan -----------------===//

#include "Context.h"

using namespace dtc::rt;

dtc_context::dtc_context(const Program &program, int rank,
                         Collectives &collectives, Device &device,
                         bool overlaps)
    : program(program), collectives(collectives), device(device),
      overlaps(overlaps) {
  const Mesh &mesh = program.mesh;
  stage = mesh.coordinate(rank, stageAxis);
  std::vector<int> where = mesh.coordinates(rank);
  for (int peer = 0; peer < mesh.sizeOf(stageAxis); ++peer) {
    if (int axis = mesh.find(stageAxis); axis >= 0)
      where[axis] = peer;
    stageRanks.push_back(mesh.rank(where));
  }
}
