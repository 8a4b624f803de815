//===- Signals.h - signals that stop a rank ---------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_SIGNALS_H
#define DTC_LIB_RUNTIME_LAUNCH_SIGNALS_H

#include <string>

namespace dtc::rt {

/// A write beyond the file size limit (`ulimit -f`) becomes an error, as on a
/// full disk, and does not end the process.
void ignoreSizeLimit();

/// Sets the handlers of signals that stop this rank. `name` is the rank's name
/// in messages; with `bar` a message must leave the progress bar's line.
/// SIGINT, SIGTERM and SIGUSR1, which mpirun forwards, end the process at once.
/// With `finishesStep` they ask for a stop after the step, and only a second
/// SIGINT or SIGTERM ends the process at once.
void handleSignals(const std::string &name, bool bar, bool finishesStep);

/// Whether this process was started with the signal ignored, as by nohup.
bool isIgnored(int signal);

/// The signal that asked for a stop after this step; 0: none did.
int stopSignal();

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_SIGNALS_H
