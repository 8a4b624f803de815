//===- SharedGroup.h - a group whose ranks share memory ---------*- C++ -*-===//
//
// A group's collectives are a queue. A member publishes that it has reached a
// collective, and the place of its buffer. When all members have reached it,
// each does its share of the work; when all have done theirs, the collective is
// finished. Nothing here blocks.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_SHAREDGROUP_H
#define DTC_LIB_RUNTIME_COLLECTIVES_SHAREDGROUP_H

#include "Collectives.h"
#include "Doorbell.h"

#include <atomic>
#include <vector>

namespace dtc::rt {

/// The state that a member publishes for the collectives of a group; zeros are
/// the start.
struct Mailbox {
  /// Collectives of a group that a rank may have in flight: one for each slot,
  /// and one that blocks.
  static constexpr uint64_t maxInFlight = DTC_MAX_COLLECTIVE_SLOTS + 1;

  /// A member that has finished its collective f knows that all have come to f,
  /// so each of them has finished f - maxInFlight, and the member itself goes
  /// no further than f + maxInFlight: no entry is overwritten unread.
  static constexpr uint64_t ringSize = 2 * maxInFlight + 1;

  /// The place of the input in the member's arena. A small input is in the
  /// entry itself.
  struct alignas(64) Entry {
    int64_t offset;
    char small[56];
  };

  /// Collectives that the member has reached.
  alignas(64) std::atomic<uint64_t> started;
  /// Collectives whose work the member has done. A small one is done when all
  /// members have reached it.
  alignas(64) std::atomic<uint64_t> done;
  Entry entries[ringSize];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// A collective as its own rank sees it.
struct Operation : Collective {
  /// The part of this rank, in elements; in bytes of the output if elements
  /// only move.
  int64_t next = 0, end = 0;
  bool isSmall = false, isWorkDone = false;
};

class SharedGroup {
public:
  struct Member {
    char *arena;
    Mailbox *mailbox;
    Doorbell *doorbell;
  };

  /// The group as the member in `place`, whose arena has `arenaBytes` bytes,
  /// sees it.
  SharedGroup(std::vector<Member> members, int place, int64_t arenaBytes);

  /// Returns the number of the collective. At most Mailbox::maxInFlight are
  /// in flight at once. Large inputs are in the arena.
  uint64_t start(const Collective &collective);
  bool isFinished(uint64_t number) const { return finished > number; }
  bool isBusy() const { return finished < started; }

  /// Does the work that is possible now, and reads about `budget` bytes at
  /// most, which it subtracts. Returns whether it did any.
  bool advance(int64_t &budget);

private:
  /// Elements are reduced in blocks that stay in the L1 cache.
  static constexpr int64_t blockBytes = 8 << 10;

  int64_t numMembers() const { return int64_t(members.size()); }
  Mailbox &own() { return *members[size_t(place)].mailbox; }
  const Mailbox::Entry &entryOf(const Member &member) const {
    return member.mailbox->entries[finished % Mailbox::ringSize];
  }
  /// The input of the collective that is next to finish.
  const char *inputOf(const Member &member) const {
    const Mailbox::Entry &entry = entryOf(member);
    return queue[finished % Mailbox::ringSize].isSmall
               ? entry.small
               : member.arena + entry.offset;
  }
  /// The source of share `share` of the output, if elements only move.
  const char *sourceOf(const Operation &operation, int64_t share) const;

  /// Publishes a counter of this member.
  void publish(std::atomic<uint64_t> Mailbox::*counter, uint64_t value);
  int64_t offsetOf(const char *input, int64_t bytes) const;
  bool haveAll(std::atomic<uint64_t> Mailbox::*counter, uint64_t &seen) const;
  void finishSmall(const Operation &operation);
  void work(Operation &operation, int64_t &budget);
  void reduceBlock(const Operation &operation, int64_t first, int64_t count,
                   char *target) const;

  std::vector<Member> members;
  int place;
  int64_t arenaBytes;
  std::vector<Operation> queue;
  uint64_t started = 0, finished = 0;
  /// Collectives that all members had started and done when this rank last
  /// looked.
  uint64_t seenStarted = 0, seenDone = 0;
  alignas(64) char block[blockBytes];
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_SHAREDGROUP_H
