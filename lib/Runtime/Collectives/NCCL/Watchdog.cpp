//===- Watchdog.cpp - no rank waits for ever ------------------------------===//

#include "Watchdog.h"

#include "Core/Fatal.h"

using namespace dtc::rt;

namespace {
constexpr std::chrono::milliseconds interval(100);
constexpr std::chrono::seconds longestAbort(5);
} // namespace

Watchdog::Watchdog(const Nccl &nccl, const Progress &progress, int seconds)
    : nccl(nccl), progress(progress), seconds(seconds), since(Clock::now()),
      thread([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  ended.notify_all();
  thread.join();
}

void Watchdog::observe(const Program &compiled) {
  std::lock_guard<std::mutex> lock(mutex);
  program = &compiled;
}

void Watchdog::watch(ncclComm_t communicator) {
  std::lock_guard<std::mutex> lock(mutex);
  communicators.push_back(communicator);
}

void Watchdog::forgetCommunicators() {
  std::lock_guard<std::mutex> lock(mutex);
  communicators.clear();
}

void Watchdog::abortCommunicators() {
  // Does not take the lock, because the thread that holds it may call this.
  // Each abort has its own thread: an abort ends the communicator at once, but
  // returns only when no graph contains its operations.
  static std::atomic<size_t> left = communicators.size();
  for (ncclComm_t communicator : communicators)
    std::thread([this, communicator] {
      nccl.ncclCommAbort(communicator);
      --left;
    }).detach();
  Clock::time_point end = Clock::now() + longestAbort;
  while (left > 0 && Clock::now() < end)
    std::this_thread::sleep_for(interval / 10);
}

Watchdog::Waiting::Waiting(Watchdog *watchdog, const Call &call)
    : watchdog(watchdog) {
  if (!watchdog)
    return;
  std::lock_guard<std::mutex> lock(watchdog->mutex);
  watchdog->waitsFor = call;
  ++watchdog->waits;
}

Watchdog::Waiting::~Waiting() {
  if (!watchdog)
    return;
  std::lock_guard<std::mutex> lock(watchdog->mutex);
  watchdog->waitsFor.reset();
}

void Watchdog::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!ended.wait_for(lock, interval, [this] { return ends; })) {
    checkErrors();
    checkTime();
  }
}

std::string Watchdog::describeCall(const Progress::State &state) const {
  if (waitsFor)
    return describe(*waitsFor, program, nullptr);
  return state.isInCall() ? progress.describe(state) : "no other rank";
}

void Watchdog::checkErrors() const {
  for (ncclComm_t communicator : communicators) {
    ncclResult_t error = ncclSuccess;
    ncclResult_t result = nccl.ncclCommGetAsyncError(communicator, &error);
    if (result == ncclSuccess)
      result = error;
    if (result != ncclSuccess && result != ncclInProgress)
      fatal("NCCL reports %s (%s) while this rank waits for %s; %s",
            nccl.ncclGetErrorString(result), nccl.ncclGetLastError(nullptr),
            describeCall(progress.get()).c_str(), afterLoss);
  }
}

void Watchdog::checkTime() {
  Progress::State state = progress.get();
  Clock::time_point now = Clock::now();
  bool isWaiting = waitsFor || state.isInCall();
  if (!isWaiting || state != seen || waits != seenWaits) {
    seen = state;
    seenWaits = waits;
    since = now;
    return;
  }
  int limit = seconds * (waitsFor ? waitsFor->patience() : 1);
  if (now - since < std::chrono::seconds(limit))
    return;
  endForTime(limit, describeCall(state), seconds);
}
