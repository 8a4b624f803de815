//===- EndingSignals.h - clean-up at SIGHUP, SIGINT and SIGTERM -*- C++ -*-===//

#ifndef DTC_SUPPORT_ENDINGSIGNALS_H
#define DTC_SUPPORT_ENDINGSIGNALS_H

#include <mutex>
#include <string>
#include <sys/types.h>

namespace dtc {

/// Starts a thread that waits for SIGHUP, SIGINT and SIGTERM. At the first one
/// it kills the running tool, removes temporary files, and ends the process by
/// that signal. Signals that are ignored, as under nohup, stay ignored. Must be
/// the first call in `main`: earlier threads, and handlers that LLVM sets,
/// would receive the signals instead.
void handleEndingSignals();

/// Prevents signals from ending the process as long as the lock is held. Files
/// that are created meanwhile can be registered for removal.
[[nodiscard]] std::unique_lock<std::mutex> delayEndingSignals();

/// Sets the process group that a signal kills first; 0 for none. The caller
/// must hold the lock.
void setToolGroup(pid_t group);

/// Sets the text that a signal writes to standard error before it ends the
/// process. The caller must not hold the lock.
void setLastWords(std::string words);

} // namespace dtc

#endif // DTC_SUPPORT_ENDINGSIGNALS_H
