//===- StepInputs.cpp - inputs of a plan that are no data -----------------===//

#include "StepInputs.h"

#include "Core/Elements.h"

#include <cstring>

using namespace dtc::rt;

StepInputs::StepInputs(const Program &program, const Stage &stage, int rank,
                       Arena &arena, uint64_t seed)
    : program(program), stage(stage), arena(arena), seed(seed) {
  if (program.replicaAxis >= 0)
    replica = program.mesh.coordinates(rank)[size_t(program.replicaAxis)];
}

void StepInputs::write(const StepNumbers &numbers) const {
  for (const Stage::Input &entry : stage.inputs) {
    const InputInfo &input = program.inputs[entry.index];
    switch (input.kind) {
    case InputKind::input:
    case InputKind::label:
      break;
    case InputKind::learningRate:
      arena.store(entry.offset, numbers.learningRate);
      break;
    case InputKind::step:
      arena.store(entry.offset, double(numbers.step));
      break;
    case InputKind::lossScale:
      arena.store(entry.offset, numbers.lossScale);
      break;
    case InputKind::updates:
      arena.store(entry.offset, double(numbers.update));
      break;
    case InputKind::replicas:
      arena.store(entry.offset,
                  double(program.mesh.axes[program.replicaAxis].size));
      break;
    case InputKind::replica:
      arena.store(entry.offset, program.server ? numbers.share : replica);
      break;
    case InputKind::seed:
      arena.store(entry.offset, seed);
      break;
    case InputKind::microbatch: {
      int64_t count = elementCount(input.shape);
      arena.write(entry.offset, count * int64_t(sizeof count), [&](char *to) {
        for (int64_t i = 0; i < count; ++i)
          memcpy(to + i * sizeof i, &i, sizeof i);
      });
      break;
    }
    }
  }
}
