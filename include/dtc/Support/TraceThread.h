//===- TraceThread.h - rows of a trace --------------------------*- C++ -*-===//
//
// For --timeline and --trace.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_TRACETHREAD_H
#define DTC_SUPPORT_TRACETHREAD_H

#include <cstdint>

namespace dtc {

/// The `tid` of a row of a process in a trace. It is unique over all processes,
/// because Perfetto identifies threads by this number alone, and replaces 0.
inline int64_t getTraceThread(int64_t process, int64_t row) {
  return 1000 * (process + 1) + row;
}

} // namespace dtc

#endif // DTC_SUPPORT_TRACETHREAD_H
