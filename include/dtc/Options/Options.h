//===- Options.h - all options of dtc ---------------------------*- C++ -*-===//
//
// The tables beside this file have one row for each option:
//
//   OPTION(type, field, default, name, values, help[, other name or place])
//
// A row is a field of a struct here and an option of the command line
// (lib/Driver/DeclareOptions.cpp). Except for rows of Model.def and Output.def,
// it is also an entry of a module's strategy (Strategy.h). The type sets the
// kind of the option: `bool` is a flag, and a vector may be repeated. `values`
// tells readOption the valid values:
//
//   a|b|c      one of these, if all are in lower case
//   N          a count, from 1 to maxCount; N|auto also reads `auto`
//   SIZE       bytes, or a number with KiB, MiB, GiB or TiB
//   X,...      a list in one value
//
//===----------------------------------------------------------------------===//

#ifndef DTC_OPTIONS_OPTIONS_H
#define DTC_OPTIONS_OPTIONS_H

#include "dtc/Options/OptionRow.h"
#include "dtc/Runtime/DeviceReserve.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace dtc {

/// The limit of counts of samples, ranks and the like. A larger number is a
/// mistake.
constexpr int64_t maxCount = 1 << 24;
/// The value of a field for `auto`.
constexpr int64_t autoCount = std::numeric_limits<int64_t>::min();

/// Declares a row as a field of a struct.
#define DTC_FIELD(type, field, initial, ...) type field = initial;

/// Calls `visit` with a row and its field. The row lives as long as the
/// program.
#define DTC_VISIT(type, field, initial, ...)                                   \
  {                                                                            \
    static constexpr OptionRow row(__VA_ARGS__);                               \
    visit(row, options.field);                                                 \
  }

struct ModelOptions {
#define OPTION DTC_FIELD
#include "dtc/Options/Model.def"

  template <typename Self, typename Visitor>
  static void visit(Self &options, Visitor visit) {
#define OPTION DTC_VISIT
#include "dtc/Options/Model.def"
  }
};

struct TrainingOptions {
#define OPTION DTC_FIELD
#include "dtc/Options/Training.def"

  template <typename Self, typename Visitor>
  static void visit(Self &options, Visitor visit) {
#define OPTION DTC_VISIT
#include "dtc/Options/Training.def"
  }
};

struct ParallelOptions {
#define OPTION DTC_FIELD
#include "dtc/Options/Parallel.def"

  /// For passes that count samples: the number of replicas that share the batch
  /// if only the launch sets it, else 0.
  int64_t getOpenReplicas() const { return replicasAtLaunch ? dp / hsdp : 0; }

  uint64_t getNumRanks() const {
    return llvm::SaturatingMultiply<uint64_t>(
        llvm::SaturatingMultiply<uint64_t>(dp, pp), tp);
  }

  template <typename Self, typename Visitor>
  static void visit(Self &options, Visitor visit) {
#define OPTION DTC_VISIT
#include "dtc/Options/Parallel.def"
  }
};

struct ScheduleOptions {
#define OPTION DTC_FIELD
#include "dtc/Options/Schedule.def"

  /// Whether one function computes all gradients of a micro-batch on a stage.
  /// If whole layers are recomputed, separate functions would have to pass all
  /// of a stage's activations to each other. Schedules that place weight
  /// gradients separately still need separate functions.
  bool joinsWeights() const {
    return (schedule == "gpipe" || schedule == "1f1b" ||
            schedule == "interleaved") &&
           (recompute == "all" || recompute == "except-last" ||
            recompute.rfind("every:", 0) == 0);
  }

  template <typename Self, typename Visitor>
  static void visit(Self &options, Visitor visit) {
#define OPTION DTC_VISIT
#include "dtc/Options/Schedule.def"
  }
};

struct TargetOptions {
#define OPTION DTC_FIELD
#include "dtc/Options/Target.def"

  template <typename Self, typename Visitor>
  static void visit(Self &options, Visitor visit) {
#define OPTION DTC_VISIT
#include "dtc/Options/Target.def"
  }
};

struct OutputOptions {
#define OPTION DTC_FIELD
#include "dtc/Options/Output.def"

  template <typename Self, typename Visitor>
  static void visit(Self &options, Visitor visit) {
#define OPTION DTC_VISIT
#include "dtc/Options/Output.def"
  }
};

#undef DTC_FIELD
#undef DTC_VISIT

} // namespace dtc

#endif // DTC_OPTIONS_OPTIONS_H
