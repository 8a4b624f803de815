//===- Describe.h - the operation that a rank waits for ---------*- C++ -*-===//
//
// Messages of all engines about a rank that waits too long: the operation, the
// time, and the advice.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_DESCRIBE_H
#define DTC_LIB_RUNTIME_COLLECTIVES_DESCRIBE_H

#include "Collectives.h"

namespace dtc::rt {

/// The operation that a rank waits for. Plain numbers, so that a step formats
/// nothing.
struct Call {
  enum What {
    start, ///< of the other ranks
    end,   ///< of the other ranks
    all,   ///< the other ranks, between steps
    any,   ///< of the ranks that push to this one
    data,  ///< to or from `peer`, between steps
    // In a step.
    collective,
    send,
    recv,
  } what = all;
  int peer = -1;
  int64_t bytes = 0; ///< of a collective those of a share
  int group = 0;
  CollectiveKind kind = CollectiveKind::AllReduce;

  static Call of(int group, const Collective &c) {
    return {collective, -1, c.bytes(), group, c.kind};
  }
  /// The limit in units of --timeout: ranks have that time to meet, and between
  /// steps another rank may write a file.
  int patience() const {
    return what >= collective ? 1 : what == start ? 2 : 10;
  }
};

/// "all_reduce over dp of 25.0 MiB in stage function W of micro-batch 3".
/// `program` may be null before there are groups; `running` says where in the
/// plan the rank is, and may be null, too.
std::string describe(const Call &call, const Program *program,
                     const dtc_context *running);

/// Ends each message of a rank that is lost.
constexpr const char *afterLoss = "see why, then start again with --resume";

/// Ends the job: this rank has waited `seconds` for what `words` say, and
/// `timeout` is the user's.
[[noreturn]] void endForTime(int64_t seconds, const std::string &words,
                             int64_t timeout);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_DESCRIBE_H
