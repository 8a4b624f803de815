//===- CommunicationModel.h - parts of the proof ----------------*- C++ -*-===//
//
// What Communication.cpp puts together: one program alone, then who meets
// whom, then all of them together.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_COMMUNICATION_COMMUNICATIONMODEL_H
#define DTC_LIB_COMMUNICATION_COMMUNICATIONMODEL_H

#include "dtc/Communication/Communication.h"

namespace dtc {

using MaybeError = std::optional<CommunicationError>;

/// "all_reduce sum of 4 x f32 over [dp]".
std::string describe(const CommunicationSystem &system, const Event &event);
/// "4 x f32": what an event moves.
std::string describeType(const CommunicationSystem &system, const Event &event);

/// Checks one program alone: slots and tags are free when they are taken, sizes
/// are those of buffers, what is read is there, and nothing touches what is in
/// flight.
MaybeError checkProgram(const CommunicationSystem &system, int32_t program);

/// Checks one program alone: everything that starts is waited for.
MaybeError checkWaits(const CommunicationSystem &system, int32_t program);

/// Those that the execution runs: all ranks, or one of each class.
struct Agents {
  std::vector<int32_t> ranks;              ///< whom each stands for
  std::vector<std::vector<int32_t>> peers; ///< of each, by stage
  /// The communicator of each rank, by group, counted over all groups.
  std::vector<std::vector<int32_t>> communicators;
  std::vector<std::vector<int32_t>> members; ///< of each communicator
};

/// Each rank is one.
Agents getAllRanks(const CommunicationSystem &system);

/// One rank of each class, if this follows: every class has a stage of its own,
/// peers of one class are of one class, and so are, with the same numbers of
/// ranks, members of the same group.
std::optional<Agents> getRepresentatives(const CommunicationSystem &system,
                                         const Agents &all);

/// Runs all agents to their ends.
MaybeError execute(const CommunicationSystem &system, const Agents &agents);

} // namespace dtc

#endif // DTC_LIB_COMMUNICATION_COMMUNICATIONMODEL_H
