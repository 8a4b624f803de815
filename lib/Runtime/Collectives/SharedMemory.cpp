//===- SharedMemory.cpp - collectives of ranks of one machine -------------===//
//
// Each rank maps the arenas of the other ranks of its machine. SharedGroup has
// the collectives of such ranks. Messages, and groups over several machines,
// use the network: MPI or Gloo. Only a wait blocks, and all operations progress
// meanwhile.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"
#include "Core/Fatal.h"
#include "Device/Arena.h"

#include "Core/Error.h"
#include "PeerMemory.h"
#include "Program/Program.h"
#include "SharedGroup.h"
#include "Slots.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sched.h>
#include <thread>

using namespace dtc::rt;

namespace {

/// Bytes that a poll reads at most: about 50 microseconds.
constexpr int64_t pollBytes = 256 << 10;
/// The number of times that a rank looks at memory before it sleeps, if each
/// rank has a core. That takes about 50 microseconds.
constexpr int maxSpins = 1000;
/// The time that a rank sleeps: with messages in flight, and without, when only
/// a doorbell can wake it.
constexpr int64_t napMicroseconds = 100, sleepMicroseconds = 100000;

struct Group {
  std::vector<int> ranks;
  int place = 0;                       ///< of this rank
  std::unique_ptr<SharedGroup> shared; ///< null: over the network
};

class SharedMemoryCollectives : public Collectives {
public:
  explicit SharedMemoryCollectives(Collectives &network) : network(network) {}

  int rank() const override { return network.rank(); }
  int size() const override { return network.size(); }
  int localSize() const override { return network.localSize(); }
  int machine() const override { return network.machine(); }
  void createGroups(const Program &program) override;
  bool sharesArena() const override { return network.localSize() > 1; }
  std::string attach(const Arena &arena) override;

  int groupRank(int group) override { return groupOf(group).place; }
  int groupSize(int group) override { return int(groupOf(group).ranks.size()); }

  void run(int group, const Collective &collective) override {
    if (!isAnyShared)
      return network.run(group, collective);
    start(group, blockingSlot, collective);
    wait(blockingSlot);
  }
  void start(int group, int slot, const Collective &collective) override;

  void send(int peer, int tag, int slot, const void *buffer,
            int64_t bytes) override {
    network.send(peer, tag, slot, buffer, bytes);
  }
  void recv(int peer, int tag, int slot, void *buffer, int64_t bytes) override {
    network.recv(peer, tag, slot, buffer, bytes);
  }
  void wait(int slot) override;
  bool test(int slot) override;
  bool poll() override;

  void sendData(int peer, const void *buffer, int64_t bytes) override {
    network.sendData(peer, buffer, bytes);
  }
  void recvData(int peer, void *buffer, int64_t bytes) override {
    network.recvData(peer, buffer, bytes);
  }
  void sendNotice(int peer, const void *buffer, int64_t bytes) override {
    network.sendNotice(peer, buffer, bytes);
  }
  void recvNotice(const std::vector<int> &peers, void *buffer,
                  int64_t bytes) override {
    network.recvNotice(peers, buffer, bytes);
  }
  void gatherData(const void *input, void *output, int64_t bytes) override {
    network.gatherData(input, output, bytes);
  }
  int firstFailed(bool failed) override { return network.firstFailed(failed); }
  void barrier() override { network.barrier(); }
  void finish() override { network.finish(); }
  void abort() override { network.abort(); }

private:
  /// The collective that a slot names, unless it is the network's.
  struct Use {
    SharedGroup *group;
    uint64_t number;
  };

  Group &groupOf(int group) {
    if (size_t(group) >= groups.size())
      fatal("collective over group %d of %zu", group, groups.size());
    return groups[size_t(group)];
  }
  bool isBusy() const;
  Doorbell &doorbell() {
    return *reinterpret_cast<Doorbell *>(mailboxes->data());
  }
  bool advance(int64_t budget);

  Collectives &network;
  const Mesh *mesh = nullptr;
  std::vector<std::vector<int>> groupAxes;
  std::vector<Group> groups;
  bool isAnyShared = false; ///< on any rank: all do the same for other groups
  /// This rank's doorbell, and a mailbox for each group.
  std::optional<Mapping> mailboxes;
  /// Arenas and mailboxes of other ranks.
  std::map<int, std::pair<PeerMemory, PeerMemory>> peers;
  Slots<Use> uses;
  int spins = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before the first step
//===----------------------------------------------------------------------===//

void SharedMemoryCollectives::createGroups(const Program &program) {
  network.createGroups(program);
  mesh = &program.mesh;
  groupAxes = program.groups;
  for (const std::vector<int> &axes : groupAxes) {
    Group &group = groups.emplace_back();
    group.ranks = mesh->members(axes, rank());
    group.place = mesh->place(axes, rank());
  }
}

namespace {
/// The properties of a rank that all ranks know.
struct Identity {
  int machine;
  MappingHandle arena, mailboxes;
};
} // namespace

std::string SharedMemoryCollectives::attach(const Arena &memory) {
  const Mapping *mapping = memory.mapping();
  if (sharesArena()) {
    mailboxes.emplace(
        int64_t(sizeof(Doorbell) + sizeof(Mailbox) * groups.size()),
        Sharing::machine);
    if (network.localSize() <= int(std::thread::hardware_concurrency()))
      spins = maxSpins;
  }
  Identity own{network.machine(),
               mapping ? handleOf(*mapping) : MappingHandle(),
               mailboxes ? handleOf(*mailboxes) : MappingHandle()};
  std::vector<Identity> all(static_cast<size_t>(size()));
  network.gatherData(&own, all.data(), sizeof own);

  int error = 0;
  for (const Group &group : groups)
    for (int peer : group.ranks) {
      const Identity &other = all[size_t(peer)];
      if (peer == rank() || other.machine != own.machine || peers.count(peer))
        continue;
      auto &[data, mail] = peers
                               .try_emplace(peer, PeerMemory(other.arena),
                                            PeerMemory(other.mailboxes))
                               .first->second;
      for (const PeerMemory *mapped : {&data, &mail})
        if (!mapped->data())
          error = mapped->error();
    }
  std::vector<int> errors(static_cast<size_t>(size()));
  network.gatherData(&error, errors.data(), sizeof error);

  // Machines on which a rank cannot map another use the network for all groups.
  std::map<int, int> failed;
  for (int other = 0; other < size(); ++other)
    if (errors[size_t(other)])
      failed.try_emplace(all[size_t(other)].machine, errors[size_t(other)]);
  auto isShared = [&](const std::vector<int> &ranks) {
    int machine = all[size_t(ranks.front())].machine;
    return !failed.count(machine) &&
           std::all_of(ranks.begin(), ranks.end(), [&](int member) {
             return all[size_t(member)].machine == machine;
           });
  };
  for (Group &group : groups) {
    if (!mapping || !sharesArena() || !isShared(group.ranks))
      continue;
    std::vector<SharedGroup::Member> members;
    for (int member : group.ranks) {
      bool isOwn = member == rank();
      char *mail = isOwn ? mailboxes->data() : peers.at(member).second.data();
      members.push_back(
          {isOwn ? mapping->data() : peers.at(member).first.data(),
           reinterpret_cast<Mailbox *>(mail + sizeof(Doorbell)) +
               (&group - groups.data()),
           reinterpret_cast<Doorbell *>(mail)});
    }
    group.shared = std::make_unique<SharedGroup>(std::move(members),
                                                 group.place, mapping->size());
  }
  for (int other = 0; other < size(); ++other)
    for (const std::vector<int> &axes : groupAxes) {
      std::vector<int> ranks = mesh->members(axes, other);
      isAnyShared |= ranks.size() > 1 && isShared(ranks);
    }
  if (!failed.empty())
    return format("ranks cannot map each other's memory (%s) and communicate "
                  "by messages, which is slower",
                  strerror(failed.begin()->second));
  return {};
}

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

void SharedMemoryCollectives::start(int group, int slot,
                                    const Collective &collective) {
  if (!groupOf(group).shared)
    return network.start(group, slot, collective);
  SharedGroup &shared = *groupOf(group).shared;
  uses.take(slot) = {&shared, shared.start(collective)};
}

bool SharedMemoryCollectives::isBusy() const {
  return std::any_of(groups.begin(), groups.end(), [](const Group &group) {
    return group.shared && group.shared->isBusy();
  });
}

bool SharedMemoryCollectives::advance(int64_t budget) {
  bool moved = false;
  for (Group &group : groups)
    if (group.shared)
      moved |= group.shared->advance(budget);
  return moved;
}

bool SharedMemoryCollectives::poll() {
  advance(pollBytes);
  return network.poll() || isBusy();
}

bool SharedMemoryCollectives::test(int slot) {
  if (!uses.isTaken(slot))
    return network.test(slot);
  const Use &use = uses[slot];
  if (!use.group->isFinished(use.number))
    return false;
  uses.free(slot);
  return true;
}

static void relax() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

void SharedMemoryCollectives::wait(int slot) {
  bool isShared = uses.isTaken(slot);
  if (!isBusy() && !isShared)
    return network.wait(slot);
  int idle = 0;
  while (!test(slot)) {
    if (advance(INT64_MAX)) {
      idle = 0;
      continue;
    }
    bool isNetworkBusy = network.poll();
    if (idle < spins) {
      ++idle;
      relax();
    } else if (!isShared) {
      sched_yield(); // as MPI does
    } else {
      doorbell().sleepUnless([&] { return advance(INT64_MAX); },
                             isNetworkBusy ? napMicroseconds
                                           : sleepMicroseconds);
    }
  }
}

std::unique_ptr<Collectives>
dtc::rt::makeSharedMemoryCollectives(Collectives &network) {
  return std::make_unique<SharedMemoryCollectives>(network);
}
