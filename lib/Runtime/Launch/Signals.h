//===- Signals.h - what a rank does when it is told to stop -----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_SIGNALS_H
#define DTC_LIB_RUNTIME_LAUNCH_SIGNALS_H

#include <string>

namespace dtc::rt {

/// A file that reaches the limit of its size (`ulimit -f`) fails as a full disk
/// does, and does not end the process.
void ignoreSizeLimit();

/// From now on. `name` is how this rank is called in messages; `bar` is whether
/// it draws a progress bar, which a message must leave. SIGINT, SIGTERM and
/// SIGUSR1, which mpirun hands on, end the process at once. With `finishesStep`
/// they ask for it, and only a second SIGINT or SIGTERM ends it at once.
void handleSignals(const std::string &name, bool bar, bool finishesStep);

/// Whether this process was started with the signal ignored, as by nohup.
bool isIgnored(int signal);

/// The signal that asked for a stop after this step; 0: none did.
int stopSignal();

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_SIGNALS_H
