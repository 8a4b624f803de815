//===- Trace.h - times of a rank in recorded steps --------------*- C++ -*-===//
//
// Records stage functions and communication of some steps, for the trace
// viewers of Chrome and Perfetto. Steps write to memory that was reserved
// before the first of them. Files and other ranks are served between steps.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_METRICS_TRACE_H
#define DTC_LIB_RUNTIME_METRICS_TRACE_H

#include "Collectives/Collectives.h"
#include "Device/DeviceClock.h"
#include "OpTimes.h"
#include "Profile.h"
#include "Program/Program.h"
#include "RecordFile.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

struct TraceEvent {
  enum Kind : int32_t {
    load,     ///< of the step's rows of data
    function, ///< a stage function
    collective,
    send,
    recv,
    waitForCollective,
    waitForSend,
    waitForRecv,
  };
  int64_t begin,
      end;       ///< nanoseconds of the rank's own clock; end < 0: none yet
  int64_t bytes; ///< of the whole, as in the compiler's report
  int64_t step;
  Kind kind;
  int32_t subject;               ///< function, group of ranks or stage, by kind
  int32_t microbatch;            ///< of a function; negative: once a step
  int32_t slot;                  ///< of an operation in flight, else -1
  CollectiveKind collectiveKind; ///< if it is one, or the wait for one

  /// Whether the rank waits for what was started before.
  bool isWait() const { return kind >= waitForCollective; }
};

class Trace {
public:
  /// Steps `first` to `last` are recorded, for a trace in the file `path` and
  /// a profile in the file `profilePath`; neither if empty. Rank 0 creates the
  /// files; throws if it cannot.
  Trace(const Program &program, Collectives &collectives, std::string path,
        std::string profilePath, int64_t first, int64_t last,
        size_t capacity = 1 << 18);

  /// Times are those of this clock, which outlives this; else those of calls.
  void use(DeviceClock *clock) { deviceClock = clock; }

  /// Measures how far the ranks' clocks are apart. All ranks call this.
  void alignClocks();

  bool records(int64_t step) const { return first <= step && step <= last; }
  int64_t lastStep() const { return last; }
  void beginStep(int64_t step);
  void endStep();
  /// The training ends with this step.
  void stopAfter(int64_t step) { last = std::min(last, step); }
  struct Written {
    std::vector<std::string> warnings; ///< of files, which then are empty
    std::string table;                 ///< if the profile is for "-"
  };
  /// Collects the events of all ranks into rank 0's files, and notes there
  /// which are missing. All ranks call this, once.
  Written write();

  //===--- Within a step --------------------------------------------------===//

  /// Begins an event, and returns its number for `end`; -1 if there is no room,
  /// which ends the recording and drops the step.
  int64_t begin(TraceEvent::Kind kind, int32_t subject, int64_t bytes,
                int32_t microbatch = -1, int32_t slot = -1);
  /// The same for a collective of a group.
  int64_t begin(CollectiveKind kind, int32_t group, int64_t bytes,
                int32_t slot = -1);
  /// The same, of the wait for an event that was started.
  int64_t beginWait(int64_t started);
  void end(int64_t event);
  void beginRun(int32_t function, int32_t microbatch) {
    run = begin(TraceEvent::function, function, 0, microbatch);
  }
  void endRun() { end(run); }
  /// Only a profile has ops.
  void beginOp(int32_t op) {
    if (full || profilePath.empty())
      return;
    if (ops.isFull())
      dropStep();
    else
      ops.begin(op, mark());
  }
  void endOp() {
    if (!full && !profilePath.empty())
      ops.end(mark());
  }
  /// The last event that was begun with this slot and has not ended; -1 if
  /// there is none.
  int64_t findStarted(int32_t slot) const;
  const TraceEvent &operator[](int64_t event) const { return events[event]; }

private:
  /// Ends the recording before the step: there is no room.
  void dropStep();
  struct RankEvents;
  RankEvents receive(int rank) const;
  std::vector<RankEvents> gather();
  std::string writeTrace(const std::vector<RankEvents> &ranks);
  Profile makeProfile(const std::vector<RankEvents> &ranks) const;
  void print(const RankEvents &events, int rank, int64_t zero,
             const char *&separator) const;
  std::string nameOf(const TraceEvent &event) const;
  int64_t mark() { return deviceClock ? deviceClock->mark() : hostTime(); }

  const Program &program;
  Collectives &collectives;
  DeviceClock *deviceClock = nullptr;
  std::string path, profilePath;
  int64_t first, last;
  size_t capacity;
  std::vector<TraceEvent> events;
  OpTimes ops;
  /// Numbers of events that have a slot and no end.
  std::vector<int64_t> started;
  int64_t step = 0, run = -1;
  size_t stepBegin = 0;   ///< number of the step's first event
  int64_t wholeSteps = 0; ///< that were recorded
  bool full = false;
  std::vector<int64_t> offsets; ///< on rank 0: of each rank's clock, ns
  int64_t stepsOfAll = 0;       ///< on rank 0: that all ranks have as a whole
  std::unique_ptr<FILE, int (*)(FILE *)> file{nullptr, fclose};
  RecordFile profileFile;
};

/// Records a call for as long as it lives; nothing if `trace` is null.
class TraceSpan {
public:
  template <typename Kind>
  TraceSpan(Trace *trace, Kind kind, int32_t subject, int64_t bytes)
      : trace(trace) {
    if (trace)
      event = trace->begin(kind, subject, bytes);
  }
  ~TraceSpan() {
    if (trace)
      trace->end(event);
  }
  TraceSpan(const TraceSpan &) = delete;

private:
  Trace *trace;
  int64_t event = -1;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_TRACE_H
