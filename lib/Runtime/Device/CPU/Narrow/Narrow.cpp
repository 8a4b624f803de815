//===- Narrow.cpp - library calls on f16 and bf16 -------------------------===//

#include "Narrow.h"

#include "Core/Elements.h"
#include "Device/CPU/Convolution/Convolution.h"
#include "Device/CPU/Convolution/Pooling.h"

using namespace dtc::rt;

Narrow::Narrow(MatMul &matmul) : matmul(matmul) {}

float *Narrow::borrow(int copy, int64_t count) {
  std::optional<Mapping> &arena = copies[copy];
  int64_t bytes = std::max<int64_t>(count, 1) * sizeof(float);
  if (!arena || arena->size() < bytes)
    arena.emplace(bytes);
  return reinterpret_cast<float *>(arena->data());
}

float *Narrow::widen(int copy, dtc_dtype dtype, const void *data,
                     int64_t count) {
  float *wide = borrow(copy, count);
  matmul.threads().divide(count, count, [&](int64_t first, int64_t end) {
    convert(dtype, static_cast<const char *>(data) + first * sizeOf(dtype),
            DTC_F32, wide + first, end - first);
  });
  return wide;
}

void Narrow::narrow(dtc_dtype dtype, const float *from, void *to,
                    int64_t count) {
  matmul.threads().divide(count, count, [&](int64_t first, int64_t end) {
    convert(DTC_F32, from + first, dtype,
            static_cast<char *>(to) + first * sizeOf(dtype), end - first);
  });
}

void Narrow::multiply(const MatMulShape &shape, const void *a, const void *b,
                      void *c) {
  auto &[dtype, transposeA, transposeB, accumulate, batch, m, n, k, keepsSums] =
      shape;
  if (dtype == DTC_BF16 && batch * m * n * k > 0 && OneDnn::hasBf16()) {
    if (!library)
      library.emplace();
    return library->multiply(shape, a, b, c);
  }
  MatMulShape wide = shape;
  wide.dtype = DTC_F32;
  float *wideA = widen(0, dtype, a, batch * m * k),
        *wideB = widen(1, dtype, b, batch * k * n);
  if (keepsSums)
    return matmul.run(wide, wideA, wideB, c);
  float *wideC =
      accumulate ? widen(2, dtype, c, batch * m * n) : borrow(2, batch * m * n);
  matmul.run(wide, wideA, wideB, wideC);
  narrow(dtype, wideC, c, batch * m * n);
}

void Narrow::convolve(const ConvolutionShape &shape, void *x, void *weight,
                      void *y, void *scratch) {
  const Windows &w = shape.windows;
  int64_t counts[] = {w.n * w.h * w.w * w.c,
                      shape.filters * w.kh * w.kw *
                          (w.c / std::max<int64_t>(shape.groups, 1)),
                      w.n * w.oh * w.ow * shape.filters};
  bool isEmpty = counts[0] * counts[1] * counts[2] == 0;
  // oneDNN 2.6's threads race here: its sums differ from run to run, or it
  // crashes, if their number is no power of two.
  bool isRace = shape.role == DTC_CONV_WEIGHT_GRAD && w.kh * w.kw == 1 &&
                w.strideH * w.strideW > 1;
  if (shape.dtype == DTC_BF16 && !isEmpty && !isRace && OneDnn::hasBf16()) {
    if (!library)
      library.emplace();
    return library->convolve(shape, x, weight, y);
  }
  void *operands[] = {x, weight, y};
  int result = shape.role == DTC_CONV_FORWARD      ? 2
               : shape.role == DTC_CONV_INPUT_GRAD ? 0
                                                   : 1;
  void *wide[3];
  for (int i = 0; i < 3; ++i)
    wide[i] = i == result && shape.keepsSums ? operands[i]
              : i == result && !shape.accumulate
                  ? borrow(i, counts[i])
                  : widen(i, shape.dtype, operands[i], counts[i]);
  ConvolutionShape wideShape = shape;
  wideShape.dtype = DTC_F32;
  dtc::rt::convolve(matmul, wideShape, wide[0], wide[1], wide[2], scratch);
  if (!shape.keepsSums)
    narrow(shape.dtype, static_cast<float *>(wide[result]), operands[result],
           counts[result]);
}

void Narrow::pool(dtc_dtype dtype, dtc_pool_role role, const Windows &w,
                  const void *x, void *y, void *dx) {
  int64_t images = w.n * w.h * w.w * w.c, positions = w.n * w.oh * w.ow * w.c;
  bool isGrad = role == DTC_POOL_MAX_GRAD || role == DTC_POOL_SUM_GRAD;
  const float *wideX = x ? widen(0, dtype, x, images) : nullptr;
  float *wideY = isGrad ? widen(1, dtype, y, positions) : borrow(1, positions);
  float *wideDx = isGrad ? borrow(2, images) : nullptr;
  dtc::rt::pool(matmul.threads(), DTC_F32, role, w, wideX, wideY, wideDx);
  if (isGrad)
    narrow(dtype, wideDx, dx, images);
  else
    narrow(dtype, wideY, y, positions);
}
