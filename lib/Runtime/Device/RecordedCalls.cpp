//===- RecordedCalls.cpp - library calls of a plan, to be tried -----------===//

#include "RecordedCalls.h"

#include "Core/Elements.h"
#include "Core/Error.h"

using namespace dtc::rt;

RecordedCall dtc::rt::describeProduct(int32_t dtype, int32_t transposeA,
                                      int32_t transposeB, int32_t result,
                                      int64_t batch, int64_t m, int64_t n,
                                      int64_t k, const std::string &more) {
  RecordedCall call;
  call.what = format("product %s, ", nameOf(dtc_dtype(dtype)));
  if (batch != 1)
    call.what += format("%lld x ", (long long)batch);
  call.what += format(
      "%lld x %lld x %lld%s%s%s%s%s", (long long)m, (long long)n, (long long)k,
      transposeA ? ", A transposed" : "", transposeB ? ", B transposed" : "",
      result & DTC_RESULT_ADDED ? ", added" : "",
      result & DTC_RESULT_SUMS ? ", to f32" : "", more.c_str());
  call.flops = 2.0 * double(batch) * double(m) * double(n) * double(k);
  return call;
}

RecordedCall dtc::rt::describeGrouped(int32_t dtype, int32_t result,
                                      int64_t rows, int64_t matrices, int64_t m,
                                      int64_t n, const char *more) {
  RecordedCall call;
  call.what = format("product %s, %lld rows by %lld matrices of %lld x %lld"
                     "%s%s%s",
                     nameOf(dtc_dtype(dtype)), (long long)rows,
                     (long long)matrices, (long long)m, (long long)n, more,
                     result & DTC_RESULT_ADDED ? ", added" : "",
                     result & DTC_RESULT_SUMS ? ", to f32" : "");
  call.flops = 2.0 * double(rows) * double(m) * double(n);
  return call;
}

RecordedCall dtc::rt::describeConvolution(int32_t dtype, int32_t role,
                                          int32_t result, int64_t n, int64_t h,
                                          int64_t w, int64_t c, int64_t oh,
                                          int64_t ow, int64_t kh, int64_t kw,
                                          int64_t strideH, int64_t strideW,
                                          int64_t dilationH, int64_t dilationW,
                                          int64_t filters, int64_t groups) {
  const char *name = role == DTC_CONV_FORWARD      ? "forward"
                     : role == DTC_CONV_INPUT_GRAD ? "gradient of images"
                                                   : "gradient of filters";
  RecordedCall call;
  call.what =
      format("convolution %s, %s, %lld x %lld x %lld from %lld channels of "
             "%lld x %lld by %lld filters of %lld x %lld",
             nameOf(dtc_dtype(dtype)), name, (long long)n, (long long)oh,
             (long long)ow, (long long)c, (long long)h, (long long)w,
             (long long)filters, (long long)kh, (long long)kw);
  auto addPair = [&](const char *what, int64_t a, int64_t b) {
    if (a != 1 || b != 1)
      call.what += format(", %s %lld x %lld", what, (long long)a, (long long)b);
  };
  addPair("strides", strideH, strideW);
  addPair("dilations", dilationH, dilationW);
  if (groups != 1)
    call.what += format(" in %lld groups", (long long)groups);
  call.what += result & DTC_RESULT_ADDED ? ", added" : "";
  call.what += result & DTC_RESULT_SUMS ? ", to f32" : "";
  int64_t taps = kh * kw * (c / groups);
  call.flops = 2.0 * double(n * oh * ow) * double(taps) * double(filters);
  return call;
}

RecordedCall dtc::rt::describeAttention(int32_t dtype, bool isGrad, bool causal,
                                        int64_t batch, int64_t rows,
                                        int64_t cols, int64_t heads,
                                        int64_t groups, int64_t width,
                                        int64_t valueWidth, int32_t maskDims) {
  RecordedCall call;
  call.what =
      format("%s %s, %lld x %lld queries, %lld keys, %lld heads of %lld",
             isGrad ? "gradient of attention" : "attention",
             nameOf(dtc_dtype(dtype)), (long long)batch, (long long)rows,
             (long long)cols, (long long)heads, (long long)width);
  if (groups != heads)
    call.what += format(" with keys for %lld", (long long)groups);
  if (valueWidth != width)
    call.what += format(", values of %lld", (long long)valueWidth);
  call.what += causal ? ", causal" : "";
  if (maskDims)
    call.what += format(", mask %d", maskDims);
  double products = isGrad ? 2.5 : 1; // five in place of two
  call.flops = products * 2.0 * double(batch * heads) * double(rows) *
               double(cols) * double(width + valueWidth);
  return call;
}
