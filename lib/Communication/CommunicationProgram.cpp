//===- CommunicationProgram.cpp - check one program alone -----------------===//
//
// Walks through the events of one program and tracks the slots in use, the tags
// and bytes in flight, and the content of each buffer.
//
//===----------------------------------------------------------------------===//

#include "CommunicationModel.h"
#include "dtc/Support/ElementType.h"
#include <algorithm>
#include <map>

using namespace dtc;

namespace {

/// Bytes per element; 1 if the type is not known.
int64_t getElementBytes(int8_t dtype) {
  return dtype < 0 ? 1 : sizeOf(static_cast<dtc_dtype>(dtype));
}

bool overlap(const Access &a, const Access &b) {
  return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}

class ProgramChecker {
public:
  ProgramChecker(const CommunicationSystem &system, int32_t number)
      : system(system), program(system.programs[number]), number(number),
        contents(program.numBuffers) {}

  MaybeError check() {
    for (size_t i = 0; i < program.events.size(); ++i)
      if (MaybeError error = checkEvent(i))
        return error;
    return std::nullopt;
  }
  MaybeError checkWaited();

private:
  const Event &at(int32_t event) const { return program.events[event]; }
  CommunicationError fail(int32_t event, std::string message) const {
    return {{number, event, std::move(message)}, {}};
  }
  CommunicationError fail(int32_t event, std::string message, int32_t other,
                          std::string note) const {
    return {{number, event, std::move(message)},
            {{number, other, std::move(note)}}};
  }

  MaybeError checkEvent(int32_t index);
  MaybeError checkWait(int32_t index);
  MaybeError checkPeer(int32_t index) const;
  MaybeError checkSize(int32_t index) const;
  MaybeError checkPermutation(int32_t index) const;
  MaybeError checkInFlight(int32_t index) const;
  MaybeError takeSlot(int32_t index);
  MaybeError readContents(int32_t index) const;
  void writeContents(int32_t index);

  /// The value in a range of a buffer.
  struct Piece {
    int64_t begin, end;
    int32_t value;
  };

  const CommunicationSystem &system;
  const CommunicationProgram &program;
  int32_t number;
  std::map<int32_t, int32_t> slots;         ///< events that no wait has ended
  std::vector<std::vector<Piece>> contents; ///< by buffer
};

} // namespace

MaybeError ProgramChecker::checkPeer(int32_t index) const {
  const Event &event = at(index);
  if (event.kind != EventKind::Send && event.kind != EventKind::Recv)
    return std::nullopt;
  int32_t axis = system.getStageAxis();
  int64_t stages = axis < 0 ? 1 : system.axes[axis].size;
  if (event.stage < 0 || event.stage >= stages)
    return fail(index, "names stage " + std::to_string(event.stage) +
                           ", expected one of " + std::to_string(stages));
  if (event.stage == program.stage)
    return fail(index, "names stage " + std::to_string(event.stage) +
                           ", expected a stage other than its own");
  return std::nullopt;
}

MaybeError ProgramChecker::checkSize(int32_t index) const {
  const Event &event = at(index);
  int64_t read = 0, written = 0;
  for (const Access &access : program.getAccesses(event))
    (access.writes ? written : read) += access.end - access.begin;
  int64_t expectedRead = event.count * getElementBytes(event.dtype);
  int64_t expectedWritten = expectedRead;
  if (event.kind == EventKind::Send)
    expectedWritten = 0;
  if (event.kind == EventKind::Recv)
    expectedRead = 0;
  if (isCollective(event.kind)) {
    const CollectiveTraits &traits = getTraits(event.collective);
    int64_t members = system.getNumMembers(event.group);
    expectedRead *= countShares(traits.input, members);
    expectedWritten *= countShares(traits.output, members);
  }
  if (read != expectedRead)
    return fail(index, "reads " + std::to_string(read) + " bytes, expected " +
                           std::to_string(expectedRead));
  if (written != expectedWritten)
    return fail(index, "writes " + std::to_string(written) +
                           " bytes, expected " +
                           std::to_string(expectedWritten));
  return std::nullopt;
}

/// Checks that a permutation uses the input of each member exactly once.
MaybeError ProgramChecker::checkPermutation(int32_t index) const {
  const Event &event = at(index);
  if (!isCollective(event.kind) || !getTraits(event.collective).permutes)
    return std::nullopt;
  if (event.permutation < 0 ||
      event.permutation >= static_cast<int32_t>(system.permutations.size()))
    return fail(index, "uses permutation " + std::to_string(event.permutation) +
                           " of " + std::to_string(system.permutations.size()));
  std::vector<int64_t> sources = system.permutations[event.permutation];
  int64_t members = system.getNumMembers(event.group);
  std::sort(sources.begin(), sources.end());
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i] != static_cast<int64_t>(i))
      return fail(index, "has no permutation: not each member's input goes to "
                         "one member");
  if (static_cast<int64_t>(sources.size()) != members)
    return fail(index, "permutes " + std::to_string(sources.size()) +
                           " members, expected " + std::to_string(members));
  return std::nullopt;
}

MaybeError ProgramChecker::checkInFlight(int32_t index) const {
  for (const Access &own : program.getAccesses(at(index)))
    for (auto [slot, other] : slots)
      for (const Access &access : program.getAccesses(at(other)))
        if (overlap(own, access) && (own.writes || access.writes))
          return fail(index,
                      std::string(own.writes ? "writes" : "reads") +
                          " a buffer that " + describe(system, at(other)) +
                          (access.writes ? " writes" : " reads") +
                          " until it is waited for",
                      other, "which starts here");
  return std::nullopt;
}

MaybeError ProgramChecker::takeSlot(int32_t index) {
  const Event &event = at(index);
  bool isMessage = !isCollective(event.kind);
  if (isMessage)
    for (auto [slot, other] : slots)
      if (at(other).kind == event.kind && at(other).stage == event.stage &&
          at(other).tag == event.tag)
        return fail(index,
                    describe(system, event) +
                        " begins while another message with it is in flight",
                    other, "the other message");
  if (event.slot < 0 && !isMessage)
    return std::nullopt;
  int64_t first = isMessage ? 0 : system.numMessageSlots;
  int64_t last = (isMessage ? system.numMessageSlots : system.numSlots) - 1;
  if (event.slot < first || event.slot > last)
    return fail(index, "uses slot " + std::to_string(event.slot) +
                           ", expected " + std::to_string(first) + " to " +
                           std::to_string(last));
  auto [taken, isFree] = slots.try_emplace(event.slot, index);
  if (!isFree)
    return fail(index,
                "uses slot " + std::to_string(event.slot) +
                    ", whose last use was not waited for",
                taken->second, "the last use");
  return std::nullopt;
}

MaybeError ProgramChecker::checkWait(int32_t index) {
  const Event &event = at(index);
  if (event.slot < 0)
    return fail(index, "waits for a transfer that is not in flight");
  auto taken = slots.find(event.slot);
  if (taken == slots.end())
    return fail(index, "waits for slot " + std::to_string(event.slot) +
                           ", in which no transfer is in flight");
  // A wait names its value in plans, but not after lowering.
  for (const Access &named : program.getAccesses(event)) {
    bool isMeant = false;
    for (const Access &access : program.getAccesses(at(taken->second)))
      isMeant |= access.buffer == named.buffer && access.begin == named.begin &&
                 access.value == named.value;
    if (!isMeant)
      return fail(index,
                  "waits for another value than slot " +
                      std::to_string(event.slot) + " is for",
                  taken->second, "the slot's use");
  }
  slots.erase(taken);
  return std::nullopt;
}

MaybeError ProgramChecker::readContents(int32_t index) const {
  for (const Access &access : program.getAccesses(at(index))) {
    if (access.writes || access.value < 0)
      continue;
    int64_t found = 0;
    for (const Piece &piece : contents[access.buffer])
      if (piece.value == access.value)
        found += std::max<int64_t>(0, std::min(piece.end, access.end) -
                                          std::max(piece.begin, access.begin));
    if (found != access.end - access.begin)
      return fail(index, "reads a value that is not there: nothing has "
                         "written it yet, or something has overwritten it");
  }
  return std::nullopt;
}

void ProgramChecker::writeContents(int32_t index) {
  for (const Access &access : program.getAccesses(at(index))) {
    if (!access.writes || access.value < 0)
      continue;
    std::vector<Piece> &pieces = contents[access.buffer], rest;
    for (const Piece &piece : pieces) {
      if (piece.begin < std::min(piece.end, access.begin))
        rest.push_back(
            {piece.begin, std::min(piece.end, access.begin), piece.value});
      if (std::max(piece.begin, access.end) < piece.end)
        rest.push_back(
            {std::max(piece.begin, access.end), piece.end, piece.value});
    }
    rest.push_back({access.begin, access.end, access.value});
    pieces = std::move(rest);
  }
}

MaybeError ProgramChecker::checkEvent(int32_t index) {
  const Event &event = at(index);
  if (event.kind == EventKind::Wait)
    return checkWait(index);
  if (event.kind != EventKind::Local) {
    if (MaybeError error = checkPeer(index))
      return error;
    if (MaybeError error = checkSize(index))
      return error;
    if (MaybeError error = checkPermutation(index))
      return error;
  }
  if (MaybeError error = checkInFlight(index))
    return error;
  if (MaybeError error = readContents(index))
    return error;
  writeContents(index);
  return event.kind == EventKind::Local ? std::nullopt : takeSlot(index);
}

MaybeError ProgramChecker::checkWaited() {
  for (size_t i = 0; i < program.events.size(); ++i) {
    const Event &event = at(i);
    if (event.kind == EventKind::Wait)
      slots.erase(event.slot);
    else if (event.slot >= 0)
      slots[event.slot] = i;
  }
  if (slots.empty())
    return std::nullopt;
  return fail(slots.begin()->second, "is never waited for");
}

MaybeError dtc::checkProgram(const CommunicationSystem &system,
                             int32_t program) {
  return ProgramChecker(system, program).check();
}

MaybeError dtc::checkWaits(const CommunicationSystem &system, int32_t program) {
  return ProgramChecker(system, program).checkWaited();
}
