//===- SearchProgress.cpp - progress of a long search ---------------------===//

#include "SearchProgress.h"
#include "dtc/Support/EndingSignals.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <unistd.h>

using namespace dtc;

/// Escape codes that go to the start of the line and clear it.
static constexpr const char *clearLine = "\r\x1b[K";

SearchProgress::SearchProgress(size_t total, const std::string &interrupted)
    : total(total),
      isShown(llvm::sys::Process::FileDescriptorIsDisplayed(STDERR_FILENO)) {
  setLastWords((isShown ? clearLine : "") + interrupted + "\n");
}

SearchProgress::~SearchProgress() {
  setLastWords("");
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
