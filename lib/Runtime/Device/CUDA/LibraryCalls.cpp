//===- LibraryCalls.cpp - the ABI's calls on a GPU ------------------------===//

#include "Core/Context.h"
#include "CudaDevice.h"

using namespace dtc::rt;

void dtcrt_launch(dtc_context *context, int32_t function, int64_t blocks,
                  int32_t threads, char *const *arguments) {
  deviceOf(context).launch(function, blocks, threads, arguments);
}

void dtcrt_copy(dtc_context *context, void *to, const void *from,
                int64_t bytes) {
  // Either may be memory of the host.
  DTC_CUDA(cuMemcpyAsync(toDevice(to), toDevice(from), size_t(bytes),
                         deviceOf(context).compute()));
}

void dtcrt_fill(dtc_context *context, void *to, int32_t byte, int64_t bytes) {
  DTC_CUDA(cuMemsetD8Async(toDevice(to), (unsigned char)byte, size_t(bytes),
                           deviceOf(context).compute()));
}

void *dtcrt_constant(dtc_context *context, int64_t constant) {
  return deviceOf(context).constant(constant);
}

void dtcrt_matmul(dtc_context *context, int32_t dtype, int32_t transposeA,
                  int32_t transposeB, int32_t result, int64_t batch, int64_t m,
                  int64_t n, int64_t k, const void *a, const void *b, void *c) {
  deviceOf(context).blas().multiply(
      {expectFloat("matmul", dtype), transposeA != 0, transposeB != 0,
       (result & DTC_RESULT_ADDED) != 0, (result & DTC_RESULT_SUMS) != 0,
       Blas::noEpilogue, batch, m, n, k},
      {a, b, c});
}

void dtcrt_matmul_epilogue(dtc_context *context, int32_t dtype,
                           int32_t transposeA, int32_t transposeB,
                           int32_t epilogue, int32_t result, int64_t m,
                           int64_t n, int64_t k, const void *a, const void *b,
                           const void *other, const void *bias, void *c,
                           void *sum, dtc_epilogue_kernel kernel) {
  deviceOf(context).blas().multiply(
      {expectFloat("matmul", dtype), transposeA != 0, transposeB != 0,
       (result & DTC_RESULT_ADDED) != 0, (result & DTC_RESULT_SUMS) != 0,
       epilogue, 1, m, n, k},
      {a, b, c, other, bias, sum, kernel, context});
}
