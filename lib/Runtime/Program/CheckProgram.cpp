//===- CheckProgram.cpp - consistency of a manifest -----------------------===//

#include "CheckProgram.h"

#include "Core/Elements.h"
#include "Core/Error.h"

#include <algorithm>
#include <limits>

using namespace dtc::rt;

/// Checks that a buffer lies in the arena, or, if allowed, in host memory, and
/// is aligned to its elements.
static void checkBuffer(const Stage &stage, const char *what,
                        const std::string &name, int64_t offset, int64_t bytes,
                        int64_t alignment, bool mayBeOnHost = false) {
  bool isOnHost = mayBeOnHost && offset >= DTC_HOST_MEMORY;
  int64_t size = isOnHost ? stage.hostBytes : stage.arenaBytes;
  if (isOnHost)
    offset -= DTC_HOST_MEMORY;
  if (offset < 0 || offset % alignment || bytes < 0 || offset > size ||
      bytes > size - offset)
    fail("%s '%s' at offset %lld with %lld bytes is misaligned or outside the "
         "%s of %lld bytes",
         what, name.c_str(), (long long)offset, (long long)bytes,
         isOnHost ? "host's memory" : "arena", (long long)size);
}

static void checkStage(const Program &program, const Stage &stage) {
  for (const Stage::Input &entry : stage.inputs) {
    const InputInfo &input = program.inputs.at(entry.index);
    int64_t rows = program.globalBatch / program.batchRanks();
    int64_t elements =
        input.isData() ? multiplySizes(rows, elementCount(input.sampleShape()))
        : input.kind == InputKind::replica ? 1
                                           : elementCount(input.shape);
    checkBuffer(stage, "input", input.name, entry.offset,
                multiplySizes(elements, sizeOf(input.dtype)),
                sizeOf(input.dtype));
  }
  for (const Stage::Parameter &entry : stage.parameters) {
    const ParameterInfo &parameter = program.parameters.at(entry.index);
    auto check = [&](const char *what, const Stage::Place &place,
                     bool mayBeOnHost = true) {
      int64_t bytes = parameter.bytes(program.mesh);
      if (place.shard)
        bytes = place.shard->length / place.shard->countParts(program.mesh) *
                sizeOf(parameter.dtype);
      checkBuffer(stage, what, parameter.name, place.offset, bytes,
                  sizeOf(parameter.dtype), mayBeOnHost);
    };
    check("parameter", entry.place);
    if (entry.gradient)
      check("gradient", *entry.gradient, /*mayBeOnHost=*/false);
    for (const Stage::State &state : entry.state)
      check(state.name.c_str(), state.place);
  }
  checkBuffer(stage, "scalar", "loss", stage.loss, 8, 8);
  checkBuffer(stage, "scalar", "grad_norm", stage.gradientNorm, 8, 8);
  checkBuffer(stage, "scalars", "eval", stage.eval,
              multiplySizes(program.countEvalSums(), 8), 8);
}

/// The element type of an input that does not come from data.
static dtc_dtype dtypeOf(InputKind kind) {
  bool isWhole = kind == InputKind::seed || kind == InputKind::microbatch ||
                 kind == InputKind::replica;
  return isWhole ? DTC_I64 : DTC_F64;
}

static void checkMesh(const Mesh &mesh) {
  int64_t ranks = 1;
  for (const Mesh::Axis &axis : mesh.axes) {
    if (axis.size < 1)
      fail("mesh axis '%s' has size %d", axis.name.c_str(), axis.size);
    ranks *= axis.size;
    if (ranks > std::numeric_limits<int>::max())
      fail("the mesh has more ranks than there can be: %s",
           mesh.describe().c_str());
  }
}

/// Checks that each split dimension exists.
static void checkSplits(const std::string &name,
                        const std::vector<int64_t> &shape,
                        const std::vector<AxisSplit> &splits) {
  for (const AxisSplit &split : splits)
    if (split.dim < 0 || split.dim >= int(shape.size()))
      fail("%s of shape %s is split along dimension %d", name.c_str(),
           formatShape(shape).c_str(), split.dim);
}

static void checkRecord(const RecordInfo &record, int stages) {
  checkSplits("the model's output", record.shape, record.splits);
  if (record.stage < 0 || record.stage >= stages)
    fail("the model's output is on stage %d of %d", record.stage, stages);
  if (record.unpadded.size() != record.shape.size())
    fail("the model's output has shape %s, and %s without padding",
         formatShape(record.shape).c_str(),
         formatShape(record.unpadded).c_str());
}

/// Checks the sums of an evaluation. Every loss has a sum and a count.
static void checkEvalSums(const Program &program) {
  for (const char *name : {"loss", "count"})
    if (program.sizeOfEvalSum(name) != 1)
      fail("an evaluation has no sum '%s' of size 1", name);
  for (const EvalSum &sum : program.evalSums)
    if (sum.size < 1)
      fail("sum '%s' of an evaluation has size %lld", sum.name.c_str(),
           (long long)sum.size);
}

/// Checks the programs between steps. A server needs the one that applies
/// gradients, other workers their average.
static void checkPrograms(const Program &program) {
  for (const ProgramBetweenSteps &entry : program.between) {
    if (entry.period < 0 || entry.turn < 0 ||
        entry.turn >= std::max<int64_t>(entry.period, 1))
      fail("program '%s' has turn %lld of %lld steps", entry.name.c_str(),
           (long long)entry.turn, (long long)entry.period);
  }
  if (program.server && (!program.hasWorkers() || program.countWorkers() < 1))
    fail("there is a server, but no worker");
  if (program.hasWorkers())
    program.findBetween(program.server ? applyProgram : averageProgram);
}

void dtc::rt::checkProgram(const Program &program, uint32_t numStages) {
  checkMesh(program.mesh);
  int stages = program.mesh.sizeOf(stageAxis);
  if (int(numStages) != stages || int(program.stages.size()) != stages)
    fail("found %zu stages and %u step functions, expected %d (mesh axis pp)",
         program.stages.size(), numStages, stages);
  int64_t blocks = multiplySizes(program.microbatches, program.batchRanks());
  if (blocks < 1 || program.globalBatch < 1 || program.globalBatch % blocks)
    fail("global batch %lld is no multiple of %lld blocks (micro-batches x dp)",
         (long long)program.globalBatch, (long long)blocks);
  for (const InputInfo &input : program.inputs) {
    if (input.isData() &&
        (input.shape.empty() || input.shape[0] != program.globalBatch))
      fail("input '%s' has shape %s, expected the global batch %lld as first "
           "dimension",
           input.name.c_str(), formatShape(input.shape).c_str(),
           (long long)program.globalBatch);
    if (!input.isData() && input.dtype != dtypeOf(input.kind))
      fail("input '%s' has type %s, expected %s", input.name.c_str(),
           nameOf(input.dtype), nameOf(dtypeOf(input.kind)));
  }
  for (const ParameterInfo &parameter : program.parameters)
    checkSplits("parameter '" + parameter.name + "'", parameter.shape,
                parameter.splits);
  checkEvalSums(program);
  checkPrograms(program);
  if (program.record)
    checkRecord(*program.record, stages);
  for (const Stage &stage : program.stages)
    checkStage(program, stage);
}
