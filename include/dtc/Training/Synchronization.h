//===- Synchronization.h - when and how replicas agree ----------*- C++ -*-===//
//
// The value of `--sync`. Ranks at one position of dp are a replica. Either all
// replicas have the same parameters and sum their gradients, or each is a
// worker. Workers have parameters of their own, which are mixed with those of
// others, or get them from a server, to which they push gradients.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_SYNCHRONIZATION_H
#define DTC_TRAINING_SYNCHRONIZATION_H

#include "dtc/Options/Options.h"
#include "dtc/Training/Mixing.h"

#include <optional>

namespace dtc {

struct Synchronization {
  enum Kind {
    Step,    ///< gradients are summed in each step
    Delayed, ///< gradients are applied some steps later
    Every,   ///< workers average their parameters after some steps
    Gossip,  ///< workers mix their parameters with neighbours' in each step
    Async,   ///< a server applies workers' gradients as they arrive
  };
  Kind kind = Step;
  int64_t delay = 0;     ///< Delayed: of gradients, in steps
  int64_t period = 1;    ///< Every: steps between two averages of a parameter
  int64_t fragments = 1; ///< Every: parts that are averaged at other steps
  /// Every: Nesterov's momentum on the average change since the last average.
  struct Outer {
    double lr, momentum;
  };
  std::optional<Outer> outer;
  MixingKind mixing = MixingKind::Ring; ///< Gossip
  int64_t ahead = 0; ///< Async: steps that a worker may be ahead of the slowest
  bool rateByStaleness = false; ///< Async: the learning rate

  /// Parses "step", "delayed:T", "every:H[,outer=average|nesterov:LR:MOMENTUM]
  /// [,fragments=P]", "gossip:ring|torus|exponential|one-peer" or
  /// "async:S[,rate=mean|staleness]".
  static llvm::Expected<Synchronization> parse(llvm::StringRef text);

  /// Whether positions of dp compute apart.
  bool hasWorkers() const {
    return kind == Every || kind == Gossip || kind == Async;
  }
  /// Whether the first of these positions is a server.
  bool hasServer() const { return kind == Async; }
};

/// The synchronisation of a plan whose options were checked.
Synchronization getSynchronization(const ParallelOptions &plan);

/// The positions of dp that compute apart, in a plan whose options were
/// checked; 1 if all replicas have the same parameters. A server is one of
/// them.
int64_t countPositions(const ParallelOptions &plan);
/// The number of these that share the batch: all but the server.
int64_t countWorkers(const ParallelOptions &plan);

} // namespace dtc

#endif // DTC_TRAINING_SYNCHRONIZATION_H
