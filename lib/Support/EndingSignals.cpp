//===- EndingSignals.cpp - clean-up at SIGHUP, SIGINT, SIGTERM ------------===//
//
// See EndingSignals.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/EndingSignals.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <iterator>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dtc;

static constexpr int endingSignals[] = {SIGHUP, SIGINT, SIGTERM};
static std::mutex mutex;
static pid_t toolGroup = 0;
static std::string lastWords;

static void endTool() {
  if (toolGroup == 0)
    return;
  kill(-toolGroup, SIGTERM);
  // Gives a compiler driver two seconds to remove its own temporary files.
  for (int i = 0; i < 200; ++i) {
    waitpid(toolGroup, nullptr, WNOHANG);
    if (kill(-toolGroup, 0) != 0)
      return;
    usleep(10000);
  }
  kill(-toolGroup, SIGKILL);
  waitpid(toolGroup, nullptr, 0);
}

/// Waits for a signal. Keeps the lock until the process ends.
static void waitAndEnd(sigset_t set) {
  int signal = 0;
  while (sigwait(&set, &signal) != 0)
    ;
  mutex.lock();
  (void)!write(STDERR_FILENO, lastWords.data(), lastWords.size());
  endTool();
  llvm::sys::RunInterruptHandlers();
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void dtc::handleEndingSignals() {
  struct sigaction former[std::size(endingSignals)];
  for (size_t i = 0; i < std::size(endingSignals); ++i)
    sigaction(endingSignals[i], nullptr, &former[i]);
  // LLVM installs its handlers once, at the first function that needs them.
  // Triggers that here. Its handlers of crashes and broken pipes stay.
  llvm::sys::SetOneShotPipeSignalFunction(
      llvm::sys::DefaultOneShotPipeSignalHandler);
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < std::size(endingSignals); ++i) {
    sigaction(endingSignals[i], &former[i], nullptr);
    if (former[i].sa_handler != SIG_IGN)
      sigaddset(&set, endingSignals[i]);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread(waitAndEnd, set).detach();
}

std::unique_lock<std::mutex> dtc::delayEndingSignals() {
  return std::unique_lock<std::mutex>(mutex);
}

void dtc::setToolGroup(pid_t group) { toolGroup = group; }

void dtc::setLastWords(std::string words) {
  auto lock = delayEndingSignals();
  lastWords = std::move(words);
}
