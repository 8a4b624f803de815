//===- Watched.cpp - no rank waits for ever for one that is lost ----------===//

#include "Watched.h"

#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Describe.h"
#include "PeerMemory.h"
#include "Program/Context.h"
#include "System/OtherProcess.h"
#include "System/ThreadWithoutSignals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

using namespace dtc::rt;

namespace {

constexpr int64_t interval = 100; ///< milliseconds between two looks
/// Milliseconds that other ranks may take to notice that a launcher stops them
/// all.
constexpr int64_t grace = 2000;

/// Milliseconds on a clock that all ranks of the machine share.
int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1000 + time.tv_nsec / 1000000;
}

/// The state that a rank shows to the others of its machine; zeros are the
/// start.
struct Entry {
  enum Leaving { stays, ended, stopped };
  std::atomic<int64_t> beat;   ///< when its thread last looked
  std::atomic<int64_t> worked; ///< when it last was seen to compute
  std::atomic<uint32_t> isInCall;
  std::atomic<uint32_t> leaving;
  /// The rank + 1 that reports why the job ends, in the entry of the lowest
  /// rank of the machine.
  std::atomic<int32_t> reporter;
};

/// The state of this process, for signal handlers.
Entry *ownEntry = nullptr;
std::atomic<int32_t> *reporter = nullptr;
int32_t ownClaim = 1;

struct Peer {
  int rank;
  OtherProcess process;
  PeerMemory memory;
  int64_t leftAt = 0;

  Entry *entry() const { return reinterpret_cast<Entry *>(memory.data()); }
};

struct Identity {
  int machine;
  int64_t process;
  MappingHandle entry;
};

class WatchedCollectives : public Collectives {
public:
  WatchedCollectives(std::unique_ptr<Collectives> engine, Collectives &launched,
                     int timeout)
      : owned(std::move(engine)), inner(owned ? *owned : launched),
        timeout(int64_t(timeout) * 1000) {}
  ~WatchedCollectives() override;

  int rank() const override { return inner.rank(); }
  int size() const override { return inner.size(); }
  int localSize() const override { return inner.localSize(); }
  int machine() const override { return inner.machine(); }
  void createGroups(const Program &program) override;
  bool sharesArena() const override { return inner.sharesArena(); }
  std::string attach(const Arena &arena) override {
    Waiting waiting(*this, {Call::all});
    return inner.attach(arena);
  }
  void observe(const dtc_context &running) override { context = &running; }

  void run(int group, const Collective &collective) override {
    Waiting waiting(*this, Call::of(group, collective));
    inner.run(group, collective);
  }
  void start(int group, int slot, const Collective &collective) override {
    note(slot, Call::of(group, collective));
    inner.start(group, slot, collective);
  }
  int groupRank(int group) override { return inner.groupRank(group); }
  int groupSize(int group) override { return inner.groupSize(group); }
  void send(int peer, int tag, int slot, const void *buffer,
            int64_t bytes) override {
    note(slot, {Call::send, peer, bytes});
    inner.send(peer, tag, slot, buffer, bytes);
  }
  void recv(int peer, int tag, int slot, void *buffer, int64_t bytes) override {
    note(slot, {Call::recv, peer, bytes});
    inner.recv(peer, tag, slot, buffer, bytes);
  }
  void wait(int slot) override {
    Waiting waiting(*this, slot >= 0 && slot < numSlots ? slots[size_t(slot)]
                                                        : Call());
    inner.wait(slot);
  }
  bool test(int slot) override { return inner.test(slot); }
  bool poll() override { return inner.poll(); }

  void sendData(int peer, const void *buffer, int64_t bytes) override {
    Waiting waiting(*this, {Call::data, peer, bytes});
    inner.sendData(peer, buffer, bytes);
  }
  void recvData(int peer, void *buffer, int64_t bytes) override {
    Waiting waiting(*this, {Call::data, peer, bytes});
    inner.recvData(peer, buffer, bytes);
  }
  void sendNotice(int peer, const void *buffer, int64_t bytes) override {
    Waiting waiting(*this, {Call::data, peer, bytes});
    inner.sendNotice(peer, buffer, bytes);
  }
  void recvNotice(const std::vector<int> &peers, void *buffer,
                  int64_t bytes) override {
    Waiting waiting(*this, {Call::any});
    inner.recvNotice(peers, buffer, bytes);
  }
  void gatherData(const void *input, void *output, int64_t bytes) override {
    Waiting waiting(*this, {Call::all});
    inner.gatherData(input, output, bytes);
  }
  int firstFailed(bool failed) override {
    Waiting waiting(*this, {Call::all});
    return inner.firstFailed(failed);
  }
  void barrier() override {
    Waiting waiting(*this, {Call::all});
    inner.barrier();
  }
  void finish() override { inner.finish(); }
  [[noreturn]] void abort() override {
    // Launchers do not end a stopped rank, so this does.
    if (lost)
      lost->kill();
    inner.abort();
  }

private:
  /// While it lives, this rank waits.
  struct Waiting {
    WatchedCollectives &owner;
    Waiting(WatchedCollectives &owner, const Call &call) : owner(owner) {
      owner.setCurrent(call);
      owner.calls.fetch_add(1);
      if (ownEntry)
        ownEntry->isInCall = 1;
    }
    ~Waiting() {
      owner.calls.fetch_add(1);
      if (ownEntry)
        ownEntry->isInCall = 0;
    }
  };

  void note(int slot, const Call &call) {
    if (slot >= 0 && slot < numSlots)
      slots[size_t(slot)] = call;
  }
  void meet();
  void watch();
  void showSign(int64_t time);
  void checkPeers(int64_t time);
  void checkTime(int64_t time);
  void setCurrent(const Call &call) {
    std::lock_guard lock(currentMutex);
    current = call;
  }
  /// Reads all parts at once, because the rank may continue meanwhile.
  Call readCurrent() const {
    std::lock_guard lock(currentMutex);
    return current;
  }
  std::string describeCall() const {
    return describe(readCurrent(), program, context);
  }
  [[noreturn]] void endFor(const Peer &peer, const char *what);

  std::unique_ptr<Collectives> owned;
  Collectives &inner;
  int64_t timeout;
  const Program *program = nullptr;
  std::atomic<const dtc_context *> context = nullptr;
  std::array<Call, size_t(numSlots)> slots;
  mutable std::mutex currentMutex;
  Call current;                    ///< or the last, of the rank's thread
  std::atomic<uint64_t> calls = 0; ///< odd: in a call
  std::optional<Mapping> entries;
  std::vector<Peer> peers;            ///< of this machine
  const OtherProcess *lost = nullptr; ///< the one for which the job ends
  pthread_t mainThread = pthread_self();
  int64_t computed = 0; ///< nanoseconds of the main thread
  uint64_t seenCalls = 0;
  int64_t since = 0, lastLook = 0;
  int ending = -1; ///< an eventfd, readable when the thread shall end
  std::thread thread;
};

} // namespace

//===----------------------------------------------------------------------===//
// The rank that reports why the job ends
//===----------------------------------------------------------------------===//

static bool claimOfMachine() {
  if (!reporter)
    return true;
  int32_t nobody = 0;
  return reporter->compare_exchange_strong(nobody, ownClaim) ||
         nobody == ownClaim;
}

static void leaveMachine() {
  if (!ownEntry)
    return;
  ownEntry->leaving = Entry::stopped;
  timespec wait = {0, 3 * interval * 1000000};
  nanosleep(&wait, nullptr);
}

//===----------------------------------------------------------------------===//
// Before the first step
//===----------------------------------------------------------------------===//

void WatchedCollectives::createGroups(const Program &compiled) {
  program = &compiled;
  meet();
  Waiting waiting(*this, {Call::start});
  inner.createGroups(compiled);
}

/// Shares this rank's entry with the others of the machine, and starts to watch
/// theirs. Where memory cannot be shared, only the time limit applies.
void WatchedCollectives::meet() {
  entries.emplace(int64_t(sizeof(Entry)), Sharing::machine);
  ownEntry = reinterpret_cast<Entry *>(entries->data());
  ownEntry->beat = ownEntry->worked = now();
  Identity own{machine(), getpid(), handleOf(*entries)};
  std::vector<Identity> all(static_cast<size_t>(size()));
  inner.gatherData(&own, all.data(), sizeof own);
  reporter = machine() == rank() ? &ownEntry->reporter : nullptr;
  ownClaim = rank() + 1;
  for (int other = 0; other < size(); ++other) {
    const Identity &identity = all[size_t(other)];
    if (other == rank() || identity.machine != own.machine)
      continue;
    Peer peer{other, OtherProcess(pid_t(identity.process)),
              PeerMemory(identity.entry)};
    if (!peer.memory.data())
      continue;
    if (other == machine())
      reporter = &peer.entry()->reporter;
    peers.push_back(std::move(peer));
  }
  setWatchHooks({claimOfMachine, leaveMachine});
  // All have mapped what they need of the others.
  inner.barrier();
  since = lastLook = now();
  ending = eventfd(0, EFD_CLOEXEC);
  if (ending < 0)
    fatal("cannot watch other ranks: %s", strerror(errno));
  thread = startWithoutSignals([this] { watch(); });
}

WatchedCollectives::~WatchedCollectives() {
  if (!thread.joinable())
    return;
  ownEntry->leaving = Entry::ended;
  eventfd_write(ending, 1);
  thread.join();
  close(ending);
  setWatchHooks({});
  ownEntry = nullptr;
  reporter = nullptr;
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void WatchedCollectives::watch() {
  std::vector<pollfd> events;
  while (true) {
    events.assign({{ending, POLLIN, 0}});
    for (const Peer &peer : peers)
      if (peer.process.file() >= 0 && !peer.leftAt &&
          peer.entry()->leaving != Entry::ended) // its file stays readable
        events.push_back({peer.process.file(), POLLIN, 0});
    ::poll(events.data(), events.size(), int(interval));
    if (events.front().revents)
      return;
    int64_t time = now();
    if (time - lastLook > grace) // this rank was stopped itself
      since = time;
    lastLook = time;
    showSign(time);
    checkPeers(time);
    checkTime(time);
  }
}

/// Reports progress by the processor time of the main thread.
void WatchedCollectives::showSign(int64_t time) {
  ownEntry->beat = time;
  clockid_t clock;
  timespec used = {};
  if (pthread_getcpuclockid(mainThread, &clock) == 0)
    clock_gettime(clock, &used);
  int64_t total = int64_t(used.tv_sec) * 1000000000 + used.tv_nsec;
  if (total != computed)
    ownEntry->worked = time;
  computed = total;
}

void WatchedCollectives::checkPeers(int64_t time) {
  for (Peer &peer : peers) {
    bool isDead = peer.process.hasEnded();
    uint32_t leaving = peer.entry()->leaving;
    if (!isDead || leaving == Entry::ended)
      continue;
    if (!peer.leftAt)
      peer.leftAt = time;
    if (leaving == Entry::stays)
      endFor(peer, "is lost: its process ended");
    // A signal stopped the peer. This rank will get one too, unless the
    // launcher is gone.
    if (time - peer.leftAt > grace)
      endFor(peer, "is lost: a signal stopped it");
  }
}

void WatchedCollectives::checkTime(int64_t time) {
  uint64_t seen = calls;
  if (seen % 2 == 0 || seen != seenCalls) {
    seenCalls = seen;
    since = time;
    return;
  }
  Call call = readCurrent();
  int64_t limit = call.patience() * timeout;
  for (const Peer &peer : peers)
    if (time - std::max(since, peer.entry()->beat.load()) >= timeout)
      endFor(peer, "is lost: its process is stopped");
  if (time - since < limit)
    return;
  for (const Peer &peer : peers) {
    if (peer.entry()->isInCall)
      continue;
    if (time - peer.entry()->worked < timeout) { // one is only slow
      since = time;
      return;
    }
    endFor(peer, "hangs: it neither computes nor "
                 "communicates");
  }
  endForTime(limit / 1000, describe(call, program, context), timeout / 1000);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void WatchedCollectives::endFor(const Peer &peer, const char *what) {
  lost = &peer.process;
  std::string doing =
      calls % 2 == 1 ? "waits for " + describeCall() : "computes";
  fatal("%s %s, while this rank %s; %s",
        program->mesh.describeRank(peer.rank).c_str(), what, doing.c_str(),
        afterLoss);
}

std::unique_ptr<Collectives>
dtc::rt::makeWatchedCollectives(std::unique_ptr<Collectives> engine,
                                Collectives &launched, int timeout) {
  return std::make_unique<WatchedCollectives>(std::move(engine), launched,
                                              timeout);
}
