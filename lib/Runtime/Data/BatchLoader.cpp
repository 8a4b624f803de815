//===- BatchLoader.cpp - a rank's rows of the global batch ----------------===//

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Source.h"

using namespace dtc::rt;

std::string DataSource::describeRow(int, int64_t, int64_t row) const {
  return format("row %lld of the batch", (long long)row);
}

RowPartition dtc::rt::getPartition(const Program &program) {
  return {program.microbatches, program.batchRanks(), program.blockRows(),
          program.countWorkers()};
}

BatchLoader::BatchLoader(const Program &program, int rank, DataSource &source,
                         Arena &arena, bool ahead, int prefetch, int64_t end)
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
    totalBytes += bytes;
  }
  if (ahead && !ranges.empty())
    inlet = arena.makeInlet(ranges);
  if (prefetch > 0 && !ranges.empty())
    reader = std::make_unique<ReadAhead>(
        prefetch, totalBytes, end,
        [this](int64_t step, char *target) { fillAhead(step, target); });
}

void BatchLoader::fill(const Buffer &buffer, int64_t step, char *target) const {
  RowPartition partition = getPartition(program);
  for (int64_t row = 0; row < partition.localRows(); ++row)
    source.load(buffer.input, step, partition.globalRow(dataRank, row),
                target + row * buffer.sampleBytes);
}

void BatchLoader::fillAll(int64_t step, char *target) const {
  for (const Buffer &buffer : buffers) {
    fill(buffer, step, target);
    target += buffer.bytes;
  }
}

void BatchLoader::fillAhead(int64_t step, char *target) const {
  RowPartition partition = getPartition(program);
  for (int64_t row = 0; row < partition.localRows(); ++row)
    source.willNeed(step + 1, partition.globalRow(dataRank, row));
  fillAll(step, target);
}

void BatchLoader::prepare(int64_t step) {
  if (!inlet)
    return;
  char *target = inlet->begin();
  if (reader) {
    memcpy(target, reader->wait(step), size_t(totalBytes));
    reader->release();
  } else {
    fillAll(step, target);
  }
  inlet->send();
  prepared = step;
}

void BatchLoader::load(int64_t step) {
  if (!inlet && reader) {
    const char *from = reader->wait(step);
    for (const Buffer &buffer : buffers) {
      arena.write(buffer.offset, buffer.bytes, [&](char *target) {
        memcpy(target, from, size_t(buffer.bytes));
      });
      from += buffer.bytes;
    }
    return reader->release();
  }
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
