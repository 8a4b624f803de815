//===- Communication.h - event lists of ranks and their proof ---*- C++ -*-===//
//
// The event lists of a plan's ranks, and a proof that the ranks neither hang
// nor mix up the data that they exchange. Plain data, no IR:
// PlanCommunication.cpp builds it from plans, VerifyLoweredCommunication.cpp
// from the tables that a program embeds.
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

/// The bytes [begin, end) of a buffer that an event reads or writes.
struct Access {
  int32_t buffer;
  int64_t begin, end;
  /// Number of the value that is read or written; -1 after lowering, where only
  /// addresses are known.
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

/// One event of a rank. Fields that do not apply to its kind are -1.
struct Event {
  EventKind kind = EventKind::Local;
  CollectiveKind collective = CollectiveKind::AllReduce; ///< of a collective
  int8_t dtype = -1;     ///< dtc_dtype, -1: bytes
  int8_t reduction = -1; ///< dtc_reduction
  int32_t stage = -1;    ///< of the other rank of a message
  int32_t tag = -1;      ///< of a message
  int32_t group = -1;    ///< of a collective
  /// Links the event to its wait. Every message has a slot. A collective with a
  /// slot starts here and ends at the wait.
  int32_t slot = -1;
  /// Number of elements of a message, or of one share of a collective.
  int64_t count = 0;
  /// Number of blocks in which the shares alternate in the input and output.
  int64_t inputBlocks = 1, outputBlocks = 1;
  int32_t permutation = -1; ///< number of a collective's permutation
  int32_t type = -1;        ///< number of the type of all moved values
  /// Number of the value that a collective over stages computes. All stages use
  /// the same number for it.
  int32_t subject = -1;
  int32_t source = -1;      ///< number of the op that the event comes from
  uint32_t firstAccess = 0; ///< index into the program's accesses
  uint32_t numAccesses = 0; ///< a wait has one: the value it waits for
};

inline bool isCollective(EventKind kind) {
  return kind == EventKind::Collective;
}

/// The events of one step, in order, that all ranks of a class run.
struct CommunicationProgram {
  int64_t stage = 0; ///< coordinate of its ranks on the stage axis
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
  std::vector<std::vector<int32_t>> groups; ///< positions of each group's axes
  /// The source of each member's output, by member of the group.
  std::vector<std::vector<int64_t>> permutations;
  std::vector<CommunicationProgram> programs;
  std::vector<int32_t> programOf; ///< index of each rank's program
  std::vector<std::string> types; ///< texts that Event::type indexes
  /// Runtime slots: messages take the first, collectives the rest.
  int64_t numMessageSlots = 0, numSlots = 0;

  int64_t getNumRanks() const;
  int64_t getNumMembers(int32_t group) const;
  /// Position of the stage axis in `axes`; -1 if there is none.
  int32_t getStageAxis() const;
  /// Coordinate of a rank on an axis; 0 if the axis is -1.
  int64_t getCoordinate(int64_t rank, int32_t axis) const;
  /// Assigns the program of its stage to each rank, as the runtime does.
  void assignPrograms();
};

/// A reason why ranks hang or mix up the data that they exchange.
struct CommunicationError {
  struct Place {
    int32_t program, event; ///< event is -1 for the whole program
    std::string message;
  };
  Place culprit;
  std::vector<Place> notes; ///< the other events involved
};

/// Proves that every rank finishes, in every order in which ranks may run and
/// even if each rank processes its transfers one at a time. Also checks that
/// both ends of a message, and all members of a collective, agree on size, type
/// and reduction, and that no event touches a buffer in flight. Returns the
/// first error, or none. docs/Architecture/Communication.md describes the
/// model.
std::optional<CommunicationError>
verifyCommunication(const CommunicationSystem &system);

} // namespace dtc

#endif // DTC_COMMUNICATION_COMMUNICATION_H
