//===- Stop.h - a stop of dtc-data by signals -------------------*- C++ -*-===//

#ifndef DTC_TOOLS_DTC_DATA_STOP_H
#define DTC_TOOLS_DTC_DATA_STOP_H

namespace dtc::data {

/// From now on SIGINT, SIGTERM and SIGHUP request a stop, except those that are
/// ignored, as by nohup. A file that reaches its size limit (`ulimit -f`) fails
/// like a full disk.
void stopOnSignals();

/// Throws if a signal requested a stop. It throws no Error, because the input
/// is not at fault. Loops over large data (samples, rows, words) call it.
void throwIfStopped();

/// Ends the process by the signal that requested a stop, so that a shell sees
/// the signal. Returns if there was none.
void endBySignal();

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_STOP_H
