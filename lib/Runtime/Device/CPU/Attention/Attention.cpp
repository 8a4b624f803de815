//===- Attention.cpp - attention in blocks of queries ---------------------===//

#include "Attention.h"

#include "Core/Elements.h"
#include "Core/Fatal.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

using namespace dtc::rt;

namespace {

/// Rows of a tensor, `stride` elements apart.
template <typename T> struct Rows {
  T *data;
  int64_t stride;
};

/// A thread's memory, in pieces.
struct Pieces {
  char *next;

  template <typename T> T *take(int64_t count) {
    T *piece = reinterpret_cast<T *>(next);
    next += (count * int64_t(sizeof(T)) + 63) / 64 * 64;
    return piece;
  }
};

int64_t roundUp(int64_t count) { return (count + 15) / 16 * 16; }

/// Computes one group of one sample. T is the type of sums, S that of buffers,
/// and P that of products, which is T or S.
template <typename T, typename S, typename P> class GroupAttention {
public:
  /// `library` multiplies if P is not T.
  GroupAttention(MatMul &matmul, OneDnn *library, const AttentionShape &s,
                 const AttentionBuffers &buffers, int64_t index, Pieces pieces,
                 int thread)
      : matmul(matmul), library(library), s(s), buffers(buffers),
        sample(index / s.groups), group(index % s.groups), pieces(pieces),
        thread(thread),
        kernels(std::is_same_v<T, float> ? matmul.rowKernels().scoresF32
                                         : matmul.rowKernels().scoresF64) {
    keys =
        load(at(buffers.keys, s.columns, s.groups, s.width, group), s.columns,
             s.width, s.groups * s.width, takeCopy<P>(s.columns * s.width));
    values = load(at(buffers.values, s.columns, s.groups, s.valueWidth, group),
                  s.columns, s.valueWidth, s.groups * s.valueWidth,
                  takeCopy<P>(s.columns * s.valueWidth));
    int64_t rows = getBlockRows(s), stride = roundUp(s.columns);
    scores = take<T>(rows * stride);
    weights = multipliesSums ? nullptr : take<P>(rows * stride);
    queryCopy = takeCopy<P>(rows * s.width);
    gradientCopy = takeCopy<P>(rows * s.valueWidth);
    widthSums = takeCopy<T>(rows * s.width);
    valueSums = takeCopy<T>(rows * s.valueWidth);
    maskCopy = takeCopy<T>(rows * s.columns);
    shifts = take<T>(rows);
    sums = take<T>(rows);
  }

  /// Bytes that a thread needs, the most of forward and backward.
  static int64_t countBytes(const AttentionShape &s) {
    int64_t rows = getBlockRows(s), stride = roundUp(s.columns);
    int64_t width = s.width + s.valueWidth;
    // Copies of keys and values, and of their gradients.
    int64_t copies = int(!std::is_same_v<P, S>) + int(!std::is_same_v<T, S>);
    int64_t elements =
        copies * s.columns * width + rows * (4 * stride + 2 * width + 2);
    return elements * sizeof(T) + maxPieces * 64;
  }

  void forward(void *result, void *lse) {
    eachBlock([&](int64_t head, int64_t first, int64_t rows) {
      ScoreArguments g = computeScores(head, first, rows);
      kernels.exponentials(g, scores, shifts, sums);
      int64_t wide = s.heads * s.valueWidth;
      S *stored =
          at(result, s.rows, s.heads, s.valueWidth, head) + first * wide;
      Rows<T> out = stage(stored, wide, valueSums, s.valueWidth);
      multiply({rows, s.valueWidth, g.columns, narrow(scores, g), g.stride, 1,
                values.data, values.stride, 1, out.data, out.stride, false});
      T *logs = (T *)lse + (sample * s.heads + head) * s.rows + first;
      for (int64_t i = 0; i < rows; ++i) {
        bool isEmpty = sums[i] == 0;
        T inverse = isEmpty ? T(0) : 1 / sums[i];
        for (int64_t j = 0; j < s.valueWidth; ++j)
          out.data[i * out.stride + j] *= inverse;
        logs[i] = isEmpty ? T(INFINITY) : shifts[i] + std::log(sums[i]);
      }
      store(out, rows, s.valueWidth, stored, wide);
    });
  }

  void backward(const Attention::Gradients &g) {
    S *storedKeys = at(g.dkeys, s.columns, s.groups, s.width, group);
    S *storedValues = at(g.dvalues, s.columns, s.groups, s.valueWidth, group);
    Rows<T> dkeys = stage(storedKeys, s.groups * s.width,
                          takeCopy<T>(s.columns * s.width), s.width);
    Rows<T> dvalues =
        stage(storedValues, s.groups * s.valueWidth,
              takeCopy<T>(s.columns * s.valueWidth), s.valueWidth);
    T *dscores = take<T>(getBlockRows(s) * roundUp(s.columns));
    clear(dkeys, s.width);
    clear(dvalues, s.valueWidth);
    eachBlock([&](int64_t head, int64_t first, int64_t rows) {
      int64_t wide = s.heads * s.width, wideValue = s.heads * s.valueWidth;
      auto block = [&](const void *base) {
        return at(base, s.rows, s.heads, s.valueWidth, head) +
               first * wideValue;
      };
      ScoreArguments scored = computeScores(head, first, rows);
      int64_t columns = scored.columns, stride = scored.stride;
      T *logs = (T *)g.lse + (sample * s.heads + head) * s.rows + first;
      computeWeights(scored, logs);
      sumProducts(block(g.result), block(g.dresult), rows, wideValue);
      Rows<const P> dout =
          load(block(g.dresult), rows, s.valueWidth, wideValue, gradientCopy);
      multiply({columns, s.valueWidth, rows, narrow(scores, scored), 1, stride,
                dout.data, dout.stride, 1, dvalues.data, dvalues.stride, true});
      multiply({rows, columns, s.valueWidth, dout.data, dout.stride, 1,
                values.data, 1, values.stride, dscores, stride, false});
      kernels.gradients(scored, scores, dscores, sums);
      const P *factors = narrow(dscores, scored);
      multiply({columns, s.width, rows, factors, 1, stride, queries.data,
                queries.stride, 1, dkeys.data, dkeys.stride, true});
      S *stored = at(g.dqueries, s.rows, s.heads, s.width, head) + first * wide;
      Rows<T> dqueries = stage(stored, wide, widthSums, s.width);
      multiply({rows, s.width, columns, factors, stride, 1, keys.data,
                keys.stride, 1, dqueries.data, dqueries.stride, false});
      store(dqueries, rows, s.width, stored, wide);
    });
    store(dkeys, s.columns, s.width, storedKeys, s.groups * s.width);
    store(dvalues, s.columns, s.valueWidth, storedValues,
          s.groups * s.valueWidth);
  }

private:
  /// Queries of a block: whole tiles of products, whose scores stay in the
  /// second-level cache. A library's calls cost more, and want larger ones.
  static int64_t getBlockRows(const AttentionShape &s) {
    int64_t rows = s.columns <= 1024 ? 84 : 48;
    if (!multipliesSums)
      rows = s.columns <= 512 ? 256 : 128;
    return std::min(rows, s.rows);
  }

  static constexpr int64_t maxPieces = 16;
  static constexpr bool multipliesSums = std::is_same_v<P, T>;
  static constexpr dtc_dtype computed =
      std::is_same_v<T, float> ? DTC_F32 : DTC_F64;

  template <typename Element> Element *take(int64_t count) {
    return pieces.template take<Element>(count);
  }
  /// Memory for a copy, if buffers hold another type.
  template <typename Element> Element *takeCopy(int64_t count) {
    return std::is_same_v<Element, S> ? nullptr : take<Element>(count);
  }

  /// The first row of a head of this sample, in [batch, rows, heads, width].
  template <typename Void>
  auto at(Void *base, int64_t rows, int64_t heads, int64_t width,
          int64_t head) const {
    using Stored = std::conditional_t<std::is_const_v<Void>, const S, S>;
    return (Stored *)base + (sample * rows * heads + head) * width;
  }

  /// Rows of a buffer, as they are or in `copy`.
  template <typename Element>
  Rows<const Element> load(const S *from, int64_t rows, int64_t width,
                           int64_t stride, Element *copy) const {
    if constexpr (std::is_same_v<Element, S>)
      return {from, stride};
    else
      for (int64_t i = 0; i < rows; ++i)
        convert(s.dtype, from + i * stride, computed, copy + i * width, width);
    return {copy, width};
  }

  /// The memory for rows that `store` puts in place later.
  Rows<T> stage(S *to, int64_t stride, T *copy, int64_t width) const {
    if constexpr (std::is_same_v<T, S>)
      return {to, stride};
    return {copy, width};
  }

  void store(Rows<T> from, int64_t rows, int64_t width, S *to,
             int64_t stride) const {
    if constexpr (!std::is_same_v<T, S>)
      for (int64_t i = 0; i < rows; ++i)
        convert(computed, from.data + i * from.stride, s.dtype, to + i * stride,
                width);
  }

  /// A block's scores as products take them.
  const P *narrow(const T *block, const ScoreArguments &g) const {
    if constexpr (multipliesSums)
      return block;
    else
      matmul.rowKernels().roundToBf16(block, (uint16_t *)weights,
                                      g.rows * g.stride);
    return weights;
  }

  void clear(Rows<T> rows, int64_t width) const {
    for (int64_t i = 0; i < s.columns; ++i)
      std::fill_n(rows.data + i * rows.stride, width, T(0));
  }

  /// The softmax of a block's scores, by the logarithms of its rows' sums. One
  /// that is large, as with masks of large numbers, has lost the sum beside the
  /// largest score: both are computed again.
  void computeWeights(const ScoreArguments &g, T *logs) {
    constexpr T large = 1024;
    if (std::all_of(logs, logs + g.rows,
                    [](T log) { return std::abs(log) < large; }))
      return kernels.exponentials(g, scores, logs, nullptr);
    kernels.exponentials(g, scores, shifts, sums);
    for (int64_t i = 0; i < g.rows; ++i) {
      T inverse = sums[i] == 0 ? T(0) : 1 / sums[i];
      for (int64_t j = 0; j < g.columns; ++j)
        scores[i * g.stride + j] *= inverse;
    }
  }

  /// The sums of a block's rows of x * y.
  void sumProducts(const S *x, const S *y, int64_t rows, int64_t stride) {
#pragma clang fp reassociate(on) // by vectors
    for (int64_t i = 0; i < rows; ++i, x += stride, y += stride) {
      T sum = 0;
      for (int64_t j = 0; j < s.valueWidth; ++j)
        sum += T(x[j]) * T(y[j]);
      sums[i] = sum;
    }
  }

  void multiply(const GemmArguments &product) const {
    if (product.m * product.n * product.k == 0)
      return;
    if constexpr (multipliesSums)
      matmul.multiplyAlone(thread, computed, product);
    else
      library->multiply(product);
  }

  template <typename Body> void eachBlock(const Body &body) {
    int64_t own = s.heads / s.groups, blockRows = getBlockRows(s);
    for (int64_t head = group * own; head < (group + 1) * own; ++head)
      for (int64_t first = 0; first < s.rows; first += blockRows)
        body(head, first, std::min(blockRows, s.rows - first));
  }

  /// Products of a block's queries with the keys that any of these sees.
  ScoreArguments computeScores(int64_t head, int64_t first, int64_t rows) {
    int64_t stride = s.heads * s.width;
    queries = load(at(buffers.queries, s.rows, s.heads, s.width, head) +
                       first * stride,
                   rows, s.width, stride, queryCopy);
    int64_t columns = s.causal ? std::min(first + rows, s.columns) : s.columns;
    Rows<const T> mask = loadMask(head, first, rows);
    ScoreArguments g = {
        rows,    columns,   roundUp(columns), s.causal ? first + 1 : -1,
        s.scale, mask.data, mask.stride};
    multiply({rows, columns, s.width, queries.data, queries.stride, 1,
              keys.data, 1, keys.stride, scores, g.stride, false});
    return g;
  }

  /// The mask that is added to the scores of a block: one row for all if the
  /// stride is 0.
  Rows<const T> loadMask(int64_t head, int64_t first, int64_t rows) const {
    if (!(s.maskDims & DTC_MASK_GIVEN))
      return {nullptr, 0};
    bool isPerRow = s.maskDims & DTC_MASK_QUERIES;
    int64_t number = s.maskDims & DTC_MASK_BATCH ? sample : 0;
    if (s.maskDims & DTC_MASK_HEADS)
      number = number * s.heads + head;
    if (isPerRow)
      number = number * s.rows + first;
    Rows<const T> mask =
        load((const S *)buffers.mask + number * s.columns, isPerRow ? rows : 1,
             s.columns, s.columns, maskCopy);
    return {mask.data, isPerRow ? mask.stride : 0};
  }

  MatMul &matmul;
  OneDnn *library;
  const AttentionShape &s;
  const AttentionBuffers &buffers;
  int64_t sample, group;
  Pieces pieces;
  int thread;
  const ScoreKernels &kernels;
  Rows<const P> keys, values, queries;
  P *weights, *queryCopy, *gradientCopy;
  T *scores, *widthSums, *valueSums, *maskCopy, *shifts, *sums;
};

} // namespace

/// Calls body with values of the types that buffers hold, products are of and
/// sums are kept in.
template <typename Body> static void visit(dtc_dtype dtype, Body body) {
  switch (dtype) {
  case DTC_F64:
    return body(double(), double(), double());
  case DTC_F32:
    return body(float(), float(), float());
  case DTC_BF16:
    return OneDnn::hasBf16() ? body(BFloat16(), BFloat16(), float())
                             : body(BFloat16(), float(), float());
  case DTC_F16:
    return body(Float16(), float(), float());
  default:
    fatal("attention of %s, expected a floating-point type", nameOf(dtype));
  }
}

template <typename Group, typename Body>
void Attention::divide(const AttentionShape &s, const AttentionBuffers &buffers,
                       const Body &body) {
  int64_t groups = s.batch * s.groups;
  int64_t work = s.batch * s.heads * s.rows * s.columns *
                 (s.width + s.valueWidth) / (s.causal ? 2 : 1);
  int count = std::clamp<int64_t>(groups, 1, matmul.threads().worthwhile(work));
  int64_t scratchBytes = (Group::countBytes(s) + 63) / 64 * 64;
  if (!scratch || scratch->size() < scratchBytes * count)
    scratch.emplace(scratchBytes * count);
  while (OneDnn::hasBf16() && libraries.size() < size_t(count))
    libraries.push_back(std::make_unique<OneDnn>());
  Threads::run(count, [&](int thread) {
    OneDnn *library =
        libraries.empty() ? nullptr : libraries[size_t(thread)].get();
    for (int64_t i = groups * thread / count; i < groups * (thread + 1) / count;
         ++i)
      body(Group(matmul, library, s, buffers, i,
                 Pieces{scratch->data() + scratchBytes * thread}, thread));
  });
}

template <typename Body>
void Attention::eachGroup(const AttentionShape &s,
                          const AttentionBuffers &buffers, const Body &body) {
  visit(s.dtype, [&](auto stored, auto factor, auto sum) {
    divide<GroupAttention<decltype(sum), decltype(stored), decltype(factor)>>(
        s, buffers, body);
  });
}

void Attention::forward(const AttentionShape &s,
                        const AttentionBuffers &buffers, void *result,
                        void *lse) {
  eachGroup(s, buffers, [&](auto group) { group.forward(result, lse); });
}

void Attention::backward(const AttentionShape &s,
                         const AttentionBuffers &buffers,
                         const Gradients &gradients) {
  eachGroup(s, buffers, [&](auto group) { group.backward(gradients); });
}
