//===- Gloo.cpp - collectives through Gloo --------------------------------===//
//
// The engine under launchers that MPI does not know, such as torchrun. Gloo
// carries messages. This file decides the members that exchange messages and
// the order of reductions: one member reduces each element once, in the order
// of the members, as in shared memory. So all members get the same bits in
// every run.
//
// Gloo moves data in a thread of its own, and can be waited for but not tested.
// So each group has a thread for started collectives, and each tested message
// gets a thread.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"
#include "Core/Fatal.h"

#include "Core/Elements.h"
#include "Core/Error.h"
#include "GlooMesh.h"
#include "Program/Program.h"
#include "Reduce.h"
#include "Slots.h"
#include "Worker.h"

#include <algorithm>
#include <cstring>

using namespace dtc::rt;
using dtc::CollectiveKind;

namespace {

/// Bytes of an all-reduce or reduce-scatter that are reduced at once. Bounds
/// the memory beside the arena, and is large compared to the cost of a message.
constexpr int64_t pieceBytes = 4 << 20;
/// Up to this size, every member gets all inputs and reduces them itself, which
/// saves a message.
constexpr int64_t smallBytes = 4 << 10;

/// Numbers of messages between two ranks. Messages of one number arrive in
/// order.
uint64_t numberOfGroup(size_t group) { return (uint64_t(1) << 32) + group; }
uint64_t numberOfTag(int tag) { return (uint64_t(2) << 32) + uint64_t(tag); }
constexpr uint64_t controlNumber = 0;
constexpr uint64_t noticeNumber = 1;

struct Group {
  std::vector<int> ranks;
  int place = 0;
  uint64_t number = 0;
  std::vector<char> staging;
  Worker worker;

  int size() const { return int(ranks.size()); }
};

/// The operation of a slot.
struct Use {
  GlooMesh::Message message;        ///< unless it is a collective
  std::atomic<bool> isDone = false; ///< by a worker
  bool isWorkers = false;           ///< a worker does it or waits for it

  void finish() {
    isDone = true;
    isDone.notify_all();
  }
};

class GlooCollectives : public Collectives {
public:
  GlooCollectives(const Environment &environment, const std::string &rendezvous,
                  int timeout)
      : mesh(environment, rendezvous, timeout) {
    for (int rank = 0; rank < size(); ++rank)
      world.ranks.push_back(rank);
    world.place = rank();
    world.number = controlNumber;
    std::vector<uint64_t> machines(static_cast<size_t>(size()));
    uint64_t own = GlooMesh::thisMachine();
    gatherData(&own, machines.data(), sizeof own);
    localRanks = int(std::count(machines.begin(), machines.end(), own));
    lowestLocal = int(std::find(machines.begin(), machines.end(), own) -
                      machines.begin());
  }

  int rank() const override { return mesh.rank(); }
  int size() const override { return mesh.size(); }
  int localSize() const override { return localRanks; }
  int machine() const override { return lowestLocal; }

  void createGroups(const Program &program) override {
    for (const std::vector<int> &axes : program.groups) {
      auto group = std::make_unique<Group>();
      group->ranks = program.mesh.members(axes, rank());
      group->place = program.mesh.place(axes, rank());
      group->number = numberOfGroup(groups.size());
      // The size of a piece, or of a rest with less than one element for each
      // member.
      size_t members = group->ranks.size();
      group->staging.resize(
          std::max(size_t(pieceBytes), 8 * members * members) + 64 * members);
      groups.push_back(std::move(group));
    }
  }

  void run(int group, const Collective &collective) override {
    Group &members = groupOf(group);
    members.worker.finish(); // collectives that were started before
    perform(members, collective);
  }
  void start(int group, int slot, const Collective &collective) override {
    Group &members = groupOf(group);
    Use &use = take(slot);
    use.isWorkers = true;
    members.worker.add([this, &members, &use, collective] {
      perform(members, collective);
      use.finish();
    });
  }

  int groupRank(int group) override { return groupOf(group).place; }
  int groupSize(int group) override { return groupOf(group).size(); }

  void send(int peer, int tag, int slot, const void *buffer,
            int64_t bytes) override {
    take(slot).message = mesh.send(peer, numberOfTag(tag), buffer, bytes);
  }
  void recv(int peer, int tag, int slot, void *buffer, int64_t bytes) override {
    take(slot).message = mesh.receive(peer, numberOfTag(tag), buffer, bytes);
  }

  void wait(int slot) override {
    if (!uses.isTaken(slot))
      return;
    Use &use = uses[slot];
    if (use.isWorkers)
      use.isDone.wait(false);
    else
      use.message.wait();
    release(slot);
  }

  bool test(int slot) override {
    if (!uses.isTaken(slot))
      return true;
    Use &use = uses[slot];
    if (!use.isWorkers) {
      use.isWorkers = true;
      waiters.add([&use] {
        use.message.wait();
        use.finish();
      });
    }
    if (!use.isDone)
      return false;
    release(slot);
    return true;
  }

  /// Gloo and the workers progress by themselves.
  bool poll() override { return uses.isAnyTaken(); }

  void sendData(int peer, const void *buffer, int64_t bytes) override {
    mesh.send(peer, controlNumber, buffer, bytes).wait();
  }
  void recvData(int peer, void *buffer, int64_t bytes) override {
    mesh.receive(peer, controlNumber, buffer, bytes).wait();
  }
  void sendNotice(int peer, const void *buffer, int64_t bytes) override {
    mesh.send(peer, noticeNumber, buffer, bytes).wait();
  }
  void recvNotice(const std::vector<int> &peers, void *buffer,
                  int64_t bytes) override {
    mesh.receiveAny(peers, noticeNumber, buffer, bytes);
  }
  void gatherData(const void *input, void *output, int64_t bytes) override {
    perform(world, Collective::allGather(input, output, bytes));
  }
  int firstFailed(bool failed) override {
    char own = failed ? 1 : 0;
    std::vector<char> all(static_cast<size_t>(size()));
    gatherData(&own, all.data(), 1);
    auto first = std::find(all.begin(), all.end(), 1);
    return first == all.end() ? -1 : int(first - all.begin());
  }
  void barrier() override { firstFailed(false); }
  void finish() override { barrier(); }
  void abort() override { _Exit(1); }

private:
  Use &take(int slot) {
    Use &use = uses.take(slot);
    use.isWorkers = false;
    use.isDone = false;
    return use;
  }
  void release(int slot) {
    uses[slot].message = {};
    uses.free(slot);
  }
  Group &groupOf(int group) {
    if (size_t(group) >= groups.size())
      fatal("collective over group %d of %zu", group, groups.size());
    return *groups[size_t(group)];
  }

  /// Sends `bytes` bytes from `from(member)` to each other member, and gets as
  /// many at `to(member)` from it.
  template <typename From, typename To>
  void exchange(const Group &group, int64_t bytes, From from, To to) {
    if (bytes == 0)
      return;
    std::vector<GlooMesh::Message> messages;
    // Not all begin with the same member.
    for (int i = 1; i < group.size(); ++i) {
      int source = (group.place + group.size() - i) % group.size();
      messages.push_back(mesh.receive(group.ranks[size_t(source)], group.number,
                                      to(source), bytes));
    }
    for (int i = 1; i < group.size(); ++i) {
      int target = (group.place + i) % group.size();
      messages.push_back(mesh.send(group.ranks[size_t(target)], group.number,
                                   from(target), bytes));
    }
    for (GlooMesh::Message &message : messages)
      message.wait();
  }

  /// Reduces what all members have at `from(member)`, in their order.
  template <typename From>
  static void reduce(const Group &group, const Collective &own, int64_t count,
                     char *target, From from) {
    for (int member = 0; member < group.size(); ++member)
      if (member == 0)
        memmove(target, from(member), size_t(count * sizeOf(own.dtype)));
      else
        reduceInto(own.dtype, own.reduction, target, from(member), count);
  }

  void perform(Group &group, const Collective &own) {
    auto *input = static_cast<const char *>(own.input);
    auto *output = static_cast<char *>(own.output);
    int64_t share = own.bytes();
    switch (own.kind) {
    case CollectiveKind::AllReduce:
      return allReduce(group, own, output);
    case CollectiveKind::ReduceScatter:
      return reduceScatter(group, own, input, output);
    case CollectiveKind::AllGather:
      memmove(output + group.place * share, input, size_t(share));
      return exchange(
          group, share, [&](int) { return input; },
          [&](int member) { return output + member * share; });
    case CollectiveKind::AllToAll:
      memcpy(output + group.place * share, input + group.place * share,
             size_t(share));
      return exchange(
          group, share, [&](int member) { return input + member * share; },
          [&](int member) { return output + member * share; });
    case CollectiveKind::CollectivePermute:
      return permute(group, own);
    }
  }

  void permute(const Group &group, const Collective &own) {
    const std::vector<int> &sources = *own.sources;
    int from = sources[size_t(group.place)];
    if (from == group.place) {
      memcpy(own.output, own.input, size_t(own.bytes()));
      return;
    }
    auto to = std::find(sources.begin(), sources.end(), group.place);
    GlooMesh::Message in = mesh.receive(group.ranks[size_t(from)], group.number,
                                        own.output, own.bytes());
    mesh.send(group.ranks[size_t(to - sources.begin())], group.number,
              own.input, own.bytes())
        .wait();
    in.wait();
  }

  /// Each member's share of a piece is reduced by it, and sent to all.
  void allReduce(Group &group, const Collective &own, char *buffer) {
    int64_t element = sizeOf(own.dtype), members = group.size();
    char *staging = group.staging.data();
    if (own.count < members || own.bytes() * members <= smallBytes) {
      memcpy(staging + group.place * own.bytes(), buffer, size_t(own.bytes()));
      exchange(
          group, own.bytes(), [&](int) { return buffer; },
          [&](int member) { return staging + member * own.bytes(); });
      return reduce(group, own, own.count, buffer,
                    [&](int member) { return staging + member * own.bytes(); });
    }
    int64_t most = std::max<int64_t>(1, pieceBytes / element / members);
    for (int64_t done = 0; done < own.count;) {
      // Shares of one size, but for a rest that all members reduce alone.
      int64_t share = std::min(most, (own.count - done) / members);
      if (share == 0) {
        Collective rest =
            Collective::allReduce(own.dtype, own.reduction,
                                  buffer + done * element, own.count - done);
        return allReduce(group, rest, buffer + done * element);
      }
      char *piece = buffer + done * element;
      int64_t bytes = share * element;
      auto partOf = [&](int member) { return piece + member * bytes; };
      auto stagedOf = [&](int member) {
        return member == group.place ? partOf(member)
                                     : staging + member * bytes;
      };
      exchange(group, bytes, partOf, stagedOf);
      // The own part is not the first: what is first is where the sum grows.
      char *sum = staging + group.place * bytes;
      reduce(group, own, share, sum, stagedOf);
      memcpy(partOf(group.place), sum, size_t(bytes));
      exchange(group, bytes, [&](int) { return partOf(group.place); }, partOf);
      done += share * members;
    }
  }

  void reduceScatter(Group &group, const Collective &own, const char *input,
                     char *output) {
    int64_t element = sizeOf(own.dtype), members = group.size();
    char *staging = group.staging.data();
    int64_t most = std::max<int64_t>(1, pieceBytes / element / members);
    for (int64_t done = 0; done < own.count; done += most) {
      int64_t count = std::min(most, own.count - done), bytes = count * element;
      auto partOf = [&](int member) {
        return input + member * own.bytes() + done * element;
      };
      exchange(group, bytes, partOf,
               [&](int member) { return staging + member * bytes; });
      reduce(group, own, count, output + done * element,
             [&](int member) -> const char * {
               return member == group.place ? partOf(member)
                                            : staging + member * bytes;
             });
    }
  }

  GlooMesh mesh;
  Group world;
  int localRanks = 1, lowestLocal = 0;
  std::vector<std::unique_ptr<Group>> groups;
  Slots<Use> uses;
  WorkerPool waiters;
};

} // namespace

std::unique_ptr<Collectives>
dtc::rt::makeGlooCollectives(const Environment &environment,
                             const std::string &rendezvous, int timeout) {
  return std::make_unique<GlooCollectives>(environment, rendezvous, timeout);
}
