//===- StepInputs.h - inputs of a plan that are no data ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_STEPINPUTS_H
#define DTC_LIB_RUNTIME_TRAINING_STEPINPUTS_H

#include "Device/Arena.h"
#include "Program/Program.h"

namespace dtc::rt {

/// The numbers that a plan is given for a step.
struct StepNumbers {
  int64_t step; ///< from 1
  double learningRate;
  double lossScale = 1;
  int64_t update = 0; ///< from 1; 0: there is none
};

/// Writes the numbers of a step, and what random numbers depend on. Before each
/// run of a plan, since plans reuse their memory.
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
  int64_t replica = 0; ///< which of them the rank is
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_STEPINPUTS_H
