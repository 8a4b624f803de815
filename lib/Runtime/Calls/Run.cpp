//===- Run.cpp - ABI calls that say where a plan is -----------------------===//

#include "Core/Elements.h"
#include "Metrics/FiniteCheck.h"
#include "Metrics/Trace.h"
#include "Program/Context.h"
#include "Training/Predictions.h"
#include "dtc/Runtime/OpABI.h"

using namespace dtc::rt;

void dtcrt_run_begin(dtc_context *context, int32_t function,
                     int32_t microbatch) {
  context->function = function;
  context->microbatch = microbatch;
  if (context->trace)
    context->trace->beginRun(function, microbatch);
}

void dtcrt_run_end(dtc_context *context) {
  context->function = context->microbatch = -1;
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
