//===- BatchLoader.cpp - a rank's rows of the global batch ----------------===//

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Shuffle.h"
#include "Source.h"

using namespace dtc::rt;

std::string DataSource::describeRow(int, int64_t, int64_t row) const {
  return format("row %lld of the batch", (long long)row);
}

BatchLoader::BatchLoader(const Program &program, int rank, DataSource &source,
                         Arena &arena)
    : program(program), source(source), arena(arena),
      dataRank(program.batchRank(rank)) {
  const Stage &stage = program.stages[program.mesh.coordinate(rank, stageAxis)];
  for (const Stage::Input &entry : stage.inputs) {
    const InputInfo &input = program.inputs[entry.index];
    if (input.isData())
      buffers.push_back(
          {entry.index, entry.offset,
           elementCount(input.sampleShape()) * sizeOf(input.dtype)});
  }
}

void BatchLoader::load(int64_t step) const {
  RowPartition partition{program.microbatches, program.batchRanks(),
                         program.blockRows()};
  int64_t rows = partition.localRows();
  for (const Buffer &buffer : buffers)
    arena.write(buffer.offset, rows * buffer.sampleBytes, [&](char *target) {
      for (int64_t row = 0; row < rows; ++row)
        source.load(buffer.input, step, partition.globalRow(dataRank, row),
                    target + row * buffer.sampleBytes);
    });
}
