//===- TopK.cpp - elements of largest magnitude ---------------------------===//
//
// The bits of magnitudes have the order of the magnitudes, with NaN above
// infinity. A radix search finds the k-th largest, digit by digit. Each thread
// counts the digits of a range of the row, and writes the indices of its range.
//
//===----------------------------------------------------------------------===//

#include "TopK.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

using namespace dtc::rt;

namespace {

constexpr int digitBits = 8;
using Counts = std::array<int64_t, 1 << digitBits>;

template <typename T> class RowSelection {
public:
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

  RowSelection(const Threads &threads, const T *x, int64_t size, int64_t k,
               int32_t *indices)
      : x(x), size(size), k(k), indices(indices),
        parts(int(std::clamp<int64_t>(size, 1, threads.worthwhile(size)))),
        counts(parts) {}

  void run() {
    findThreshold();
    writeIndices();
  }

private:
  Bits magnitude(int64_t i) const {
    Bits bits;
    memcpy(&bits, x + i, sizeof bits);
    return bits & (Bits(~Bits(0)) >> 1);
  }
  int64_t begin(int part) const { return size * part / parts; }

  /// Counts the next digits of the elements that begin as the threshold.
  void count(int shift, Bits known) {
    Threads::run(parts, [&](int part) {
      Counts &own = counts[part];
      own.fill(0);
      for (int64_t i = begin(part), end = begin(part + 1); i < end; ++i) {
        Bits bits = magnitude(i);
        if ((bits & known) == threshold)
          ++own[(bits >> shift) & (own.size() - 1)];
      }
    });
  }

  void findThreshold() {
    left = k;
    Bits known = 0;
    for (int shift = int(sizeof(Bits)) * 8 - digitBits; shift >= 0;
         shift -= digitBits) {
      count(shift, known);
      size_t digit = counts.front().size();
      int64_t equal = 0;
      do {
        left -= equal;
        --digit;
        equal = 0;
        for (const Counts &own : counts)
          equal += own[digit];
      } while (equal < left);
      threshold |= Bits(digit) << shift;
      known |= Bits(counts.front().size() - 1) << shift;
    }
  }

  void writeIndices() {
    std::vector<int64_t> above(parts + 1), equal(parts + 1);
    Threads::run(parts, [&](int part) {
      int64_t numAbove = 0, numEqual = 0;
      for (int64_t i = begin(part), end = begin(part + 1); i < end; ++i) {
        Bits bits = magnitude(i);
        numAbove += bits > threshold;
        numEqual += bits == threshold;
      }
      above[part + 1] = numAbove;
      equal[part + 1] = numEqual;
    });
    for (int part = 0; part < parts; ++part) {
      above[part + 1] += above[part];
      equal[part + 1] += equal[part];
    }
    Threads::run(parts, [&](int part) {
      int64_t taken = std::min(equal[part], left); // of equal magnitudes
      int32_t *to = indices + above[part] + taken;
      for (int64_t i = begin(part), end = begin(part + 1); i < end; ++i) {
        Bits bits = magnitude(i);
        bool isTaken = bits > threshold;
        if (bits == threshold && taken < left) {
          isTaken = true;
          ++taken;
        }
        if (isTaken)
          *to++ = int32_t(i);
      }
    });
  }

  const T *x;
  int64_t size, k;
  int32_t *indices;
  int parts;
  std::vector<Counts> counts; ///< by part
  Bits threshold = 0;         ///< the k-th largest magnitude
  int64_t left = 0;           ///< elements of that magnitude to take
};

template <typename T>
void selectRows(const Threads &threads, int64_t rows, int64_t columns,
                int64_t k, const void *x, int32_t *indices) {
  for (int64_t row = 0; row < rows; ++row)
    RowSelection<T>(threads, static_cast<const T *>(x) + row * columns, columns,
                    k, indices + row * k)
        .run();
}

} // namespace

void dtc::rt::selectLargest(const Threads &threads, dtc_dtype dtype,
                            int64_t rows, int64_t columns, int64_t k,
                            const void *x, int32_t *indices) {
  if (dtype == DTC_F64)
    selectRows<double>(threads, rows, columns, k, x, indices);
  else
    selectRows<float>(threads, rows, columns, k, x, indices);
}
