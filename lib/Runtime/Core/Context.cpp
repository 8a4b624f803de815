//===- Context.cpp - the state of one rank, and the ABI calls -------------===//

#include "Context.h"

#include "Elements.h"
#include "Error.h"
#include "Metrics/FiniteCheck.h"
#include "Training/Predictions.h"
#include "dtc/Runtime/OpABI.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace dtc::rt;

static std::atomic<Collectives *> fatalCollectives = nullptr;
static std::atomic<bool> isEnding = false;
static bool fatalThrows = false;
static WatchHooks watchHooks;

void dtc::rt::setWatchHooks(const WatchHooks &hooks) { watchHooks = hooks; }

bool dtc::rt::claimReport() {
  return !watchHooks.claimReport || watchHooks.claimReport();
}

void dtc::rt::leaveBySignal() {
  if (watchHooks.leaveBySignal)
    watchHooks.leaveBySignal();
}

void dtc::rt::setFatalContext(Collectives *collectives, std::string rankName) {
  fatalCollectives = collectives;
  setLinePrefix(std::move(rankName));
}

void dtc::rt::forgetFatalCollectives() { fatalCollectives = nullptr; }

void dtc::rt::stopIfEnding() {
  while (isEnding)
    pause();
}

void dtc::rt::makeFatalThrow(bool isOn) { fatalThrows = isOn; }

void dtc::rt::fatal(const char *pattern, ...) {
  if (fatalThrows) {
    char text[1024];
    va_list arguments;
    va_start(arguments, pattern);
    vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    throw Error(text);
  }
  if (isEnding.exchange(true)) // one error is enough
    stopIfEnding();
  // One write: lines of several ranks do not mix.
  char line[1024];
  int used = snprintf(line, sizeof line, "%serror: ", linePrefix());
  va_list arguments;
  va_start(arguments, pattern);
  int room = int(sizeof line) - used - 1;
  int length = vsnprintf(line + used, room, pattern, arguments);
  va_end(arguments);
  used += length < room ? length : room - 1;
  line[used++] = '\n';
  if (claimReport())
    (void)!write(STDERR_FILENO, line, used);
  else
    usleep(200000); // who has claimed it writes meanwhile
  if (Collectives *all = fatalCollectives)
    all->abort();
  _Exit(1);
}

dtc_context::dtc_context(const Program &program, Collectives &collectives,
                         Device &device, bool overlaps)
    : program(program), collectives(collectives), device(device),
      overlaps(overlaps) {
  const Mesh &mesh = program.mesh;
  collectives.observe(*this);
  stage = mesh.coordinate(collectives.rank(), stageAxis);
  std::vector<int> where = mesh.coordinates(collectives.rank());
  for (int peer = 0; peer < mesh.sizeOf(stageAxis); ++peer) {
    if (int axis = mesh.find(stageAxis); axis >= 0)
      where[axis] = peer;
    stageRanks.push_back(mesh.rank(where));
  }
}

void dtcrt_run_begin(dtc_context *context, int32_t phase, int32_t microbatch) {
  context->phase = phase;
  context->microbatch = microbatch;
  if (context->trace)
    context->trace->beginRun(phase, microbatch);
}

void dtcrt_run_end(dtc_context *context) {
  context->phase = context->microbatch = -1;
  if (context->trace)
    context->trace->endRun();
}

void dtcrt_record(dtc_context *context, int32_t microbatch, const void *rows,
                  int64_t bytes) {
  if (context->predictions)
    context->predictions->take(microbatch, rows, bytes);
}

void dtcrt_op_begin(dtc_context *context, int32_t op) {
  if (context->trace)
    context->trace->beginOp(op);
  if (context->finiteCheck)
    context->finiteCheck->beginOp(op);
}

void dtcrt_op_result(dtc_context *context, int32_t dtype, const void *result,
                     int64_t count) {
  if (context->finiteCheck)
    context->finiteCheck->look(*context, expectFloat("op_result", dtype),
                               result, count);
}

void dtcrt_op_end(dtc_context *context) {
  if (context->trace)
    context->trace->endOp();
}

dtc_dtype dtc::rt::expectFloat(const char *call, int32_t dtype) {
  if (!dtc::isElementType(dtype) || !isFloat(dtc_dtype(dtype)))
    fatal("%s of element type %d, expected floating point", call, dtype);
  return dtc_dtype(dtype);
}
