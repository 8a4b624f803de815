//===- FitMemory.h - the search for a plan that fits memory -----*- C++ -*-===//
//
// Which options to add to a strategy that needs too much memory. What would fit
// is not estimated: the caller plans the model with each strategy that is
// tried.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DRIVER_FITMEMORY_H
#define DTC_DRIVER_FITMEMORY_H

#include "dtc/Options/Strategy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtc {

struct FitProblem {
  Strategy strategy;         ///< its plan needs too much
  int64_t globalBatch;       ///< samples of a step
  bool hasBatchNorm = false; ///< whether the model has a batch norm
  int64_t limit;             ///< bytes that a rank may need
};

/// Options to add to a strategy, and what ranks need with them.
struct MemoryFit {
  /// In order: name and value, which is empty for a flag.
  llvm::MapVector<llvm::StringRef, std::string> options;
  /// What the rank that needs most needs; the largest number if there is no
  /// plan.
  int64_t bytes;

  /// "--sp --zero 3"
  std::string printOptions() const;
};

/// How many plans the search tries at most.
size_t countMostPlans(const FitProblem &problem);

/// Tries, in this order and on top of each other: --schedule 1f1b, --sp,
/// --recompute selective instead of none, --zero 1 to 3, --recompute all, more
/// micro-batches, --offload on GPUs. The search passes over steps that save
/// nothing. When a plan fits, it drops the options without which a plan fits,
/// too. If no plan fits, the result has the options with the fewest bytes,
/// which are more than the limit.
///
/// `getPeak` plans the model: the bytes of the rank that needs most, or none if
/// there is no such plan.
MemoryFit
fitMemory(const FitProblem &problem,
          llvm::function_ref<std::optional<int64_t>(const Strategy &)> getPeak);

} // namespace dtc

#endif // DTC_DRIVER_FITMEMORY_H
