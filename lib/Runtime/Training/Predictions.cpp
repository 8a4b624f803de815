//===- Predictions.cpp - the model's output for each sample ---------------===//

#include "Predictions.h"

#include "Collectives/Collectives.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Data/Source.h"
#include "Device/Device.h"

#include <algorithm>

using namespace dtc::rt;

static const RecordInfo &expectRecord(const Program &program) {
  if (program.record)
    return *program.record;
  fail(program.loss == LossKind::output
           ? "found --predict, but this model computes its own loss and so has "
             "no predictions; compile it with --loss cross-entropy, bce or mse"
           : "found --predict, but the output of this model does not have one "
             "row for each sample under this plan");
}

Predictions::Predictions(const dtc_context &context, const Arena &arena,
                         const std::string &path, int64_t samples)
    : context(context), arena(arena), info(expectRecord(context.program)) {
  const Program &program = context.program;
  dtc_dtype type = info.dtype;
  fileType = type == DTC_BF16 || type == DTC_F16 ? DTC_F32 : type;
  blockBytes =
      program.blockRows() *
      elementCount(boxOf(info.shape, info.splits, program.mesh, 0).size) *
      sizeOf(type);
  if (context.stage == info.stage)
    own.resize(size_t(blockBytes * program.microbatches));
  if (context.collectives.rank() != 0)
    return;
  std::vector<int64_t> shape = {samples};
  shape.insert(shape.end(), info.unpadded.begin(), info.unpadded.end());
  file.emplace(path, fileType, shape);
  batch.resize(size_t(program.globalBatch * elementCount(info.unpadded) *
                      sizeOf(fileType)));
}

void Predictions::take(int64_t microbatch, const void *rows, int64_t bytes) {
  if (bytes != blockBytes || microbatch < 0 ||
      microbatch >= context.program.microbatches)
    fatal("the program records %lld bytes of micro-batch %lld, expected %lld "
          "bytes of one of %lld",
          (long long)bytes, (long long)microbatch, (long long)blockBytes,
          (long long)context.program.microbatches);
  context.device.synchronize();
  arena.read(arena.offsetOf(rows), blockBytes, [&](const char *data) {
    memcpy(own.data() + microbatch * blockBytes, data, size_t(blockBytes));
  });
}

/// One of the ranks that hold the same rows: the one at 0 on all axes except
/// for those that split the batch or the rows.
std::vector<int> Predictions::listHolders() const {
  const Program &program = context.program;
  const Mesh &mesh = program.mesh;
  auto splits = [&](int axis) {
    return std::ranges::find(program.batchAxes, axis) !=
               program.batchAxes.end() ||
           std::ranges::any_of(info.splits, [&](const AxisSplit &split) {
             return split.axis == axis;
           });
  };
  std::vector<int> holders;
  for (int rank = 0; rank < mesh.size(); ++rank) {
    if (mesh.coordinate(rank, stageAxis) != info.stage)
      continue;
    std::vector<int> where = mesh.coordinates(rank);
    bool isFirst = true;
    for (int axis = 0; axis < int(where.size()); ++axis)
      isFirst &=
          where[axis] == 0 || axis == mesh.find(stageAxis) || splits(axis);
    if (isFirst)
      holders.push_back(rank);
  }
  return holders;
}

/// Copies a rank's part of the first rows.
void Predictions::place(int rank, const char *from, int64_t rows) {
  const Program &program = context.program;
  RowPartition partition = getPartition(program);
  Box box = boxOf(info.shape, info.splits, program.mesh, rank);
  int64_t size = sizeOf(info.dtype), fileSize = sizeOf(fileType);
  int64_t held = elementCount(box.size) * size;
  int64_t written = elementCount(info.unpadded) * fileSize;
  for (int64_t local = 0; local < partition.localRows(); ++local) {
    int64_t row = partition.globalRow(program.batchRank(rank), local);
    if (row >= rows)
      continue;
    const char *source = from + local * held;
    char *target = batch.data() + row * written;
    forEachRun(info.unpadded, box, [&](int64_t to, int64_t at, int64_t count) {
      convert(info.dtype, source + at * size, fileType, target + to * fileSize,
              count);
    });
  }
}

void Predictions::append(int64_t rows) {
  Collectives &collectives = context.collectives;
  int rank = collectives.rank();
  for (int holder : listHolders()) {
    if (holder == rank && rank == 0) {
      place(0, own.data(), rows);
    } else if (holder == rank) {
      collectives.sendData(0, own.data(), int64_t(own.size()));
    } else if (rank == 0) {
      received.resize(size_t(blockBytes * context.program.microbatches));
      collectives.recvData(holder, received.data(), int64_t(received.size()));
      place(holder, received.data(), rows);
    }
  }
  if (file)
    file->append(batch.data(),
                 rows * elementCount(info.unpadded) * sizeOf(fileType));
}

void Predictions::commit() {
  if (file)
    file->commit();
}
