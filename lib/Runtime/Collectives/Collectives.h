//===- Collectives.h - communication between the ranks ----------*- C++ -*-===//
//
// One interface, five engines: MPI, under launchers that serve it; Gloo, under
// others; shared memory, over either, for groups of ranks of one machine; NCCL
// between GPUs; and Self for a program of one rank.
// The calls of a step do not throw; a failure ends the whole job.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_COLLECTIVES_H
#define DTC_LIB_RUNTIME_COLLECTIVES_COLLECTIVES_H

#include "Core/Fatal.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Support/Collective.h"
#include "dtc/Support/ElementType.h"

#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

class Arena;
struct Environment;
struct Program;

/// Slots of operations in flight: messages, collectives, and one more for a
/// blocking call that has to progress the others meanwhile.
constexpr int firstCollectiveSlot = DTC_MAX_MESSAGE_SLOTS;
constexpr int blockingSlot = DTC_MAX_MESSAGE_SLOTS + DTC_MAX_COLLECTIVE_SLOTS;
constexpr int numSlots = blockingSlot + 1;

/// A collective as a member calls it; dtc/Support/Collective.h says how many
/// shares of `count` elements its buffers have.
struct Collective {
  CollectiveKind kind;
  const void *input;
  void *output;  ///< of an all-reduce the input
  int64_t count; ///< in bytes if elements only move
  dtc_dtype dtype = DTC_BOOL;
  dtc_reduction reduction = DTC_MAX;
  /// In a permutation: for each member, the member whose input it gets. Lives
  /// as long as the engine.
  const std::vector<int> *sources = nullptr;

  const CollectiveTraits &traits() const { return getTraits(kind); }
  /// Size of a share.
  int64_t bytes() const { return count * sizeOf(dtype); }

  static Collective allReduce(dtc_dtype dtype, dtc_reduction reduction,
                              void *buffer, int64_t count) {
    return {CollectiveKind::AllReduce, buffer, buffer, count, dtype, reduction};
  }
  static Collective reduceScatter(dtc_dtype dtype, dtc_reduction reduction,
                                  const void *input, void *output,
                                  int64_t count) {
    return {
        CollectiveKind::ReduceScatter, input, output, count, dtype, reduction};
  }
  static Collective allGather(const void *input, void *output, int64_t bytes) {
    return {CollectiveKind::AllGather, input, output, bytes};
  }
  static Collective allToAll(const void *input, void *output, int64_t bytes) {
    return {CollectiveKind::AllToAll, input, output, bytes};
  }
  static Collective permute(const std::vector<int> &sources, const void *input,
                            void *output, int64_t bytes) {
    return {CollectiveKind::CollectivePermute,
            input,
            output,
            bytes,
            DTC_BOOL,
            DTC_MAX,
            &sources};
  }
};

/// The ranks of a job, by one engine.
class Collectives : public Abortable {
public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Ranks on this machine.
  virtual int localSize() const = 0;
  /// The lowest rank on this machine.
  virtual int machine() const = 0;

  //===--- Before the first step, in this order ---------------------------===//

  /// Creates the groups of the program, which must outlive this.
  virtual void createGroups(const Program &program) = 0;
  /// Whether other ranks should be able to map the rank's arena.
  virtual bool sharesArena() const { return false; }
  /// Sets the memory that contains the buffers of all collectives. Returns a
  /// note for the user, or nothing. All ranks call this.
  virtual std::string attach(const Arena &) { return {}; }

  /// The engine may read the state of this rank for messages.
  virtual void observe(const dtc_context &) {}

  //===--- The step -------------------------------------------------------===//
  // An operation of `start`, `send` or `recv` ends at the wait of its slot. All
  // members of a group call its collectives in the same order.

  /// Does a collective. All members of an all-reduce get the same bits, in
  /// every run.
  virtual void run(int group, const Collective &collective) = 0;
  virtual void start(int group, int slot, const Collective &collective) = 0;
  /// This rank's place in a group, and how many members it has.
  virtual int groupRank(int group) = 0;
  virtual int groupSize(int group) = 0;
  virtual void send(int peer, int tag, int slot, const void *buffer,
                    int64_t bytes) = 0;
  virtual void recv(int peer, int tag, int slot, void *buffer,
                    int64_t bytes) = 0;
  /// Waits for the operation of a slot, which is free then. Does nothing for a
  /// free slot.
  virtual void wait(int slot) = 0;
  /// Whether a wait would return at once.
  virtual bool test(int slot) = 0;
  /// Progresses operations in flight for a short time. Returns whether there
  /// are any.
  virtual bool poll() = 0;

  //===--- Around the step ------------------------------------------------===//

  /// Blocking transfers outside the steps: weights, gradients.
  virtual void sendData(int peer, const void *buffer, int64_t bytes) = 0;
  virtual void recvData(int peer, void *buffer, int64_t bytes) = 0;
  /// Notices: messages of one size, apart from the data. A rank waits for that
  /// of any peer. GPUs' engines cannot.
  virtual void sendNotice(int /*peer*/, const void * /*buffer*/,
                          int64_t /*bytes*/) {
    fatal("this engine cannot send notices");
  }
  virtual void recvNotice(const std::vector<int> & /*peers*/, void * /*buffer*/,
                          int64_t /*bytes*/) {
    fatal("this engine cannot wait for any of several ranks");
  }
  /// Gathers the input of every rank, ordered by rank.
  virtual void gatherData(const void *input, void *output, int64_t bytes) = 0;
  /// The lowest rank that passes true, or -1; all ranks call this.
  virtual int firstFailed(bool failed) = 0;
  virtual void barrier() = 0;
  /// Ends the communication in good order. All ranks call this.
  virtual void finish() = 0;
};

std::unique_ptr<Collectives> makeSelfCollectives();
/// Starts MPI. Ends the process if that takes more than `timeout` seconds.
std::unique_ptr<Collectives> makeMpiCollectives(int timeout);
/// Connects all ranks, which find each other as Rendezvous.h says. Throws an
/// Error if they do not within `timeout` seconds.
std::unique_ptr<Collectives> makeGlooCollectives(const Environment &environment,
                                                 const std::string &rendezvous,
                                                 int timeout);
/// Uses `network` where shared memory does not work.
std::unique_ptr<Collectives> makeSharedMemoryCollectives(Collectives &network);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_COLLECTIVES_H
