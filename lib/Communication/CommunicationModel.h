//===- CommunicationModel.h - parts of the communication proof --*- C++ -*-===//
//
// Communication.cpp combines these parts: checks of one program alone, the
// partners of each rank, and the execution of all ranks together.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_COMMUNICATION_COMMUNICATIONMODEL_H
#define DTC_LIB_COMMUNICATION_COMMUNICATIONMODEL_H

#include "dtc/Communication/Communication.h"

namespace dtc {

using MaybeError = std::optional<CommunicationError>;

/// Describes an event, such as "all_reduce sum of 4 x f32 over [dp]".
std::string describe(const CommunicationSystem &system, const Event &event);
/// Describes the data that an event moves, such as "4 x f32".
std::string describeType(const CommunicationSystem &system, const Event &event);

/// Checks one program alone: slots and tags are free when they are taken, sizes
/// match the buffers, each read finds the expected value, and no event touches
/// a buffer in flight.
MaybeError checkProgram(const CommunicationSystem &system, int32_t program);

/// Checks one program alone: each transfer that starts has a wait.
MaybeError checkWaits(const CommunicationSystem &system, int32_t program);

/// The ranks that the execution runs: all ranks, or one of each class.
struct Agents {
  std::vector<int32_t> ranks;              ///< rank that each agent stands for
  std::vector<std::vector<int32_t>> peers; ///< peers of each agent, by stage
  /// The communicator of each rank, by group, numbered across all groups.
  std::vector<std::vector<int32_t>> communicators;
  std::vector<std::vector<int32_t>> members; ///< of each communicator
};

/// Returns one agent for each rank.
Agents getAllRanks(const CommunicationSystem &system);

/// Returns one agent for each class, or none if the classes are not uniform.
/// They are if every class has its own stage, the peers of a class form one
/// class, and all groups have the same number of members of each class.
std::optional<Agents> getRepresentatives(const CommunicationSystem &system,
                                         const Agents &all);

/// Runs all agents to their end. Returns the first error.
MaybeError execute(const CommunicationSystem &system, const Agents &agents);

} // namespace dtc

#endif // DTC_LIB_COMMUNICATION_COMMUNICATIONMODEL_H
