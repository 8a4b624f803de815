//===- StepInputs.h - inputs of a plan that are no data ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_STEPINPUTS_H
#define DTC_LIB_RUNTIME_TRAINING_STEPINPUTS_H

#include "Device/Arena.h"
#include "Program/Program.h"

namespace dtc::rt {

/// The numbers of a step that a plan reads.
struct StepNumbers {
  int64_t step; ///< from 1
  double learningRate;
  double lossScale = 1;
  int64_t update = 0; ///< from 1; 0: there is none
  int64_t share = 0;  ///< of the batch, that a worker of a server computes
};

/// Writes the numbers of a step, and the inputs of random numbers. Call before
/// each run of a plan, because plans reuse their memory.
class StepInputs {
public:
  StepInputs(const Program &program, const Stage &stage, int rank, Arena &arena,
             uint64_t seed);

  void write(const StepNumbers &numbers) const;

private:
  const Program &program;
  const Stage &stage;
  Arena &arena;
  uint64_t seed;
  int64_t replica = 0; ///< index of the rank's replica
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_STEPINPUTS_H
