//===- WorkerAverage.cpp - the mean of all workers' parameters ------------===//

#include "WorkerAverage.h"

#include "Collectives/Collectives.h"
#include "Core/Elements.h"
#include "Device/Device.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace dtc::rt;

/// Whether a rank is the first of its worker that holds a part of a tensor.
static bool isFirstHolder(const Program &program, int rank,
                          const ParameterInfo &parameter,
                          const Stage::Place &place) {
  const Mesh &mesh = program.mesh;
  std::vector<int> where = mesh.coordinates(rank);
  int stages = mesh.find(stageAxis);
  for (int axis = 0; axis < int(where.size()); ++axis) {
    bool differs = axis == stages || axis == program.workerAxis ||
                   (place.shard && place.shard->isSplitBy(axis));
    for (const AxisSplit &split : parameter.splits)
      differs |= split.axis == axis;
    if (!differs && where[axis] != 0)
      return false;
  }
  return true;
}

WorkerAverage::WorkerAverage(dtc_context &context, Arena &arena)
    : context(context), arena(arena) {
  const Program &program = context.program;
  if (!program.hasWorkers() || program.server)
    return;
  average =
      program.functionOf(program.findBetween(averageProgram), context.stage);
  squares.resize(size_t(context.collectives.size()));
  int rank = context.collectives.rank();
  for (const Stage::Parameter &entry : context.plan().parameters) {
    const ParameterInfo &parameter = program.parameters[size_t(entry.index)];
    auto add = [&](const Stage::Place &place, bool counts) {
      Kept kept{pieceOf(parameter, place, program.mesh, rank),
                parameter.dtype,
                counts,
                {}};
      kept.bytes.resize(size_t(kept.piece.count * sizeOf(parameter.dtype)));
      own.push_back(std::move(kept));
    };
    if (entry.own)
      add(entry.place,
          parameter.trainable &&
              isFirstHolder(program, rank, parameter, entry.place));
    if (const Stage::State *ema = entry.findState(averageState))
      add(ema->place, /*counts=*/false);
  }
}

double WorkerAverage::sumSquares() const {
  double sum = 0;
  for (const Kept &kept : own) {
    if (!kept.counts)
      continue;
    arena.read(
        kept.piece.offset, int64_t(kept.bytes.size()), [&](const char *mean) {
          visitElement(kept.dtype, [&](auto element) {
            using Element = decltype(element);
            for (int64_t i = 0; i < kept.piece.count; ++i) {
              Element a, b;
              memcpy(&a, kept.bytes.data() + i * int64_t(sizeof a), sizeof a);
              memcpy(&b, mean + i * int64_t(sizeof b), sizeof b);
              double difference = double(a) - double(b);
              sum += difference * difference;
            }
          });
        });
  }
  return sum;
}

void WorkerAverage::begin() {
  if (!average)
    return;
  for (Kept &kept : own)
    arena.read(kept.piece.offset, int64_t(kept.bytes.size()),
               [&](const char *data) {
                 memcpy(kept.bytes.data(), data, kept.bytes.size());
               });
  context.device.run(average, context, arena);
  context.device.synchronize();
  double ofRank = sumSquares();
  context.collectives.gatherData(&ofRank, squares.data(), sizeof ofRank);
  spread = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0) /
                     double(context.program.countWorkers()));
}

void WorkerAverage::end() {
  for (const Kept &kept : own)
    arena.write(kept.piece.offset, int64_t(kept.bytes.size()),
                [&](char *target) {
                  memcpy(target, kept.bytes.data(), kept.bytes.size());
                });
}
