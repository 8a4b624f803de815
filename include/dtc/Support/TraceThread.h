//===- TraceThread.h - rows of a trace --------------------------*- C++ -*-===//
//
// For --timeline and --trace.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_TRACETHREAD_H
#define DTC_SUPPORT_TRACETHREAD_H

#include <cstdint>

namespace dtc {

/// The `tid` of a row of a process: a number that no other process's row has,
/// since Perfetto knows threads by their numbers alone, and takes 0 for
/// another.
inline int64_t getTraceThread(int64_t process, int64_t row) {
  return 1000 * (process + 1) + row;
}

} // namespace dtc

#endif // DTC_SUPPORT_TRACETHREAD_H
