//===- LibraryCalls.cpp - the ABI's calls on a GPU ------------------------===//

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Device/CUDA/CudaDevice.h"
#include "Device/Device.h"
#include "Device/RecordedCalls.h"
#include "Program/Context.h"

using namespace dtc::rt;

void dtcrt_launch(dtc_context *context, int32_t function, int64_t blocks,
                  int32_t threads, char *const *arguments) {
  CudaDevice &device = deviceOf(context);
  if (!context->recorded)
    return device.launch(function, blocks, threads, arguments);
  uint32_t count = device.argumentsOf(function);
  std::vector<char *> own(arguments, arguments + count);
  RecordedCall call;
  call.what = format("kernel %s", device.nameOf(function));
  call.isKernel = true;
  call.make = [=, &device, own = std::move(own)] {
    device.launch(function, blocks, threads, own.data());
  };
  context->recorded->add(std::move(call));
}

void dtcrt_copy(dtc_context *context, void *to, const void *from,
                int64_t bytes) {
  if (context->recorded)
    return;
  // Both buffers may be host memory.
  DTC_CUDA(cuMemcpyAsync(toDevice(to), toDevice(from), size_t(bytes),
                         deviceOf(context).compute()));
}

void dtcrt_fill(dtc_context *context, void *to, int32_t byte, int64_t bytes) {
  if (context->recorded)
    return;
  DTC_CUDA(cuMemsetD8Async(toDevice(to), (unsigned char)byte, size_t(bytes),
                           deviceOf(context).compute()));
}

void *dtcrt_constant(dtc_context *context, int64_t constant) {
  return deviceOf(context).constant(constant);
}

void dtcrt_matmul(dtc_context *context, int32_t dtype, int32_t transposeA,
                  int32_t transposeB, int32_t result, int64_t batch, int64_t m,
                  int64_t n, int64_t k, const void *a, const void *b, void *c) {
  ProductShape shape = {expectFloat("matmul", dtype),
                        transposeA != 0,
                        transposeB != 0,
                        (result & DTC_RESULT_ADDED) != 0,
                        (result & DTC_RESULT_SUMS) != 0,
                        Blas::noEpilogue,
                        batch,
                        m,
                        n,
                        k};
  auto describe = [&] {
    RecordedCall call =
        describeProduct(dtype, transposeA, transposeB, result, batch, m, n, k);
    call.product = {shape.dtype,
                    shape.keepsSums ? DTC_F32 : shape.dtype,
                    a,
                    b,
                    c,
                    batch * m * k,
                    batch * k * n,
                    batch * m * n,
                    k};
    return call;
  };
  makeCall(context, describe,
           [=] { deviceOf(context).blas().multiply(shape, {a, b, c}); });
}

void dtcrt_matmul_epilogue(dtc_context *context, int32_t dtype,
                           int32_t transposeA, int32_t transposeB,
                           int32_t epilogue, int32_t result, int64_t m,
                           int64_t n, int64_t k, const void *a, const void *b,
                           const void *other, const void *bias, void *c,
                           void *sum, dtc_epilogue_kernel kernel) {
  ProductShape shape = {expectFloat("matmul", dtype),
                        transposeA != 0,
                        transposeB != 0,
                        (result & DTC_RESULT_ADDED) != 0,
                        (result & DTC_RESULT_SUMS) != 0,
                        epilogue,
                        1,
                        m,
                        n,
                        k};
  auto describe = [&] {
    RecordedCall call = describeProduct(
        dtype, transposeA, transposeB, result, 1, m, n, k,
        Blas::nameOfEpilogue(epilogue) + std::string(bias ? ", bias" : "") +
            (sum && epilogue == DTC_EPILOGUE_GELU ? ", its argument" : ""));
    ProductShape apart = shape;
    apart.isApart = true;
    call.makeApart = [=] {
      deviceOf(context).blas().multiply(
          apart, {a, b, c, other, bias, sum, kernel, context});
    };
    return call;
  };
  makeCall(context, describe, [=] {
    deviceOf(context).blas().multiply(
        shape, {a, b, c, other, bias, sum, kernel, context});
  });
}
