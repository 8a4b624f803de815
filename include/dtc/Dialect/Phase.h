//===- Phase.h - functions of a stage ---------------------------*- C++ -*-===//
//
// A step on one stage is a sequence of phases. Each phase is a function, which
// runs once per step or once per micro-batch. `#dtc.phase` is the attribute.
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
    Inputs,   ///< per micro-batch: sums of values that depend on inputs alone
    Prologue, ///< once: values that all micro-batches use
    Forward,  ///< per micro-batch
    Backward, ///< per micro-batch: gradients that the stage before waits for
    Weight,   ///< per micro-batch: all other gradients
    Reduce,   ///< once: accumulated values that other stages need
    Update,   ///< once: everything else
  };

  Kind kind;
  /// In Inputs and in phases that run once: the number of messages of
  /// once-a-step values, and runs of Inputs, that must come before it. A value
  /// that crosses stages after phase (kind, l) arrives before phase (kind, l +
  /// 1). Inputs of level l + 1 read the results of Inputs and Prologue of level
  /// l. In Forward, Backward and Weight: the chunk. A stage with virtual stages
  /// has several chunks.
  unsigned level = 0;
  /// The runs of a step that use the function. The first run of Forward, and
  /// the last run of Weight, may have a function of their own.
  enum Runs { All, First, Last } runs = All;

  bool isPerMicrobatch() const { return kind == Inputs || isChunked(); }
  bool isBeforeMicrobatches() const { return kind < Forward; }
  /// Whether the phase belongs to a chunk: Forward, Backward or Weight.
  bool isChunked() const { return kind >= Forward && kind <= Weight; }
  /// The name of the phase's function, such as "weight1.last".
  std::string getName() const;

  friend llvm::hash_code hash_value(const Phase &phase) {
    return llvm::hash_combine(phase.kind, phase.level, phase.runs);
  }
  bool operator==(const Phase &other) const {
    return kind == other.kind && level == other.level && runs == other.runs;
  }
  /// The order of a step, without regard to its micro-batches.
  bool operator<(const Phase &other) const {
    if (isBeforeMicrobatches() && other.isBeforeMicrobatches())
      return std::tie(level, kind) < std::tie(other.level, other.kind);
    return std::tie(kind, level, runs) <
           std::tie(other.kind, other.level, other.runs);
  }
};

} // namespace dtc

#endif // DTC_DIALECT_PHASE_H
