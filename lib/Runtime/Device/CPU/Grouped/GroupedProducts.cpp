//===- GroupedProducts.cpp - products of rows by chosen matrices ----------===//

#include "GroupedProducts.h"

#include "Core/Elements.h"
#include "Core/Fatal.h"
#include "Indices.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

using namespace dtc::rt;

/// Rows of a block of a product: a whole number of the kernel's blocks. Columns
/// of a piece of it: its result stays in the second-level cache.
static constexpr int64_t blockRows = 264, pieceColumns = 1024;
/// Rows of which a piece of a matrix sums the outer products at a time, as deep
/// as the kernel's blocks; rows and columns of such a piece.
static constexpr int64_t depthRows = 512, pieceSize = 512;
/// oneDNN makes a program for each size, so numbers of rows are rounded up.
static constexpr int64_t libraryRows = 32;

/// Rows order[first] to order[first + count - 1].
struct GroupedProducts::Block {
  int64_t matrix, first, count;
};

/// A thread's memory and kernel.
class GroupedProducts::Piece {
public:
  Piece(GroupedProducts &owner, const GroupedShape &s, int thread, char *memory,
        int64_t a, int64_t b)
      : owner(owner), s(s), thread(thread), computed(sumsOf(s.dtype)),
        factor(factorOf(s.dtype)), a(memory), b(this->a + roundUp(a, factor)),
        c(this->b + roundUp(b, factor)) {}

  static dtc_dtype sumsOf(dtc_dtype dtype) {
    return dtype == DTC_F64 ? DTC_F64 : DTC_F32;
  }
  /// The type of products' operands.
  static dtc_dtype factorOf(dtc_dtype dtype) {
    return usesLibrary(dtype) ? DTC_BF16 : sumsOf(dtype);
  }
  static bool usesLibrary(dtc_dtype dtype) {
    return dtype == DTC_BF16 && OneDnn::hasBf16();
  }
  static int64_t roundUp(int64_t elements, dtc_dtype type) {
    return (elements * sizeOf(type) + 63) / 64 * 64;
  }

  /// Rows that a product of a block has, with zeros for those that it lacks.
  int64_t pad(int64_t count) const {
    return usesLibrary(s.dtype) ? ceilDiv(count, libraryRows) * libraryRows
                                : count;
  }
  static dtc_dtype typeOfResult(const GroupedShape &s) {
    return s.keepsSums ? sumsOf(s.dtype) : s.dtype;
  }

  /// Copies elements `column` to `column + width - 1` of a block's rows, each
  /// of `stride` elements.
  void gather(const Block &block, const void *from, int64_t stride,
              int64_t column, int64_t width, char *to) const {
    int64_t rowBytes = width * sizeOf(factor);
    for (int64_t i = 0; i < block.count; ++i)
      copy(s.dtype, from, owner.order[block.first + i] * stride + column,
           factor, to + i * rowBytes, width);
    memset(to + block.count * rowBytes, 0,
           (pad(block.count) - block.count) * rowBytes);
  }

  /// The part of a row-major matrix of the weights, as products take it.
  /// Returns its first element and the distance of its rows.
  std::pair<const char *, int64_t> load(const void *weights, int64_t at,
                                        int64_t stride, int64_t rows,
                                        int64_t columns) const {
    if (factor == s.dtype)
      return {static_cast<const char *>(weights) + at * sizeOf(factor), stride};
    for (int64_t i = 0; i < rows; ++i)
      copy(s.dtype, weights, at + i * stride, factor,
           b + i * columns * sizeOf(factor), columns);
    return {b, columns};
  }

  void multiply(const GemmArguments &product) const {
    if (usesLibrary(s.dtype))
      owner.libraries[size_t(thread)]->multiply(product);
    else
      owner.matmul.multiplyAlone(thread, computed, product);
  }

  /// Copies `count` elements, of which the first is number `at` of `from`.
  static void copy(dtc_dtype fromType, const void *from, int64_t at,
                   dtc_dtype toType, void *to, int64_t count) {
    const char *source =
        static_cast<const char *>(from) + at * sizeOf(fromType);
    if (fromType == toType)
      memcpy(to, source, size_t(count * sizeOf(toType)));
    else
      convert(fromType, source, toType, to, count);
  }

  GroupedProducts &owner;
  const GroupedShape &s;
  int thread;
  dtc_dtype computed, factor;
  char *a, *b, *c;
};

/// Sorts the rows by index; rows of no matrix come last.
void GroupedProducts::sort(const GroupedShape &s, const void *indices) {
  auto matrixOf = [&](int64_t row) {
    return indexOf(s.indexType, indices, row, s.matrices);
  };
  starts.assign(s.matrices + 2, 0);
  order.resize(s.rows);
  for (int64_t row = 0; row < s.rows; ++row)
    ++starts[matrixOf(row) + 1];
  for (int64_t i = 0; i <= s.matrices; ++i)
    starts[i + 1] += starts[i];
  std::vector<int64_t> next = starts;
  for (int64_t row = 0; row < s.rows; ++row)
    order[next[matrixOf(row)]++] = row;
}

std::vector<GroupedProducts::Block>
GroupedProducts::makeBlocks(int64_t matrices, int64_t most) const {
  std::vector<Block> blocks;
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    // Blocks of about one size, so that none is small.
    int64_t first = starts[matrix], count = starts[matrix + 1] - first;
    int64_t parts = ceilDiv(count, most);
    for (int64_t i = 0; i < parts; ++i)
      blocks.push_back({matrix, first + count * i / parts,
                        count * (i + 1) / parts - count * i / parts});
  }
  return blocks;
}

template <typename Body>
void GroupedProducts::divide(const GroupedShape &s, int64_t pieces, int64_t a,
                             int64_t b, int64_t c, const Body &body) {
  int64_t work = s.rows * s.first * s.second;
  int count = std::clamp<int64_t>(pieces, 1, matmul.threads().worthwhile(work));
  dtc_dtype factor = Piece::factorOf(s.dtype);
  int64_t bytes = Piece::roundUp(a, factor) + Piece::roundUp(b, factor) +
                  Piece::roundUp(c, Piece::sumsOf(s.dtype));
  if (!scratch || scratch->size() < bytes * count)
    scratch.emplace(bytes * count);
  while (Piece::usesLibrary(s.dtype) && libraries.size() < size_t(count))
    libraries.push_back(std::make_unique<OneDnn>());
  std::atomic<int64_t> next = 0; // experts have different numbers of rows
  Threads::run(count, [&](int thread) {
    Piece piece(*this, s, thread, scratch->data() + bytes * thread, a, b);
    for (int64_t i; (i = next++) < pieces;)
      body(piece, i);
  });
}

void GroupedProducts::multiply(const GroupedShape &s, const void *rows,
                               const void *weights, const void *indices,
                               void *result) {
  sort(s, indices);
  multiplySorted(s, rows, weights, result);
  int64_t n = s.second;
  dtc_dtype type = Piece::typeOfResult(s);
  std::vector<double> missing(starts[s.matrices] < s.rows ? n : 0, NAN);
  for (int64_t i = starts[s.matrices]; i < s.rows; ++i)
    convert(DTC_F64, missing.data(), type,
            static_cast<char *>(result) + order[i] * n * sizeOf(type), n);
}

void GroupedProducts::sumOuter(const GroupedShape &s, const void *lhs,
                               const void *rhs, const void *indices,
                               void *result) {
  sort(s, indices);
  sumOuterSorted(s, lhs, rhs, result);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Counts are data: whatever they are, a call stays within its slots.
static int64_t countFilled(const ExpertShape &s, const int32_t *counts,
                           int64_t block) {
  return std::clamp<int64_t>(counts[block], 0, s.capacity);
}

/// Takes the slots that are filled as the rows of each matrix.
GroupedShape GroupedProducts::takeSlots(const ExpertShape &s,
                                        const int32_t *counts) {
  starts.assign(1, 0);
  order.clear();
  for (int64_t expert = 0; expert < s.experts; ++expert) {
    for (int64_t i = expert * s.groups; i < (expert + 1) * s.groups; ++i)
      for (int64_t place = 0; place < countFilled(s, counts, i); ++place)
        order.push_back(i * s.capacity + place);
    starts.push_back(int64_t(order.size()));
  }
  return {s.dtype,      DTC_I32,     s.transposeWeights,
          s.accumulate, s.keepsSums, s.experts * s.groups * s.capacity,
          s.experts,    s.first,     s.second};
}

void GroupedProducts::multiplySlots(const ExpertShape &s, const void *slots,
                                    const void *weights, const int32_t *counts,
                                    void *result) {
  GroupedShape shape = takeSlots(s, counts);
  int64_t slotBytes = s.second * sizeOf(Piece::typeOfResult(shape));
  int64_t blocks = s.experts * s.groups;
  matmul.threads().divide(
      blocks, blocks * s.capacity * s.second, [&](int64_t i, int64_t end) {
        for (; i < end; ++i) {
          int64_t filled = countFilled(s, counts, i);
          memset(static_cast<char *>(result) +
                     (i * s.capacity + filled) * slotBytes,
                 0, size_t((s.capacity - filled) * slotBytes));
        }
      });
  multiplySorted(shape, slots, weights, result);
}

void GroupedProducts::sumOuterSlots(const ExpertShape &s, const void *lhs,
                                    const void *rhs, const int32_t *counts,
                                    void *result) {
  sumOuterSorted(takeSlots(s, counts), lhs, rhs, result);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void GroupedProducts::multiplySorted(const GroupedShape &s, const void *rows,
                                     const void *weights, void *result) {
  int64_t k = s.first, n = s.second;
  dtc_dtype type = Piece::typeOfResult(s);
  if (s.accumulate)
    fatal("a grouped product that is added to its result, expected none");
  if (s.rows * n * k == 0) {
    memset(result, 0, size_t(s.rows * n * sizeOf(type)));
    return;
  }
  auto rowOf = [&](int64_t place, int64_t column) {
    return static_cast<char *>(result) +
           (order[place] * n + column) * sizeOf(type);
  };
  std::vector<Block> blocks = makeBlocks(s.matrices, blockRows);
  int64_t width = std::min(n, pieceColumns), parts = ceilDiv(n, width);
  int64_t mostRows = std::min(s.rows, blockRows) + libraryRows;
  bool copiesWeights = Piece::factorOf(s.dtype) != s.dtype;
  divide(s, int64_t(blocks.size()) * parts, mostRows * k,
         copiesWeights ? k * width : 0, mostRows * width,
         [&](const Piece &piece, int64_t index) {
           const Block &block = blocks[index / parts];
           int64_t column = index % parts * width;
           int64_t columns = std::min(width, n - column);
           piece.gather(block, rows, k, 0, k, piece.a);
           bool turned = s.transposeWeights;
           auto [b, stride] = piece.load(
               weights, block.matrix * k * n + column * (turned ? k : 1),
               turned ? k : n, turned ? columns : k, turned ? k : columns);
           piece.multiply({piece.pad(block.count), columns, k, piece.a, k, 1, b,
                           turned ? 1 : stride, turned ? stride : 1, piece.c,
                           columns, false});
           for (int64_t i = 0; i < block.count; ++i)
             Piece::copy(piece.computed, piece.c, i * columns, type,
                         rowOf(block.first + i, column), columns);
         });
}

void GroupedProducts::sumOuterSorted(const GroupedShape &s, const void *lhs,
                                     const void *rhs, void *result) {
  int64_t m = s.first, n = s.second;
  if (s.matrices * m * n == 0)
    return;
  int64_t height = std::min(m, pieceSize), width = std::min(n, pieceSize);
  int64_t rowParts = ceilDiv(m, height), columnParts = ceilDiv(n, width);
  int64_t parts = rowParts * columnParts;
  int64_t depth = std::min(s.rows, depthRows) + libraryRows;
  divide(
      s, s.matrices * parts, depth * height, depth * width, height * width,
      [&](const Piece &piece, int64_t index) {
        int64_t matrix = index / parts, part = index % parts;
        int64_t row = part / columnParts * height;
        int64_t column = part % columnParts * width;
        int64_t rows = std::min(height, m - row);
        int64_t columns = std::min(width, n - column);
        dtc_dtype type = Piece::typeOfResult(s);
        char *target = static_cast<char *>(result) +
                       ((matrix * m + row) * n + column) * sizeOf(type);
        // Sums are in the result itself if it has their type.
        bool isInPlace = type == piece.computed;
        char *sums = isInPlace ? target : piece.c;
        int64_t stride = isInPlace ? n : columns;
        bool isFirst = !s.accumulate;
        if (!isInPlace && s.accumulate)
          for (int64_t i = 0; i < rows; ++i)
            convert(type, target + i * n * sizeOf(type), piece.computed,
                    sums + i * columns * sizeOf(piece.computed), columns);
        for (int64_t first = starts[matrix]; first < starts[matrix + 1];
             first += depthRows, isFirst = false) {
          Block block = {matrix, first,
                         std::min(depthRows, starts[matrix + 1] - first)};
          piece.gather(block, lhs, m, row, rows, piece.a);
          piece.gather(block, rhs, n, column, columns, piece.b);
          piece.multiply({rows, columns, piece.pad(block.count), piece.a, 1,
                          rows, piece.b, columns, 1, sums, stride, !isFirst});
        }
        int64_t sumBytes = sizeOf(piece.computed);
        for (int64_t i = 0; i < rows && isFirst; ++i) // no row has this index
          memset(sums + i * stride * sumBytes, 0, size_t(columns * sumBytes));
        for (int64_t i = 0; i < rows && !isInPlace; ++i)
          convert(piece.computed, sums + i * columns * sumBytes, type,
                  target + i * n * sizeOf(type), columns);
      });
}
