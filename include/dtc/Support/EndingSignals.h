//===- EndingSignals.h - what SIGHUP, SIGINT and SIGTERM do -----*- C++ -*-===//

#ifndef DTC_SUPPORT_ENDINGSIGNALS_H
#define DTC_SUPPORT_ENDINGSIGNALS_H

#include <mutex>
#include <string>
#include <sys/types.h>

namespace dtc {

/// From now on a thread of its own waits for SIGHUP, SIGINT and SIGTERM. At the
/// first one it ends the tool that runs, removes temporary files, and ends the
/// process by that signal. What is ignored stays so, as by nohup. The first
/// thing that `main` does: threads that are there already, and handlers that
/// LLVM sets, would take signals for themselves.
void handleEndingSignals();

/// No signal ends the process as long as the lock is held: what is made
/// meanwhile is known to the thread that removes it.
[[nodiscard]] std::unique_lock<std::mutex> delayEndingSignals();

/// Which group of processes a signal ends first, or 0. The caller holds the
/// lock.
void setToolGroup(pid_t group);

/// What a signal writes to standard error before it ends the process. The
/// caller does not hold the lock.
void setLastWords(std::string words);

} // namespace dtc

#endif // DTC_SUPPORT_ENDINGSIGNALS_H
