//===- Random.h - counter-based random numbers ------------------*- C++ -*-===//
//
// Philox 4x32-10 (Salmon et al., SC 2011). A number depends on the seed and its
// purpose, not on numbers drawn before. So every plan and every rank draws the
// same numbers.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_RANDOM_H
#define DTC_LIB_RUNTIME_CORE_RANDOM_H

#include "dtc/Runtime/ABI.h"

#include <array>
#include <vector>

namespace dtc::rt {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Four random words for one counter under one key.
PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key);

/// The use of a stream; part of its counter, so that no two uses share numbers.
/// 4 are the numbers that kernels draw (`dtc.philox`).
enum class RandomUse : uint32_t {
  parameter = 1,
  input = 2,
  shuffle = 3,
  transform = 5
};

/// The random numbers of one purpose: `use` of item `index` (a parameter, an
/// input, an epoch), and of one `sample` of it.
class RandomStream {
public:
  RandomStream(uint64_t seed, RandomUse use, uint32_t index,
               uint64_t sample = 0);

  /// The words of counter `block`; element e of a stream lies in a block that
  /// only e determines.
  PhiloxBlock block(uint32_t block) const;

  /// Fill elements first .. first + count - 1 of a float tensor; the first of
  /// them is target's first.
  void fillNormal(dtc_dtype dtype, void *target, int64_t count,
                  double deviation, int64_t first = 0) const;

  /// Fill `count` elements of an integer type, element i with 0 ..
  /// bounds[i % bounds.size()] - 1.
  void fillIntegers(dtc_dtype dtype, void *target, int64_t count,
                    const std::vector<int64_t> &bounds) const;

private:
  std::array<uint32_t, 2> key;
  PhiloxBlock counter; ///< word 0 is the block's number
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_RANDOM_H
