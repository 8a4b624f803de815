//===- Random.cpp - rules of random numbers -------------------------------===//
//
// Philox 4x32-10: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3,
// SC 2011.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include <array>

using namespace mlir;
using namespace dtc;

static std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0];
    uint64_t b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

static Tensors evaluateRandomUniform(RandomUniformOp op, Operands x) {
  HostTensor y = makeResult(op);
  auto seed = uint64_t(int64_t(x[0].data[0]));
  auto step = uint32_t(int64_t(x[1].data[0]));
  // The start of the result in the whole tensor.
  Index whole(y.shape), start(y.shape.size(), 0);
  for (auto [i, dim] : llvm::enumerate(op.getDims())) {
    int64_t ways = op.getWays()[i];
    start[dim] = start[dim] * ways + int64_t(x[2 + i].data[0]);
    whole[dim] *= ways;
  }
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    uint64_t position = 0;
    for (auto [d, i] : llvm::enumerate(index))
      position = position * whole[d] + start[d] * y.shape[d] + i;
    uint64_t block = position / 4;
    constexpr uint32_t useOfKernels = 4;
    auto words = philox({uint32_t(block), step,
                         uint32_t(block >> 32) << 16 | useOfKernels,
                         uint32_t(op.getId())},
                        {uint32_t(seed), uint32_t(seed >> 32)});
    at(y, index) = ((words[position % 4] >> 9) + 0.5) / double(1 << 23);
  });
  return {y};
}

void dtc::addRandomRules(Rules &rules) { rules.add(evaluateRandomUniform); }
