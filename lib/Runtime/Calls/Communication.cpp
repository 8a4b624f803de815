//===- Communication.cpp - ABI calls of communication ---------------------===//
//
// Puts shares in order, records events of a trace, and calls the engine.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Core/Elements.h"
#include "Core/Fatal.h"
#include "Device/Device.h"
#include "Metrics/GradientNoise.h"
#include "Metrics/Trace.h"
#include "Program/Context.h"

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {

/// The order of shares in the buffers, and the scratch to put them in order.
struct Blocks {
  void *scratch = nullptr;
  int64_t input = 1, output = 1;
};

} // namespace

/// Copies blocks between two orders: [rows][columns] and [columns][rows].
static void swapOrder(Device &device, const void *from, void *to, int64_t rows,
                      int64_t columns, int64_t bytes) {
  for (int64_t row = 0; row < rows; ++row)
    device.copyRows(static_cast<char *>(to) + row * bytes, rows * bytes,
                    static_cast<const char *>(from) + row * columns * bytes,
                    bytes, bytes, columns);
}

static int64_t wholeBytes(dtc_context *context, int group,
                          const Collective &collective) {
  return collective.bytes() *
         countShares(collective.traits(),
                     context->collectives.groupSize(group));
}

static void run(dtc_context *context, int group, Collective collective,
                const Blocks &blocks = {}) {
  Collectives &engine = context->collectives;
  if (context->gradientNoise)
    context->gradientNoise->observe(group, collective);
  TraceSpan span(context->trace, collective.kind, group,
                 wholeBytes(context, group, collective));
  int64_t members = engine.groupSize(group), share = collective.bytes();
  char *scratch = static_cast<char *>(blocks.scratch);
  if (blocks.input > 1) {
    swapOrder(context->device, collective.input, scratch, blocks.input, members,
              share / blocks.input);
    collective.input = scratch;
    scratch += members * share;
  }
  if (blocks.output == 1)
    return engine.run(group, collective);
  void *output = collective.output;
  collective.output = scratch;
  engine.run(group, collective);
  swapOrder(context->device, scratch, output, members, blocks.output,
            share / blocks.output);
}

static void start(dtc_context *context, int group, int slot,
                  const Collective &collective) {
  if (!context->overlaps) // the wait finds nothing to do
    return run(context, group, collective);
  if (context->gradientNoise)
    context->gradientNoise->observe(group, collective);
  if (context->trace)
    context->trace->begin(collective.kind, group,
                          wholeBytes(context, group, collective), slot);
  context->collectives.start(group, slot, collective);
}

static const std::vector<int> &sourcesOf(dtc_context *context, int group,
                                         int permutation) {
  const auto &all = context->program.permutations;
  if (permutation < 0 || size_t(permutation) >= all.size() ||
      int(all[size_t(permutation)].size()) !=
          context->collectives.groupSize(group))
    fatal("collective_permute by permutation %d of %zu, expected one of the %d "
          "members of its group",
          permutation, all.size(), context->collectives.groupSize(group));
  return all[size_t(permutation)];
}

void dtcrt_all_reduce(dtc_context *context, int32_t group, int32_t dtype,
                      int32_t reduction, void *buffer, int64_t count) {
  run(context, group,
      Collective::allReduce(dtc_dtype(dtype), dtc_reduction(reduction), buffer,
                            count));
}

void dtcrt_all_reduce_start(dtc_context *context, int32_t group, int32_t slot,
                            int32_t dtype, int32_t reduction, void *buffer,
                            int64_t count) {
  start(context, group, slot,
        Collective::allReduce(dtc_dtype(dtype), dtc_reduction(reduction),
                              buffer, count));
}

void dtcrt_reduce_scatter(dtc_context *context, int32_t group, int32_t dtype,
                          int32_t reduction, const void *input, void *output,
                          void *scratch, int64_t inputBlocks, int64_t count) {
  run(context, group,
      Collective::reduceScatter(dtc_dtype(dtype), dtc_reduction(reduction),
                                input, output, count),
      {scratch, inputBlocks, 1});
}

void dtcrt_reduce_scatter_start(dtc_context *context, int32_t group,
                                int32_t slot, int32_t dtype, int32_t reduction,
                                const void *input, void *output,
                                int64_t count) {
  start(context, group, slot,
        Collective::reduceScatter(dtc_dtype(dtype), dtc_reduction(reduction),
                                  input, output, count));
}

void dtcrt_all_gather(dtc_context *context, int32_t group, const void *input,
                      void *output, void *scratch, int64_t outputBlocks,
                      int64_t bytes) {
  run(context, group, Collective::allGather(input, output, bytes),
      {scratch, 1, outputBlocks});
}

void dtcrt_all_gather_start(dtc_context *context, int32_t group, int32_t slot,
                            const void *input, void *output, int64_t bytes) {
  start(context, group, slot, Collective::allGather(input, output, bytes));
}

void dtcrt_all_to_all(dtc_context *context, int32_t group, const void *input,
                      void *output, void *scratch, int64_t inputBlocks,
                      int64_t outputBlocks, int64_t bytes) {
  run(context, group, Collective::allToAll(input, output, bytes),
      {scratch, inputBlocks, outputBlocks});
}

void dtcrt_all_to_all_start(dtc_context *context, int32_t group, int32_t slot,
                            const void *input, void *output, int64_t bytes) {
  start(context, group, slot, Collective::allToAll(input, output, bytes));
}

void dtcrt_collective_permute(dtc_context *context, int32_t group,
                              int32_t permutation, const void *input,
                              void *output, int64_t bytes) {
  run(context, group,
      Collective::permute(sourcesOf(context, group, permutation), input, output,
                          bytes));
}

void dtcrt_collective_permute_start(dtc_context *context, int32_t group,
                                    int32_t slot, int32_t permutation,
                                    const void *input, void *output,
                                    int64_t bytes) {
  start(context, group, slot,
        Collective::permute(sourcesOf(context, group, permutation), input,
                            output, bytes));
}

void dtcrt_local_slice(dtc_context *context, int32_t group, const void *input,
                       void *output, int64_t outer, int64_t bytes) {
  Collectives &collectives = context->collectives;
  int64_t members = collectives.groupSize(group);
  const char *own =
      static_cast<const char *>(input) + collectives.groupRank(group) * bytes;
  context->device.copyRows(output, bytes, own, members * bytes, bytes, outer);
}

//===----------------------------------------------------------------------===//
// Messages and waits
//===----------------------------------------------------------------------===//

static int peerOf(dtc_context *context, int32_t stage) {
  if (stage < 0 || size_t(stage) >= context->stageRanks.size() ||
      stage == context->stage)
    fatal("stage %d exchanges data with stage %d of %zu", context->stage, stage,
          context->stageRanks.size());
  return context->stageRanks[stage];
}

void dtcrt_send(dtc_context *context, int32_t stage, int32_t tag, int32_t slot,
                const void *buffer, int64_t bytes) {
  if (context->trace)
    context->trace->begin(TraceEvent::send, stage, bytes, /*microbatch=*/-1,
                          slot);
  context->collectives.send(peerOf(context, stage), tag, slot, buffer, bytes);
}

void dtcrt_recv(dtc_context *context, int32_t stage, int32_t tag, int32_t slot,
                void *buffer, int64_t bytes) {
  if (context->trace)
    context->trace->begin(TraceEvent::recv, stage, bytes, /*microbatch=*/-1,
                          slot);
  context->collectives.recv(peerOf(context, stage), tag, slot, buffer, bytes);
}

void dtcrt_wait(dtc_context *context, int32_t slot) {
  Trace *trace = context->trace;
  int64_t started = trace ? trace->findStarted(slot) : -1;
  if (started < 0)
    return context->collectives.wait(slot);
  int64_t wait = trace->beginWait(started);
  context->collectives.wait(slot);
  trace->end(wait);
  trace->end(started);
}
