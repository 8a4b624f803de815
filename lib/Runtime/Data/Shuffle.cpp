//===- Shuffle.cpp - the order of samples ---------------------------------===//

#include "Shuffle.h"

#include "Core/Random.h"

using namespace dtc::rt;

Permutation::Permutation(int64_t size, uint64_t seed, uint32_t epoch)
    : size(size), seed(seed), epoch(epoch), halfBits(1) {
  while (int64_t(1) << (2 * halfBits) < size)
    ++halfBits;
}

int64_t Permutation::operator[](int64_t index) const {
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t value = index;
  // The network permutes at most 4 x size values, so the walk is short; it
  // ends because it returns to `index` at the latest.
  do {
    uint64_t left = value >> halfBits, right = value & mask;
    for (uint32_t round = 0; round < 6; ++round) {
      // A round's function may be anything that depends on `right` and the
      // round only.
      RandomStream keyed(seed, RandomUse::shuffle, epoch, right << 3 | round);
      uint64_t next = left ^ (keyed.block(0)[0] & mask);
      left = right;
      right = next;
    }
    value = left << halfBits | right;
  } while (value >= uint64_t(size));
  return int64_t(value);
}

int64_t SampleOrder::sample(int64_t step, int64_t row) const {
  int64_t position = step % stepsPerEpoch() * batch + row;
  return shuffle ? Permutation(samples, seed, uint32_t(epoch(step)))[position]
                 : position;
}

EvaluationOrder::EvaluationOrder(int64_t samples, int64_t batch)
    : batch(batch), whole(samples / batch) {
  for (int64_t first = whole * batch; first < samples;
       first += rest.back().samples) {
    int64_t number = samples - first;
    while (batch % number != 0)
      --number;
    rest.push_back({first, number});
  }
}

EvaluationOrder::Run EvaluationOrder::run(int64_t index) const {
  return index < whole ? Run{index * batch, batch}
                       : rest[size_t(index - whole)];
}

int64_t EvaluationOrder::sample(int64_t index, int64_t row) const {
  Run own = run(index);
  return own.first + row % own.samples;
}
