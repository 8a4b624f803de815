//===- FitMemory.h - search for a plan that fits memory ---------*- C++ -*-===//
//
// Searches for options to add to a strategy that needs too much memory. The
// search estimates nothing: the caller plans the model with each strategy.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DRIVER_FITMEMORY_H
#define DTC_DRIVER_FITMEMORY_H

#include "dtc/Options/Strategy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtc {

struct FitProblem {
  Strategy strategy;         ///< its plan needs too much memory
  int64_t globalBatch;       ///< samples of a step
  bool hasBatchNorm = false; ///< whether the model has a batch norm
  int64_t limit;             ///< limit of each rank in bytes
};

/// Options to add to a strategy, and the memory of ranks with them.
struct MemoryFit {
  /// Names and values in order. The value of a flag is empty.
  llvm::MapVector<llvm::StringRef, std::string> options;
  /// The peak memory of any rank, or the largest number if there is no plan.
  int64_t bytes;

  /// The options as text, such as "--sp --zero 3".
  std::string printOptions() const;
};

/// The maximal number of plans that the search tries.
size_t countMostPlans(const FitProblem &problem);

/// Tries, in this order and on top of each other: --schedule 1f1b, --sp,
/// --recompute selective instead of none, --zero 1 to 3, --recompute all, more
/// micro-batches, --offload on GPUs. Skips steps that save nothing. When a plan
/// fits, drops the options that are not needed for a fit. If no plan fits,
/// returns the options with the fewest bytes, which are above the limit.
///
/// `getPeak` plans the model and returns the peak memory of any rank in bytes,
/// or none if there is no such plan.
MemoryFit
fitMemory(const FitProblem &problem,
          llvm::function_ref<std::optional<int64_t>(const Strategy &)> getPeak);

} // namespace dtc

#endif // DTC_DRIVER_FITMEMORY_H
