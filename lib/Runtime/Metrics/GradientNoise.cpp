//===- GradientNoise.cpp - the noise scale of the gradient ----------------===//

#include "GradientNoise.h"

#include "Device/ArenaValues.h"
#include "Program/Shard.h"

#include <algorithm>
#include <cmath>

using namespace dtc::rt;

void NoiseScale::add(double smallSquares, double largeSquares) {
  constexpr double decay = 0.99; // of both: that they start at 0 cancels
  signal = decay * signal +
           (large * largeSquares - small * smallSquares) / (large - small);
  noise =
      decay * noise + (smallSquares - largeSquares) / (1 / small - 1 / large);
}

double NoiseScale::value() const { return signal > 0 ? noise / signal : NAN; }

/// The number of ranks of a stage that hold the same part of a parameter and
/// have other parts of the batch, or no part of their own.
static int countReplicas(const Program &program,
                         const ParameterInfo &parameter) {
  int replicas = 1;
  for (int axis = 0; axis < int(program.mesh.axes.size()); ++axis) {
    bool isSplit =
        std::any_of(parameter.splits.begin(), parameter.splits.end(),
                    [&](const AxisSplit &split) { return split.axis == axis; });
    bool isBatch = std::find(program.batchAxes.begin(), program.batchAxes.end(),
                             axis) != program.batchAxes.end();
    if (!isSplit && !isBatch &&
        program.mesh.axes[size_t(axis)].name != stageAxis)
      replicas *= program.mesh.axes[size_t(axis)].size;
  }
  return replicas;
}

GradientNoise::GradientNoise(const Program &program, Collectives &collectives,
                             Device &device, const Arena &arena)
    : program(program), collectives(collectives), device(device), arena(arena) {
  std::vector<int> batch = program.batchAxes;
  std::sort(batch.begin(), batch.end());
  for (std::vector<int> axes : program.groups) {
    std::sort(axes.begin(), axes.end());
    isBatchGroup.push_back(axes == batch);
  }
  int rank = collectives.rank();
  const Stage &stage =
      program.stages[size_t(program.mesh.coordinate(rank, stageAxis))];
  for (const Stage::Parameter &entry : stage.parameters) {
    if (!entry.gradient)
      continue;
    const ParameterInfo &parameter = program.parameters[size_t(entry.index)];
    Piece piece = pieceOf(parameter, *entry.gradient, program.mesh, rank);
    places.push_back({piece.offset,
                      piece.offset + piece.count * sizeOf(parameter.dtype),
                      1.0 / countReplicas(program, parameter)});
  }
}

void GradientNoise::beginStep() {
  squares = 0;
  isUnclear = false;
  for (Place &place : places)
    place.reduced = 0;
}

double GradientNoise::sumSquares(const void *buffer, dtc_dtype dtype,
                                 int64_t count) const {
  int64_t offset = static_cast<const char *>(buffer) - arena.address();
  double sum = 0;
  forEachPart(arena, offset, dtype, count, [&](std::span<const double> part) {
    for (double value : part)
      sum += value * value;
    return true;
  });
  return sum;
}

void GradientNoise::observe(int group, const Collective &collective) {
  bool scatters = collective.kind == CollectiveKind::ReduceScatter;
  if ((!scatters && collective.kind != CollectiveKind::AllReduce) ||
      collective.reduction != DTC_SUM || !isFloat(collective.dtype) ||
      collectives.groupSize(group) == 1)
    return;
  int64_t begin =
      static_cast<const char *>(collective.output) - arena.address();
  int64_t end = begin + collective.bytes();
  double weight = 0; // of all that a scatter gives
  for (Place &place : places) {
    int64_t from = std::max(begin, place.begin), to = std::min(end, place.end);
    if (from >= to)
      continue;
    // Ranks of other axes are reduced only after these, so the sum is not
    // complete.
    if (!isBatchGroup[size_t(group)]) {
      isUnclear |= place.reduced > 0;
      continue;
    }
    place.reduced += to - from;
    isUnclear |= scatters && weight > 0 && weight != place.weight;
    weight = place.weight;
    if (scatters)
      continue;
    device.synchronize();
    squares +=
        place.weight * sumSquares(arena.address() + from, collective.dtype,
                                  (to - from) / sizeOf(collective.dtype));
  }
  if (scatters && weight > 0) {
    device.synchronize();
    squares +=
        weight * sumSquares(collective.input, collective.dtype,
                            collective.count * collectives.groupSize(group));
  }
}

std::optional<double> GradientNoise::endStep(double scale) const {
  struct Part {
    double squares;
    int64_t isWhole;
  };
  bool isWhole =
      std::all_of(places.begin(), places.end(), [](const Place &place) {
        return place.reduced == place.end - place.begin;
      });
  Part own = {squares, isWhole && !isUnclear};
  std::vector<Part> all(size_t(collectives.size()));
  collectives.gatherData(&own, all.data(), sizeof own);
  double sum = 0;
  for (const Part &part : all) {
    if (!part.isWhole)
      return std::nullopt;
    sum += part.squares;
  }
  // A rank's term of the mean is the mean of its own samples, by their number.
  return program.batchRanks() * sum / (scale * scale);
}
