//===- StepInputs.cpp - inputs of a plan that are no data -----------------===//

#include "StepInputs.h"

#include "Elements.h"

#include <cstring>

using namespace dtc::rt;

void StepInputs::write(int64_t step, double learningRate) const {
  auto number = double(step);
  for (const Stage::Input &entry : stage.inputs) {
    const InputInfo &input = program.inputs[entry.index];
    char *target = arena + entry.offset;
    switch (input.kind) {
    case InputKind::input:
    case InputKind::label:
      break;
    case InputKind::learningRate:
      memcpy(target, &learningRate, sizeof learningRate);
      break;
    case InputKind::step:
      memcpy(target, &number, sizeof number);
      break;
    case InputKind::seed:
      memcpy(target, &seed, sizeof seed);
      break;
    case InputKind::microbatch:
      for (int64_t i = 0; i < elementCount(input.shape); ++i)
        memcpy(target + i * sizeof i, &i, sizeof i);
      break;
    }
  }
}
