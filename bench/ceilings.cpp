//===- ceilings.cpp - peak compute and bandwidth of a machine -------------===//
//
// usage: bench-ceilings THREADS
//
// Prints a line of JSON with two rates of THREADS threads. The first is the
// peak FLOP/s of fused multiply-adds in f32 on registers. The second is the
// bytes/s of a loop with the memory traffic of AdamW: it reads four arrays and
// writes three of them; the arrays exceed the caches. Each is the best of
// several tries.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int tries = 9;

/// The number of independent sums: more than the latency of a multiply-add
/// times the number of units, and at most the number of registers.
constexpr int chains = 12;
constexpr int64_t rounds = 20'000'000;

#define DTC_MULTIPLY_ADD(name, target_, bytes)                                 \
  __attribute__((target(target_))) double name(float factor) {                 \
    typedef float Vector __attribute__((vector_size(bytes)));                  \
    Vector sum[chains] = {};                                                   \
    Vector x = Vector{} + factor;                                              \
    for (int64_t i = 0; i < rounds; ++i)                                       \
      _Pragma("clang loop unroll(full)") for (int c = 0; c < chains; ++c) {    \
        sum[c] = sum[c] * x + x;                                               \
        asm volatile("" : "+v"(sum[c]));                                       \
      }                                                                        \
    float all = 0;                                                             \
    for (const Vector &one : sum)                                              \
      all += one[0];                                                           \
    volatile float sink = all;                                                 \
    (void)sink;                                                                \
    constexpr int64_t lanes = (bytes) / sizeof(float);                         \
    return 2.0 * double(lanes * chains * rounds);                              \
  }

DTC_MULTIPLY_ADD(multiplyAdd512, "avx512f", 64)
DTC_MULTIPLY_ADD(multiplyAdd256, "avx2,fma", 32)
DTC_MULTIPLY_ADD(multiplyAdd128, "sse2", 16)

double multiplyAdd(float factor) {
  if (__builtin_cpu_supports("avx512f"))
    return multiplyAdd512(factor);
  bool hasFma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return hasFma ? multiplyAdd256(factor) : multiplyAdd128(factor);
}

/// The best rate of `body(thread)` on all threads; `body` returns its amount.
template <typename Body> double bestRate(int threads, const Body &body) {
  double best = 0;
  for (int i = 0; i < tries; ++i) {
    std::vector<double> amounts(threads);
    std::vector<std::thread> all;
    all.reserve(threads);
    auto start = std::chrono::steady_clock::now();
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] { amounts[t] = body(t); });
    for (std::thread &one : all)
      one.join();
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    double sum = 0;
    for (double amount : amounts)
      sum += amount;
    best = std::max(best, sum / time.count());
  }
  return best;
}

} // namespace

int main(int argc, char **argv) {
  long threads = argc == 2 ? strtol(argv[1], nullptr, 10) : 0;
  if (threads < 1 || threads > 4096) {
    fprintf(stderr, "usage: bench-ceilings THREADS\n");
    return 2;
  }
  double flops =
      bestRate(int(threads), [&](int) { return multiplyAdd(float(argc) / 4); });

  constexpr size_t count = size_t(1)
                           << 26; // elements of an array of all threads
  std::vector<float> w(count, 1), g(count, 1), m(count, 1), v(count, 1);
  double bytes = bestRate(int(threads), [&](int t) {
    size_t first = count * t / threads, end = count * (t + 1) / threads;
    float *W = w.data(), *M = m.data(), *V = v.data();
    const float *G = g.data();
#pragma clang loop vectorize(assume_safety) interleave_count(2)
    for (size_t i = first; i < end; ++i) {
      M[i] = 0.9f * M[i] + G[i];
      V[i] = 0.9f * V[i] + G[i];
      W[i] = W[i] - M[i] * V[i];
    }
    return 28.0 * double(end - first);
  });
  printf("{\"flops\": %.4g, \"bytes_per_second\": %.4g}\n", flops, bytes);
}
