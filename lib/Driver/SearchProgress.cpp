//===- SearchProgress.cpp - a search that takes its time ------------------===//

#include "SearchProgress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <csignal>
#include <iterator>
#include <unistd.h>

using namespace dtc;

namespace {

constexpr int endingSignals[] = {SIGHUP, SIGINT, SIGTERM};

/// What the handler writes, and the actions of `endingSignals` before.
std::string lastWords;
struct sigaction former[std::size(endingSignals)];

/// Says what was going on, and then does what the signal did before.
void sayAndEnd(int signal) {
  (void)!write(STDERR_FILENO, lastWords.data(), lastWords.size());
  for (size_t i = 0; i < std::size(endingSignals); ++i)
    if (endingSignals[i] == signal)
      sigaction(signal, &former[i], nullptr);
  raise(signal);
}

} // namespace

/// To the start of the line, and clear it.
static constexpr const char *clearLine = "\r\x1b[K";

SearchProgress::SearchProgress(size_t total, const std::string &interrupted)
    : total(total),
      isShown(llvm::sys::Process::FileDescriptorIsDisplayed(STDERR_FILENO)) {
  lastWords = (isShown ? clearLine : "") + interrupted + "\n";
  struct sigaction action = {};
  action.sa_handler = sayAndEnd;
  for (size_t i = 0; i < std::size(endingSignals); ++i) {
    sigaction(endingSignals[i], nullptr, &former[i]);
    if (former[i].sa_handler != SIG_IGN)
      sigaction(endingSignals[i], &action, nullptr);
  }
}

SearchProgress::~SearchProgress() {
  for (size_t i = 0; i < std::size(endingSignals); ++i)
    sigaction(endingSignals[i], &former[i], nullptr);
  if (isShown)
    llvm::errs() << clearLine;
}

void SearchProgress::begin() {
  ++count;
  assert(count <= total && "countMostPlans counts what fitMemory tries");
  if (isShown)
    llvm::errs() << clearLine << "dtc: --device-memory: trying other "
                 << "options, plan " << count << " of at most " << total;
}
