//===- Communication.cpp - event lists of ranks and their proof -----------===//
//
// See Communication.h.
//
//===----------------------------------------------------------------------===//

#include "CommunicationModel.h"
#include "dtc/Support/Axes.h"
#include "dtc/Support/ElementType.h"
#include "llvm/ADT/StringExtras.h"

using namespace dtc;

void CommunicationProgram::add(Event event, llvm::ArrayRef<Access> accessed) {
  event.firstAccess = accesses.size();
  event.numAccesses = accessed.size();
  accesses.insert(accesses.end(), accessed.begin(), accessed.end());
  events.push_back(event);
}

int64_t CommunicationSystem::getNumRanks() const {
  int64_t ranks = 1;
  for (const Axis &axis : axes)
    ranks *= axis.size;
  return ranks;
}

int64_t CommunicationSystem::getNumMembers(int32_t group) const {
  int64_t members = 1;
  for (int32_t axis : groups[group])
    members *= axes[axis].size;
  return members;
}

int32_t CommunicationSystem::getStageAxis() const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == stageAxis)
      return i;
  return -1;
}

int64_t CommunicationSystem::getCoordinate(int64_t rank, int32_t axis) const {
  if (axis < 0)
    return 0;
  for (int32_t i = axes.size() - 1; i > axis; --i)
    rank /= axes[i].size;
  return rank % axes[axis].size;
}

void CommunicationSystem::assignPrograms() {
  int32_t stageAxis = getStageAxis();
  programOf.resize(getNumRanks());
  for (int64_t rank = 0; rank < getNumRanks(); ++rank)
    programOf[rank] = getCoordinate(rank, stageAxis);
}

std::string dtc::describeType(const CommunicationSystem &system,
                              const Event &event) {
  if (event.type >= 0)
    return system.types[event.type];
  if (event.dtype < 0)
    return std::to_string(event.count) + " bytes";
  return std::to_string(event.count) + " x " +
         getElementType(static_cast<dtc_dtype>(event.dtype)).name;
}

std::string dtc::describe(const CommunicationSystem &system,
                          const Event &event) {
  switch (event.kind) {
  case EventKind::Local:
    return "an op";
  case EventKind::Send:
    return "send to stage " + std::to_string(event.stage) + " tag " +
           std::to_string(event.tag);
  case EventKind::Recv:
    return "recv from stage " + std::to_string(event.stage) + " tag " +
           std::to_string(event.tag);
  case EventKind::Wait:
    return "wait for slot " + std::to_string(event.slot);
  case EventKind::Collective:
    break;
  }
  std::string text = getTraits(event.collective).name;
  if (event.reduction >= 0)
    text += event.reduction == DTC_SUM ? " sum" : " max";
  text += " of " + describeType(system, event) + " over [";
  std::vector<std::string> names;
  for (int32_t axis : system.groups[event.group])
    names.push_back(system.axes[axis].name);
  return text + llvm::join(names, ", ") + "]";
}

/// Checks that each rank has a program, and that it belongs to its stage.
static MaybeError checkAssignment(const CommunicationSystem &system) {
  int64_t ranks = system.getNumRanks();
  auto fail = [](int32_t program, std::string message) {
    return CommunicationError{{program, -1, std::move(message)}, {}};
  };
  if (static_cast<int64_t>(system.programOf.size()) != ranks)
    return fail(-1, "names the programs of " +
                        std::to_string(system.programOf.size()) +
                        " ranks, expected " + std::to_string(ranks));
  int32_t stageAxis = system.getStageAxis();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int32_t program = system.programOf[rank];
    int64_t stage = system.getCoordinate(rank, stageAxis);
    if (program < 0 || program >= static_cast<int32_t>(system.programs.size()))
      return fail(-1, "rank " + std::to_string(rank) + " runs program " +
                          std::to_string(program) + " of " +
                          std::to_string(system.programs.size()));
    if (system.programs[program].stage != stage)
      return fail(program, "is of stage " +
                               std::to_string(system.programs[program].stage) +
                               ", but rank " + std::to_string(rank) +
                               ", which runs it, is of stage " +
                               std::to_string(stage));
  }
  return std::nullopt;
}

MaybeError dtc::verifyCommunication(const CommunicationSystem &system) {
  if (MaybeError error = checkAssignment(system))
    return error;
  for (size_t i = 0; i < system.programs.size(); ++i)
    if (MaybeError error = checkProgram(system, i))
      return error;
  Agents all = getAllRanks(system);
  std::optional<Agents> classes = getRepresentatives(system, all);
  if (MaybeError error = execute(system, classes ? *classes : all))
    return error;
  for (size_t i = 0; i < system.programs.size(); ++i)
    if (MaybeError error = checkWaits(system, i))
      return error;
  return std::nullopt;
}
