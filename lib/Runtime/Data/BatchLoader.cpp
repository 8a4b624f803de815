//===- BatchLoader.cpp - a rank's rows of the global batch ----------------===//

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Shuffle.h"
#include "Source.h"

using namespace dtc::rt;

std::string DataSource::describeRow(int, int64_t, int64_t row) const {
  return format("row %lld of the batch", (long long)row);
}

static RowPartition getPartition(const Program &program) {
  return {program.microbatches, program.batchRanks(), program.blockRows()};
}

BatchLoader::BatchLoader(const Program &program, int rank, DataSource &source,
                         Arena &arena, bool ahead)
    : program(program), source(source), arena(arena),
      dataRank(program.batchRank(rank)) {
  const Stage &stage = program.stages[program.mesh.coordinate(rank, stageAxis)];
  std::vector<Arena::Range> ranges;
  for (const Stage::Input &entry : stage.inputs) {
    const InputInfo &input = program.inputs[entry.index];
    if (!input.isData())
      continue;
    int64_t sample = elementCount(input.sampleShape()) * sizeOf(input.dtype);
    int64_t bytes = getPartition(program).localRows() * sample;
    buffers.push_back({entry.index, entry.offset, sample, bytes});
    ranges.push_back({entry.offset, bytes});
  }
  if (ahead && !ranges.empty())
    inlet = arena.makeInlet(ranges);
}

void BatchLoader::fill(const Buffer &buffer, int64_t step, char *target) const {
  RowPartition partition = getPartition(program);
  for (int64_t row = 0; row < partition.localRows(); ++row)
    source.load(buffer.input, step, partition.globalRow(dataRank, row),
                target + row * buffer.sampleBytes);
}

void BatchLoader::prepare(int64_t step) {
  if (!inlet)
    return;
  char *target = inlet->begin();
  for (const Buffer &buffer : buffers) {
    fill(buffer, step, target);
    target += buffer.bytes;
  }
  inlet->send();
  prepared = step;
}

void BatchLoader::load(int64_t step) {
  if (!inlet) {
    for (const Buffer &buffer : buffers)
      arena.write(buffer.offset, buffer.bytes,
                  [&](char *target) { fill(buffer, step, target); });
    return;
  }
  if (prepared != step)
    prepare(step);
  inlet->deliver();
}
