//===- Communication.h - what ranks say to each other, as data --*- C++ -*-===//
//
// Event lists of a plan's ranks, and the proof that they cannot hang or mix up
// what they exchange. Plain data, no IR: PlanCommunication.cpp makes it from
// plans, VerifyLoweredCommunication.cpp from what a program embeds.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_COMMUNICATION_COMMUNICATION_H
#define DTC_COMMUNICATION_COMMUNICATION_H

#include "dtc/Support/Collective.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dtc {

/// Bytes of a buffer that an event reads or writes.
struct Access {
  int32_t buffer;
  int64_t begin, end;
  /// What is read, or what is written there, by number; -1: not known, as after
  /// lowering, when addresses are all there is.
  int32_t value = -1;
  bool writes = false;
};

enum class EventKind : uint8_t {
  Local, ///< computes
  Send,
  Recv,
  Wait,
  Collective,
};

/// One thing that a rank does. What an event has no use for is -1.
struct Event {
  EventKind kind = EventKind::Local;
  CollectiveKind collective = CollectiveKind::AllReduce; ///< if it is one
  int8_t dtype = -1;     ///< dtc_dtype, -1: bytes
  int8_t reduction = -1; ///< dtc_reduction
  int32_t stage = -1;    ///< of the other rank of a message
  int32_t tag = -1;      ///< of a message
  int32_t group = -1;    ///< of a collective
  /// Names the event for a wait. A message has one; a collective with one
  /// starts here and is done at the wait.
  int32_t slot = -1;
  /// Elements of a message, or of one share of a collective.
  int64_t count = 0;
  /// In how many blocks the shares of its input and its output alternate.
  int64_t inputBlocks = 1, outputBlocks = 1;
  int32_t permutation = -1; ///< of a collective that permutes, by number
  int32_t type = -1;        ///< the type of all that it moves, by number
  /// What a collective over stages computes, by number: the stages agree on it.
  int32_t subject = -1;
  int32_t source = -1;      ///< where it comes from, by number
  uint32_t firstAccess = 0; ///< in the program's accesses
  uint32_t numAccesses = 0; ///< a wait has one: what it waits for
};

inline bool isCollective(EventKind kind) {
  return kind == EventKind::Collective;
}

/// What all ranks of one class do in a step, in order.
struct CommunicationProgram {
  int64_t stage = 0; ///< coordinate on the stage axis of all its ranks
  std::vector<Event> events;
  std::vector<Access> accesses;
  int32_t numBuffers = 0, numValues = 0;

  llvm::ArrayRef<Access> getAccesses(const Event &event) const {
    return llvm::ArrayRef(accesses).slice(event.firstAccess, event.numAccesses);
  }
  void add(Event event, llvm::ArrayRef<Access> accessed);
};

/// All ranks of a program. Ranks are numbered row-major over the axes.
struct CommunicationSystem {
  struct Axis {
    std::string name;
    int64_t size;
  };
  std::vector<Axis> axes;                   ///< outermost first, without time
  std::vector<std::vector<int32_t>> groups; ///< axes of each, by position
  /// For each member of a group, in order: whose input it gets.
  std::vector<std::vector<int64_t>> permutations;
  std::vector<CommunicationProgram> programs;
  std::vector<int32_t> programOf; ///< of each rank
  std::vector<std::string> types; ///< texts of Event::type
  /// Slots of the runtime: those of messages, then those of collectives.
  int64_t numMessageSlots = 0, numSlots = 0;

  int64_t getNumRanks() const;
  int64_t getNumMembers(int32_t group) const;
  /// Position of the axis of stages; -1 if there is none.
  int32_t getStageAxis() const;
  /// The coordinate of a rank on an axis; 0 on axis -1.
  int64_t getCoordinate(int64_t rank, int32_t axis) const;
  /// Lets each rank run the program of its stage, as the runtime does.
  void assignPrograms();
};

/// Why ranks hang or mix up what they exchange.
struct CommunicationError {
  struct Place {
    int32_t program, event; ///< the event is -1 for the program as a whole
    std::string message;
  };
  Place culprit;
  std::vector<Place> notes; ///< the other culprits
};

/// Checks that in every order in which ranks may run, each comes to its end,
/// even if each does what it has issued one by one, every message and every
/// member's part of a collective has the size, type and reduction that its
/// partner expects, and nothing touches a buffer that is in flight. See
/// docs/Architecture/Communication.md for the model.
std::optional<CommunicationError>
verifyCommunication(const CommunicationSystem &system);

} // namespace dtc

#endif // DTC_COMMUNICATION_COMMUNICATION_H
