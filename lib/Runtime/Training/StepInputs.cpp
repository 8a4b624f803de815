//===- StepInputs.cpp - inputs of a plan that are no data -----------------===//

#include "StepInputs.h"

#include "Core/Elements.h"

#include <cstring>

using namespace dtc::rt;

static void writeNumber(char *target, double number) {
  memcpy(target, &number, sizeof number);
}

void StepInputs::write(const StepNumbers &numbers) const {
  for (const Stage::Input &entry : stage.inputs) {
    const InputInfo &input = program.inputs[entry.index];
    char *target = arena + entry.offset;
    switch (input.kind) {
    case InputKind::input:
    case InputKind::label:
      break;
    case InputKind::learningRate:
      writeNumber(target, numbers.learningRate);
      break;
    case InputKind::step:
      writeNumber(target, double(numbers.step));
      break;
    case InputKind::lossScale:
      writeNumber(target, numbers.lossScale);
      break;
    case InputKind::updates:
      writeNumber(target, double(numbers.update));
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
