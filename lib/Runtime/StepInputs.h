//===- StepInputs.h - inputs of a plan that are no data ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_STEPINPUTS_H
#define DTC_LIB_RUNTIME_STEPINPUTS_H

#include "Program.h"

namespace dtc::rt {

/// Writes the learning rate, the number of the step and what random numbers
/// depend on. Before each run of a plan, since plans reuse their memory.
class StepInputs {
public:
  StepInputs(const Program &program, const Stage &stage, char *arena,
             uint64_t seed)
      : program(program), stage(stage), arena(arena), seed(seed) {}

  void write(int64_t step, double learningRate) const;

private:
  const Program &program;
  const Stage &stage;
  char *arena;
  uint64_t seed;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_STEPINPUTS_H
