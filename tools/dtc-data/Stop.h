//===- Stop.h - how signals end dtc-data ------------------------*- C++ -*-===//

#ifndef DTC_TOOLS_DTC_DATA_STOP_H
#define DTC_TOOLS_DTC_DATA_STOP_H

namespace dtc::data {

/// From now on SIGINT, SIGTERM and SIGHUP ask for a stop, except those that are
/// ignored, as by nohup. A file that reaches the limit of its size
/// (`ulimit -f`) fails as a full disk does.
void stopOnSignals();

/// Throws if a signal asked for a stop: no Error, since the input is not to
/// blame. Loops over whatever may be large (samples, rows, words) call it.
void throwIfStopped();

/// Ends the process by the signal that asked for a stop, so that a shell sees
/// what happened. Returns if none did.
void endBySignal();

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_STOP_H
