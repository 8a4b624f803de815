//===- Phase.h - the functions of a stage, in order -------------*- C++ -*-===//
//
// A step on one stage is a sequence of phases, each one function: some are run
// once a step, some once for each micro-batch. `#dtc.phase` is the attribute.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_PHASE_H
#define DTC_DIALECT_PHASE_H

#include "llvm/ADT/Hashing.h"
#include <string>
#include <tuple>

namespace dtc {

struct Phase {
  enum Kind {
    Inputs,   ///< per micro-batch: sums of what depends on inputs alone
    Prologue, ///< once: what micro-batches need in common
    Forward,  ///< per micro-batch
    Backward, ///< per micro-batch: gradients that the stage before waits for
    Weight,   ///< per micro-batch: all other gradients
    Reduce,   ///< once: what other stages need of accumulated values
    Update,   ///< once: everything else
  };

  Kind kind;
  /// In Inputs and in phases that run once: how many messages of once-a-step
  /// values and runs of Inputs must come before it. A value that crosses stages
  /// after phase (kind, l) arrives before phase (kind, l + 1); Inputs of level
  /// l + 1 read what Inputs and the Prologue of level l make. In Forward,
  /// Backward and Weight: the chunk, of which a stage has several if it has
  /// virtual stages.
  unsigned level = 0;
  /// Which runs of a step the function is for: of Forward the first may have
  /// one of its own, of Weight the last.
  enum Runs { All, First, Last } runs = All;

  bool isPerMicrobatch() const { return kind == Inputs || isChunked(); }
  bool isBeforeMicrobatches() const { return kind < Forward; }
  /// Whether it is one of a chunk: of F, B and W.
  bool isChunked() const { return kind >= Forward && kind <= Weight; }
  /// The symbol of the phase's function, for people: "weight1.last".
  std::string getName() const;

  friend llvm::hash_code hash_value(const Phase &phase) {
    return llvm::hash_combine(phase.kind, phase.level, phase.runs);
  }
  bool operator==(const Phase &other) const {
    return kind == other.kind && level == other.level && runs == other.runs;
  }
  /// In the order of a step, but for the tasks of its micro-batches.
  bool operator<(const Phase &other) const {
    if (isBeforeMicrobatches() && other.isBeforeMicrobatches())
      return std::tie(level, kind) < std::tie(other.level, other.kind);
    return std::tie(kind, level, runs) <
           std::tie(other.kind, other.level, other.runs);
  }
};

} // namespace dtc

#endif // DTC_DIALECT_PHASE_H
