//===- CommunicationAgents.cpp - peers and groups of ranks ----------------===//
//
// Computes the peers and groups of all ranks once, and proves that one rank of
// each class can stand for the whole class.
//
//===----------------------------------------------------------------------===//

#include "CommunicationModel.h"
#include <map>

using namespace dtc;

namespace {

/// Distance between neighbours on each axis.
std::vector<int64_t> getStrides(const CommunicationSystem &system) {
  std::vector<int64_t> strides(system.axes.size());
  int64_t stride = 1;
  for (size_t i = strides.size(); i-- > 0; stride *= system.axes[i].size)
    strides[i] = stride;
  return strides;
}

} // namespace

Agents dtc::getAllRanks(const CommunicationSystem &system) {
  int64_t ranks = system.getNumRanks();
  std::vector<int64_t> strides = getStrides(system);
  Agents agents;
  agents.peers.resize(ranks);
  agents.communicators.resize(ranks);
  int32_t stageAxis = system.getStageAxis();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    agents.ranks.push_back(rank);
    if (stageAxis < 0) {
      agents.peers[rank] = {static_cast<int32_t>(rank)};
      continue;
    }
    int64_t own = system.getCoordinate(rank, stageAxis);
    for (int64_t stage = 0; stage < system.axes[stageAxis].size; ++stage)
      agents.peers[rank].push_back(rank + (stage - own) * strides[stageAxis]);
  }
  // Split ranks as the runtime does: members differ only on the group's axes.
  for (const std::vector<int32_t> &axes : system.groups) {
    std::map<int64_t, int32_t> byFirst;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t first = rank;
      for (int32_t axis : axes)
        first -= system.getCoordinate(rank, axis) * strides[axis];
      auto [it, isNew] = byFirst.try_emplace(first, agents.members.size());
      if (isNew)
        agents.members.emplace_back();
      agents.members[it->second].push_back(rank);
      agents.communicators[rank].push_back(it->second);
    }
  }
  return agents;
}

std::optional<Agents> dtc::getRepresentatives(const CommunicationSystem &system,
                                              const Agents &all) {
  size_t numClasses = system.programs.size();
  int32_t stageAxis = system.getStageAxis();
  size_t numStages = stageAxis < 0 ? 1 : system.axes[stageAxis].size;
  if (numClasses != numStages)
    return std::nullopt;
  Agents agents;
  agents.ranks.assign(numClasses, -1);
  agents.peers.resize(numClasses);
  agents.communicators.resize(numClasses);
  for (int32_t rank : all.ranks)
    if (int32_t &first = agents.ranks[system.programOf[rank]]; first < 0)
      first = rank;
  for (int32_t rank : agents.ranks)
    if (rank < 0) // no rank runs it
      return std::nullopt;

  // The peers of a class form one class, and being a peer is mutual.
  for (int32_t rank : all.ranks) {
    int32_t own = system.programOf[rank];
    std::vector<int32_t> &peers = agents.peers[own];
    for (size_t stage = 0; stage < numStages; ++stage) {
      int32_t peer = all.peers[rank][stage];
      int32_t peerClass = system.programOf[peer];
      if (peers.size() == stage)
        peers.push_back(peerClass);
      if (peers[stage] != peerClass ||
          all.peers[peer][system.programs[own].stage] != rank)
        return std::nullopt;
    }
  }

  // All groups of a class have the same number of members of each class.
  using Census = std::map<int32_t, int64_t>; // number of ranks by class
  for (size_t group = 0; group < system.groups.size(); ++group) {
    std::vector<Census> censusOf(all.members.size());
    for (int32_t rank : all.ranks)
      ++censusOf[all.communicators[rank][group]][system.programOf[rank]];
    std::vector<const Census *> expected(numClasses, nullptr);
    for (const Census &census : censusOf)
      for (auto [member, count] : census) {
        if (expected[member] && *expected[member] != census)
          return std::nullopt;
        expected[member] = &census;
      }
    // Classes that share a group share a communicator.
    for (size_t member = 0; member < numClasses; ++member) {
      int32_t first = expected[member]->begin()->first;
      if (first == static_cast<int32_t>(member)) {
        agents.communicators[member].push_back(agents.members.size());
        agents.members.emplace_back();
        for (auto [other, count] : *expected[member])
          agents.members.back().push_back(other);
      } else {
        agents.communicators[member].push_back(
            agents.communicators[first][group]);
      }
    }
  }
  return agents;
}
