//===- RecordedCalls.h - library calls of a plan ----------------*- C++ -*-===//
//
// A diagnosis records the library calls of a plan, and then makes each by
// itself.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_RECORDEDCALLS_H
#define DTC_LIB_RUNTIME_DEVICE_RECORDEDCALLS_H

#include "Program/Context.h"
#include "dtc/Runtime/ABI.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dtc::rt {

/// Operands of a plain product, whose numbers are checked.
struct RecordedProduct {
  dtc_dtype dtype, resultType;
  const void *a, *b, *c;
  int64_t aCount, bCount, cCount, k;
};

struct RecordedCall {
  std::string what;
  bool isKernel = false; ///< of the program; else of a library
  double flops = 0;
  std::optional<RecordedProduct> product;
  std::function<void()> make;
  /// The product and its epilogue as separate calls; empty if there is no
  /// epilogue.
  std::function<void()> makeApart;
  int64_t count = 1; ///< times that the plan makes it
};

/// Calls with different descriptions. Calls that differ in addresses only count
/// as one.
class RecordedCalls {
public:
  void add(RecordedCall call) {
    for (RecordedCall &known : list)
      if (known.what == call.what) {
        ++known.count;
        return;
      }
    list.push_back(std::move(call));
  }
  const std::vector<RecordedCall> &all() const { return list; }

private:
  std::vector<RecordedCall> list;
};

/// Makes a library call, or records it as the RecordedCall that `describe`
/// returns.
template <typename Describe, typename Make>
void makeCall(dtc_context *context, const Describe &describe,
              const Make &make) {
  if (!context->recorded)
    return make();
  RecordedCall call = describe();
  call.make = make;
  context->recorded->add(std::move(call));
}

//===----------------------------------------------------------------------===//
// Names of calls
//===----------------------------------------------------------------------===//

/// "product bf16, 64 x 32 x 16, B transposed"; `more` follows.
RecordedCall describeProduct(int32_t dtype, int32_t transposeA,
                             int32_t transposeB, int32_t result, int64_t batch,
                             int64_t m, int64_t n, int64_t k,
                             const std::string &more = {});
/// "product bf16, 64 rows by 8 matrices of 32 x 16"; `more` follows.
RecordedCall describeGrouped(int32_t dtype, int32_t result, int64_t rows,
                             int64_t matrices, int64_t m, int64_t n,
                             const char *more);
/// "convolution f32, forward, ...".
RecordedCall describeConvolution(int32_t dtype, int32_t role, int32_t result,
                                 int64_t n, int64_t h, int64_t w, int64_t c,
                                 int64_t oh, int64_t ow, int64_t kh, int64_t kw,
                                 int64_t strideH, int64_t strideW,
                                 int64_t dilationH, int64_t dilationW,
                                 int64_t filters, int64_t groups);
/// "attention bf16, 4 x 128 queries, 128 keys, 8 heads of 64".
RecordedCall describeAttention(int32_t dtype, bool isGrad, bool causal,
                               int64_t batch, int64_t rows, int64_t cols,
                               int64_t heads, int64_t groups, int64_t width,
                               int64_t valueWidth, int32_t maskDims);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_RECORDEDCALLS_H
