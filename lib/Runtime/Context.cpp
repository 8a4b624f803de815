//===- Context.cpp - the state of one rank, and the ABI calls -------------===//

#include "Context.h"

#include "Convolution.h"
#include "Elements.h"
#include "Pooling.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace dtc::rt;

static Collectives *fatalCollectives;
static std::string fatalName;

void dtc::rt::setFatalContext(Collectives *collectives, std::string rankName) {
  fatalCollectives = collectives;
  fatalName = std::move(rankName);
}

void dtc::rt::fatal(const char *pattern, ...) {
  // One write: lines of several ranks do not mix.
  char line[1024];
  int used = snprintf(line, sizeof line, "%serror: ", fatalName.c_str());
  va_list arguments;
  va_start(arguments, pattern);
  int room = int(sizeof line) - used - 1;
  int length = vsnprintf(line + used, room, pattern, arguments);
  va_end(arguments);
  used += length < room ? length : room - 1;
  line[used++] = '\n';
  (void)!write(STDERR_FILENO, line, used);
  if (fatalCollectives)
    fatalCollectives->abort();
  _Exit(1);
}

dtc_context::dtc_context(const Program &program, Collectives &collectives,
                         MatMulEngine engine, int threads, bool overlaps)
    : program(program), collectives(collectives), matmul(engine, threads),
      overlaps(overlaps) {
  const Mesh &mesh = program.mesh;
  stage = mesh.coordinate(collectives.rank(), stageAxis);
  std::vector<int> where = mesh.coordinates(collectives.rank());
  for (int peer = 0; peer < mesh.sizeOf(stageAxis); ++peer) {
    if (int axis = mesh.find(stageAxis); axis >= 0)
      where[axis] = peer;
    stageRanks.push_back(mesh.rank(where));
  }
}

static int peerOf(dtc_context *context, int32_t stage) {
  if (stage < 0 || size_t(stage) >= context->stageRanks.size() ||
      stage == context->stage)
    fatal("stage %d exchanges data with stage %d of %zu", context->stage, stage,
          context->stageRanks.size());
  return context->stageRanks[stage];
}

void dtcrt_run_begin(dtc_context *context, int32_t phase, int32_t microbatch) {
  if (context->trace)
    context->trace->beginRun(phase, microbatch);
}

void dtcrt_run_end(dtc_context *context) {
  if (context->trace)
    context->trace->endRun();
}

static dtc_dtype expectFloat(const char *call, int32_t dtype) {
  if (!dtc::isElementType(dtype) || !isFloat(dtc_dtype(dtype)))
    fatal("%s of element type %d, expected floating point", call, dtype);
  return dtc_dtype(dtype);
}

static bool isNarrow(dtc_dtype dtype) { return sizeOf(dtype) == 2; }

void dtcrt_matmul(dtc_context *context, int32_t dtype, int32_t transposeA,
                  int32_t transposeB, int32_t result, int64_t batch, int64_t m,
                  int64_t n, int64_t k, const void *a, const void *b, void *c) {
  context->collectives.poll();
  MatMulShape shape = {expectFloat("matmul", dtype),
                       transposeA != 0,
                       transposeB != 0,
                       (result & DTC_RESULT_ADDED) != 0,
                       batch,
                       m,
                       n,
                       k,
                       (result & DTC_RESULT_SUMS) != 0};
  if (isNarrow(shape.dtype))
    context->narrow.multiply(shape, a, b, c);
  else
    context->matmul.run(shape, a, b, c);
}

void dtcrt_conv2d(dtc_context *context, int32_t dtype, int32_t role,
                  int32_t result, int64_t n, int64_t h, int64_t w, int64_t c,
                  int64_t oh, int64_t ow, int64_t kh, int64_t kw,
                  int64_t strideH, int64_t strideW, int64_t padTop,
                  int64_t padLeft, int64_t dilationH, int64_t dilationW,
                  int64_t filters, int64_t groups, void *x, void *weight,
                  void *y, void *scratch) {
  context->collectives.poll();
  ConvolutionShape shape = {expectFloat("conv2d", dtype),
                            dtc_conv_role(role),
                            (result & DTC_RESULT_ADDED) != 0,
                            {n, h, w, c, oh, ow, kh, kw, strideH, strideW,
                             padTop, padLeft, dilationH, dilationW},
                            filters,
                            groups,
                            (result & DTC_RESULT_SUMS) != 0};
  if (isNarrow(shape.dtype))
    context->narrow.convolve(shape, x, weight, y, scratch);
  else
    convolve(context->matmul, shape, x, weight, y, scratch);
}

void dtcrt_pool2d(dtc_context *context, int32_t dtype, int32_t role, int64_t n,
                  int64_t h, int64_t w, int64_t c, int64_t oh, int64_t ow,
                  int64_t kh, int64_t kw, int64_t strideH, int64_t strideW,
                  int64_t padTop, int64_t padLeft, int64_t dilationH,
                  int64_t dilationW, const void *x, void *y, void *dx) {
  context->collectives.poll();
  dtc_dtype type = expectFloat("pool2d", dtype);
  Windows windows = {n,      h,       w,         c,        oh,
                     ow,     kh,      kw,        strideH,  strideW,
                     padTop, padLeft, dilationH, dilationW};
  auto poolRole = dtc_pool_role(role);
  if (isNarrow(type))
    context->narrow.pool(type, poolRole, windows, x, y, dx);
  else
    pool(context->matmul.threads(), type, poolRole, windows, x, y, dx);
}

/// Records what is under way until the wait of its slot.
static void recordStart(dtc_context *context, TraceEvent::Kind kind,
                        int32_t subject, int64_t bytes, int32_t slot) {
  if (context->trace)
    context->trace->begin(kind, subject, bytes, /*microbatch=*/-1, slot);
}

void dtcrt_all_reduce(dtc_context *context, int32_t group, int32_t dtype,
                      int32_t reduction, void *buffer, int64_t count) {
  TraceSpan span(context->trace, TraceEvent::allReduce, group,
                 count * sizeOf(dtc_dtype(dtype)));
  context->collectives.allReduce(group, dtc_dtype(dtype),
                                 dtc_reduction(reduction), buffer, count);
}

void dtcrt_all_reduce_start(dtc_context *context, int32_t group, int32_t slot,
                            int32_t dtype, int32_t reduction, void *buffer,
                            int64_t count) {
  if (!context->overlaps) // the wait finds nothing to do
    return dtcrt_all_reduce(context, group, dtype, reduction, buffer, count);
  recordStart(context, TraceEvent::allReduce, group,
              count * sizeOf(dtc_dtype(dtype)), slot);
  context->collectives.startAllReduce(group, slot, dtc_dtype(dtype),
                                      dtc_reduction(reduction), buffer, count);
}

/// Copies blocks between two orders: [outer][members] and [members][outer].
static void swapOrder(const char *from, char *to, int64_t rows, int64_t columns,
                      int64_t bytes) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      memcpy(to + (column * rows + row) * bytes,
             from + (row * columns + column) * bytes, bytes);
}

void dtcrt_all_gather(dtc_context *context, int32_t group, const void *input,
                      void *output, void *scratch, int64_t outer,
                      int64_t bytes) {
  Collectives &collectives = context->collectives;
  TraceSpan span(context->trace, TraceEvent::allGather, group,
                 collectives.groupSize(group) * outer * bytes);
  if (outer == 1)
    return collectives.allGather(group, input, output, bytes);
  collectives.allGather(group, input, scratch, outer * bytes);
  swapOrder(static_cast<char *>(scratch), static_cast<char *>(output),
            collectives.groupSize(group), outer, bytes);
}

void dtcrt_all_gather_start(dtc_context *context, int32_t group, int32_t slot,
                            const void *input, void *output, int64_t bytes) {
  if (!context->overlaps)
    return dtcrt_all_gather(context, group, input, output, /*scratch=*/nullptr,
                            /*outer=*/1, bytes);
  recordStart(context, TraceEvent::allGather, group,
              context->collectives.groupSize(group) * bytes, slot);
  context->collectives.startAllGather(group, slot, input, output, bytes);
}

void dtcrt_reduce_scatter(dtc_context *context, int32_t group, int32_t dtype,
                          int32_t reduction, const void *input, void *output,
                          void *scratch, int64_t outer, int64_t count) {
  Collectives &collectives = context->collectives;
  TraceSpan span(context->trace, TraceEvent::reduceScatter, group,
                 collectives.groupSize(group) * outer * count *
                     sizeOf(dtc_dtype(dtype)));
  if (outer > 1) {
    swapOrder(static_cast<const char *>(input), static_cast<char *>(scratch),
              outer, collectives.groupSize(group),
              count * sizeOf(dtc_dtype(dtype)));
    input = scratch;
  }
  collectives.reduceScatter(group, dtc_dtype(dtype), dtc_reduction(reduction),
                            input, output, outer * count);
}

void dtcrt_reduce_scatter_start(dtc_context *context, int32_t group,
                                int32_t slot, int32_t dtype, int32_t reduction,
                                const void *input, void *output,
                                int64_t count) {
  if (!context->overlaps)
    return dtcrt_reduce_scatter(context, group, dtype, reduction, input, output,
                                /*scratch=*/nullptr, /*outer=*/1, count);
  recordStart(context, TraceEvent::reduceScatter, group,
              context->collectives.groupSize(group) * count *
                  sizeOf(dtc_dtype(dtype)),
              slot);
  context->collectives.startReduceScatter(group, slot, dtc_dtype(dtype),
                                          dtc_reduction(reduction), input,
                                          output, count);
}

void dtcrt_local_slice(dtc_context *context, int32_t group, const void *input,
                       void *output, int64_t outer, int64_t bytes) {
  Collectives &collectives = context->collectives;
  int64_t members = collectives.groupSize(group);
  const char *own =
      static_cast<const char *>(input) + collectives.groupRank(group) * bytes;
  for (int64_t i = 0; i < outer; ++i)
    memcpy(static_cast<char *>(output) + i * bytes, own + i * members * bytes,
           bytes);
}

void dtcrt_send(dtc_context *context, int32_t stage, int32_t tag, int32_t slot,
                const void *buffer, int64_t bytes) {
  recordStart(context, TraceEvent::send, stage, bytes, slot);
  context->collectives.send(peerOf(context, stage), tag, slot, buffer, bytes);
}

void dtcrt_recv(dtc_context *context, int32_t stage, int32_t tag, void *buffer,
                int64_t bytes) {
  TraceSpan span(context->trace, TraceEvent::recv, stage, bytes);
  context->collectives.recv(peerOf(context, stage), tag, buffer, bytes);
}

static TraceEvent::Kind waitFor(TraceEvent::Kind started) {
  switch (started) {
  case TraceEvent::allReduce:
    return TraceEvent::waitForAllReduce;
  case TraceEvent::reduceScatter:
    return TraceEvent::waitForReduceScatter;
  case TraceEvent::allGather:
    return TraceEvent::waitForAllGather;
  default:
    return TraceEvent::waitForSend;
  }
}

void dtcrt_wait(dtc_context *context, int32_t slot) {
  Trace *trace = context->trace;
  int64_t started = trace ? trace->findStarted(slot) : -1;
  if (started < 0)
    return context->collectives.wait(slot);
  const TraceEvent &event = (*trace)[started];
  {
    TraceSpan span(trace, waitFor(event.kind), event.subject, event.bytes);
    context->collectives.wait(slot);
  }
  trace->end(started);
}
