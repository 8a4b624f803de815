//===- CheckReplicas.h - equal bits where ranks hold the same ---*- C++ -*-===//
//
// --check-replicas, for debugging. Several ranks may hold one value, because
// each has computed it, or got it from one collective. Their bits must agree.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_TRAINING_CHECKREPLICAS_H
#define DTC_LIB_RUNTIME_TRAINING_CHECKREPLICAS_H

#include "Device/Arena.h"
#include "Program/Context.h"

#include <string>
#include <vector>

namespace dtc::rt {

/// Compares parameters, their gradients and state, the loss and the norm: each
/// box of a tensor among the ranks that hold it. A tensor that is split over
/// all ranks has no replica.
class ReplicaCheck {
public:
  /// Allocates all that the checks need.
  ReplicaCheck(const dtc_context &context, const Arena &arena);

  /// All ranks call this after a step. Ranks that differ end the job.
  void check(int64_t step);

private:
  struct Value {
    std::string name; ///< for messages; with `start`, which value it is
    std::vector<int64_t> start; ///< of the rank's box in the tensor, and in it
    dtc_dtype dtype;
    int64_t offset, count;
    int holder = 0; ///< the first rank that has it, and its place there
    size_t place = 0;
  };

  static std::vector<Value> listValues(const Program &program, int rank);
  void findHolders();
  void compare(int64_t step) const;

  const dtc_context &context;
  const Arena &arena;
  /// By rank: on rank 0 those of all ranks, elsewhere the own.
  std::vector<std::vector<Value>> values;
  std::vector<std::vector<uint64_t>> hashes;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_CHECKREPLICAS_H
