//===- Random.cpp - counter-based random numbers --------------------------===//

#include "Random.h"

#include <cmath>

using namespace dtc::rt;

PhiloxBlock dtc::rt::philox(PhiloxBlock c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xD2511F53u) * c[0];
    uint64_t product1 = uint64_t(0xCD9E8D57u) * c[2];
    c = {uint32_t(product1 >> 32) ^ c[1] ^ key[0], uint32_t(product1),
         uint32_t(product0 >> 32) ^ c[3] ^ key[1], uint32_t(product0)};
    key[0] += 0x9E3779B9u; // the golden ratio
    key[1] += 0xBB67AE85u; // the square root of 3, less 1
  }
  return c;
}

/// Counter words: the block, the sample (48 bits are enough: a sample number is
/// steps x batch), the index and the use.
RandomStream::RandomStream(uint64_t seed, RandomUse use, uint32_t index,
                           uint64_t sample)
    : key{uint32_t(seed), uint32_t(seed >> 32)},
      counter{0, uint32_t(sample), uint32_t(sample >> 32) << 16 | uint32_t(use),
              index} {}

PhiloxBlock RandomStream::block(uint32_t block) const {
  return philox({block, counter[1], counter[2], counter[3]}, key);
}

static void store(dtc_dtype dtype, void *target, int64_t index, double value) {
  if (dtype == DTC_F32)
    static_cast<float *>(target)[index] = static_cast<float>(value);
  else
    static_cast<double *>(target)[index] = value;
}

/// In (0, 1).
static double toUnit(uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// Every value is computed in double and rounded once: f32 and f64 programs
/// start from the same numbers.
void RandomStream::fillNormal(dtc_dtype dtype, void *target, int64_t count,
                              double deviation, int64_t first) const {
  for (int64_t i = first / 4 * 4; i < first + count; i += 4) {
    PhiloxBlock words = block(uint32_t(i / 4));
    double values[4];
    for (int pair = 0; pair < 4; pair += 2) { // Box-Muller
      double radius = deviation * std::sqrt(-2 * std::log(toUnit(words[pair])));
      double angle = 2 * M_PI * toUnit(words[pair + 1]);
      values[pair] = radius * std::cos(angle);
      values[pair + 1] = radius * std::sin(angle);
    }
    for (int64_t j = i; j < i + 4; ++j)
      if (j >= first && j < first + count)
        store(dtype, target, j - first, values[j - i]);
  }
}

void RandomStream::fillIntegers(dtc_dtype dtype, void *target, int64_t count,
                                const std::vector<int64_t> &bounds) const {
  for (int64_t i = 0; i < count; i += 2) {
    PhiloxBlock words = block(uint32_t(i / 2));
    for (int64_t j = i; j < i + 2 && j < count; ++j) {
      uint64_t word = words[2 * (j - i)] | uint64_t(words[2 * (j - i) + 1])
                                               << 32;
      uint64_t bound = uint64_t(bounds[size_t(j) % bounds.size()]);
      uint64_t value = uint64_t((unsigned __int128)word * bound >> 64);
      if (dtype == DTC_I64)
        static_cast<int64_t *>(target)[j] = int64_t(value);
      else if (dtype == DTC_I32)
        static_cast<int32_t *>(target)[j] = int32_t(value);
      else
        static_cast<uint8_t *>(target)[j] = uint8_t(value);
    }
  }
}
