//===- Context.cpp - the state of one rank, and the ABI calls -------------===//

#include "Context.h"

#include "Device/CPU/Convolution.h"
#include "Device/CPU/Pooling.h"
#include "Elements.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
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
