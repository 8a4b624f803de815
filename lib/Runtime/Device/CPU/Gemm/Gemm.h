//===- Gemm.h - packed matrix product without allocation --------*- C++ -*-===//
//
// One blocked matrix product per element type and vector width. Vendor
// libraries allocate in every call, and split the contraction over threads.
// This one gets its memory from the caller, and sums an element of C in the
// same order for any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_GEMM_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_GEMM_H

#include <cstdint>
#include <span>

namespace dtc::rt {

/// C = A B or C += A B. Element (i, p) of A lies at a[i * aRow + p * aCol], so
/// that a transposed operand is one with exchanged strides; of each pair of
/// strides one is 1. C is row-major with rows `ldc` apart.
struct GemmArguments {
  int64_t m, n, k;
  const void *a;
  int64_t aRow, aCol;
  const void *b;
  int64_t bRow, bCol;
  void *c;
  int64_t ldc;
  bool accumulate;
};

/// A run of pixels, all with a window of lines x taps, each channel by itself.
/// Element (p, l, t, c) of the source lies at p * sourcePixel + l * sourceLine
/// + t * sourceTap + c, (l, t, c) of the weights and (p, c) of the target
/// alike.
struct DepthwiseArguments {
  int64_t pixels, lines, taps, channels;
  const void *source;
  int64_t sourcePixel, sourceLine, sourceTap;
  void *weight;
  int64_t weightLine, weightTap;
  void *target;
  int64_t targetPixel;
  bool accumulate; ///< of `sum`
};

struct DepthwiseKernels {
  /// target = or += the sum over l and t of source * weight.
  void (*sum)(const DepthwiseArguments &);
  /// weight += the sum over p of source * target.
  void (*weightGrad)(const DepthwiseArguments &);
};

/// Squares of floats side by side: element (i, j) of square c lies at
/// data[i * line + j * pixel + c].
struct WinogradSquare {
  float *data;
  int64_t line, pixel;
};

/// A part of a matrix for each of 3 x 3 taps, `tap` apart. Its rows, `depth` of
/// them, are `along` apart, its columns `across`; one of these is 1.
struct WinogradWeights {
  const float *data;
  int64_t tap, across, along, width, depth;
  bool isTurned; ///< taps in opposite order
};

/// The transforms of Winograd's F(4 x 4, 3 x 3) for `channels` squares.
struct WinogradKernels {
  /// 6 x 6 of 6 x 6 pixels.
  void (*image)(int64_t channels, const WinogradSquare &from,
                const WinogradSquare &to);
  /// 6 x 6 of 4 x 4 pixels of a result's gradient.
  void (*resultGrad)(int64_t channels, const WinogradSquare &from,
                     const WinogradSquare &to);
  /// 4 x 4 pixels of a result of 6 x 6 products.
  void (*result)(int64_t channels, const WinogradSquare &from,
                 const WinogradSquare &to, bool accumulate);
  /// 3 x 3 weights of 6 x 6 sums.
  void (*weightGrad)(int64_t channels, const WinogradSquare &from,
                     const WinogradSquare &to, bool accumulate);
  /// 6 x 6 panels, `step` apart, in the form of f32Panels, of at most a panel's
  /// columns. `scratch` has room for 9 panels.
  void (*weights)(const WinogradWeights &weights, float *scratch, float *panel,
                  int64_t step);
};

/// Rows of scores, `stride` apart, of which the first `columns` are computed;
/// the stride is a multiple of 16, and what it leaves is free for use.
struct ScoreArguments {
  int64_t rows, columns, stride;
  int64_t causal; ///< row i sees i + causal columns; -1 if all see all
  double scale;
  const void *mask; ///< added after scaling, if any
  int64_t maskStride;
};

struct ScoreKernels {
  /// scores = exp(scale * scores + mask - shift), and 0 for columns that a row
  /// does not see. Without `sums`, the caller gives the shift of each row; with
  /// it, shift becomes the row's largest score.
  void (*exponentials)(const ScoreArguments &, void *scores, void *shifts,
                       void *sums);
  /// gradients = scale * scores * (gradients - deltas), where deltas are one
  /// for each row.
  void (*gradients)(const ScoreArguments &, const void *scores, void *gradients,
                    const void *deltas);
};

/// The instances of one vector width. `scratch` is a packing buffer of
/// gemmScratchBytes, 64-byte aligned; k is at least 1.
struct GemmKernels {
  const char *name;
  void (*f32)(const GemmArguments &, char *scratch);
  void (*f64)(const GemmArguments &, char *scratch);
  /// With B in panels of panelColumns columns, the last filled up: element
  /// (p, j) lies at b[j / panelColumns * bCol + p * panelColumns +
  /// j % panelColumns].
  void (*f32Panels)(const GemmArguments &, char *scratch);
  int64_t panelColumns;
  int64_t tileRows; ///< of the tiles that C is computed in
  int64_t tileColumns(bool isF64) const {
    return isF64 ? panelColumns / 2 : panelColumns;
  }
  WinogradKernels winograd;
  DepthwiseKernels depthwiseF32, depthwiseF64;
  ScoreKernels scoresF32, scoresF64;
  void (*roundToBf16)(const float *from, uint16_t *to, int64_t count);
};

constexpr int64_t gemmScratchBytes = 300 * 2048;
/// The part of the scratch, from its start, that products of at most so many
/// columns use.
constexpr int64_t narrowColumns = 128, narrowScratchBytes = 1 << 19;

extern const GemmKernels gemmKernelsGeneric;
#ifdef __x86_64__
extern const GemmKernels gemmKernelsAvx2;
extern const GemmKernels gemmKernelsAvx512;
#endif

/// The instances that this host can run, the widest first.
std::span<const GemmKernels *const> hostGemmKernels();
/// The instances with the same bits as the widest: all that fuse multiplication
/// and addition, or only the generic one.
std::span<const GemmKernels *const> equalGemmKernels();

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_GEMM_GEMM_H
