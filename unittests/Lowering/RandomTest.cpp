//===- RandomTest.cpp - random numbers of compiled kernels ----------------===//
//
// Philox's known answers, each element's number in any part of the tensor, and
// the statistics of many numbers.
//
//===----------------------------------------------------------------------===//

#include "Core/Random.h"
#include "CompiledKernel.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace dtc;

namespace {

/// Compiles functions and runs them.
class RandomTest : public testing::TestWithParam<unsigned> {
protected:
  RandomTest() {
    DialectRegistry registry;
    registry.insert<DTCDialect, func::FuncDialect, arith::ArithDialect,
                    linalg::LinalgDialect, tensor::TensorDialect>();
    registerLinalgLoweringModels(registry);
    context.appendDialectRegistry(registry);
  }

  void compile(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    module->walk([&](func::FuncOp function) {
      function->setAttr("dtc.kernel", UnitAttr::get(&context));
    });
    CpuOptions target = CpuOptions::getHost();
    target.vectorBytes = GetParam();
    kernels = CompiledKernels::create(*module, target);
    ASSERT_TRUE(kernels);
  }

  MLIRContext context;
  std::unique_ptr<CompiledKernels> kernels;
};

/// The expected number of an element.
double getExpected(uint64_t seed, uint64_t step, uint32_t id,
                   uint64_t position) {
  uint64_t block = position / 4;
  rt::PhiloxBlock words = rt::philox(
      {uint32_t(block), uint32_t(step), uint32_t(block >> 32) << 16 | 4, id},
      {uint32_t(seed), uint32_t(seed >> 32)});
  return ((words[position % 4] >> 9) + 0.5) / double(1 << 23);
}

//===----------------------------------------------------------------------===//
// Known answers
//===----------------------------------------------------------------------===//

struct KnownAnswer {
  uint32_t counter[4], key[2], words[4];
};

/// The kat_vectors of Random123 for philox4x32-10.
constexpr KnownAnswer knownAnswers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{~0u, ~0u, ~0u, ~0u},
     {~0u, ~0u},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

/// One block in 4 columns or, with other positions before it, in 12. If the
/// first position is in the code, lanes are known to share blocks. If it is
/// data, each lane is separate.
TEST_P(RandomTest, KnownAnswers) {
  std::string text;
  auto isInCode = [](int form) { return form % 2 == 0; };
  auto countBefore = [](int form) { return form < 2 ? 0 : 8; };
  for (auto [number, known] : llvm::enumerate(knownAnswers))
    for (int form = 0; form < 4; ++form) {
      uint64_t block = known.counter[0] | uint64_t(known.counter[2] >> 16)
                                              << 32;
      int64_t first = int64_t(block * 4) - countBefore(form);
      text += llvm::formatv(R"(
        func.func @known_{0}_{1}(%key: tensor<i64>, %step: tensor<i64>, %first: tensor<i64>) -> tensor<1x{2}xi32> {{
          %e = tensor.empty() : tensor<1x{2}xi32>
          %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>,
                                               affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
                               iterator_types = ["parallel", "parallel"]}
              ins(%key, %step, %first : tensor<i64>, tensor<i64>, tensor<i64>) outs(%e : tensor<1x{2}xi32>) {{
          ^bb0(%k: i64, %s: i64, %f: i64, %out: i32):
            %i = linalg.index 1 : index
            %j = arith.index_cast %i : index to i64
            %c = arith.constant {3} : i64
            %p = arith.addi {4}, %j : i64
            %w = dtc.philox %k, %s, %p {{id = {5} : i64, use = {6} : i64} : (i64, i64, i64) -> i32
            linalg.yield %w : i32
          } -> tensor<1x{2}xi32>
          return %r : tensor<1x{2}xi32>
        })",
                            number, form, 4 + countBefore(form), first,
                            isInCode(form) ? "%c" : "%f", known.counter[3],
                            known.counter[2] & 0xffff);
    }
  ASSERT_NO_FATAL_FAILURE(compile(text));
  for (auto [number, known] : llvm::enumerate(knownAnswers))
    for (int form = 0; form < 4; ++form) {
      uint64_t key = known.key[0] | uint64_t(known.key[1]) << 32;
      uint64_t step = known.counter[1];
      uint64_t block = known.counter[0] | uint64_t(known.counter[2] >> 16)
                                              << 32;
      uint64_t first = block * 4 - countBefore(form);
      std::vector<uint32_t> words(4 + countBefore(form));
      kernels->call(llvm::formatv("known_{0}_{1}", number, form).str(),
                    {&key, &step, &first, words.data()});
      for (int word = 0; word < 4; ++word)
        EXPECT_EQ(words[countBefore(form) + word], known.words[word])
            << "answer " << number << " form " << form;
    }
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Each part has the whole tensor's numbers.
TEST_P(RandomTest, PartsOfTheWhole) {
  constexpr uint64_t seed = 0x123456789abcdef0, step = 3;
  constexpr int id = 7;
  for (const char *type : {"f32", "f64"})
    for (int64_t columns : {1, 6, 8, 33, 64}) {
      // 12 x 3 x 2 columns: dimension 0 in 2 parts of 3, dimension 2 in 2.
      ASSERT_NO_FATAL_FAILURE(compile(llvm::formatv(
          R"(
        func.func @part(%seed: tensor<i64>, %step: tensor<f64>, %a: tensor<1xi64>, %b: tensor<1xi64>, %c: tensor<1xi64>) -> tensor<2x3x{0}x{1}> {{
          %0 = dtc.random_uniform %seed, %step, %a, %b, %c
              {{id = {2} : i64, dims = array<i64: 0, 0, 2>, ways = array<i64: 2, 3, 2>}
              : (tensor<i64>, tensor<f64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x{0}x{1}>
          return %0 : tensor<2x3x{0}x{1}>
        }
        func.func @turned(%seed: tensor<i64>, %step: tensor<f64>) -> tensor<{0}x5x{1}> {{
          %0 = dtc.random_uniform %seed, %step {{id = {2} : i64} : (tensor<i64>, tensor<f64>) -> tensor<5x{0}x{1}>
          %1 = dtc.transpose %0 [1, 0] : (tensor<5x{0}x{1}>) -> tensor<{0}x5x{1}>
          return %1 : tensor<{0}x5x{1}>
        })",
          columns, type, id)));
      auto seedBits = int64_t(seed);
      auto stepNumber = double(step);
      auto read = [&](const std::vector<char> &bytes, int64_t i) {
        return StringRef(type) == "f32"
                   ? double(reinterpret_cast<const float *>(bytes.data())[i])
                   : reinterpret_cast<const double *>(bytes.data())[i];
      };
      for (int64_t part = 0; part < 12; ++part) {
        int64_t a = part / 6, b = part / 2 % 3, c = part % 2;
        std::vector<char> result(size_t(2 * 3 * columns) * 8);
        kernels->call("part",
                      {&seedBits, &stepNumber, &a, &b, &c, result.data()});
        for (int64_t i = 0; i < 2 * 3 * columns; ++i) {
          int64_t sample = (a * 3 + b) * 2 + i / (3 * columns);
          int64_t row = i / columns % 3, column = c * columns + i % columns;
          int64_t position = (sample * 3 + row) * 2 * columns + column;
          ASSERT_EQ(read(result, i), getExpected(seed, step, id, position))
              << type << " " << columns << " columns, part " << part
              << " element " << i;
        }
      }
      std::vector<char> turned(size_t(5 * columns) * 8);
      kernels->call("turned", {&seedBits, &stepNumber, turned.data()});
      for (int64_t i = 0; i < 5 * columns; ++i)
        ASSERT_EQ(read(turned, i),
                  getExpected(seed, step, id, i % 5 * columns + i / 5));
    }
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// The deviation of chi squared in standard deviations of its distribution, by
/// Wilson and Hilferty's transformation.
double getDeviation(ArrayRef<int64_t> counts) {
  double total = 0, chiSquared = 0;
  for (int64_t count : counts)
    total += double(count);
  double expected = total / double(counts.size());
  for (int64_t count : counts)
    chiSquared += (double(count) - expected) * (double(count) - expected);
  chiSquared /= expected;
  double freedom = double(counts.size()) - 1, width = 2 / (9 * freedom);
  return (std::cbrt(chiSquared / freedom) - (1 - width)) / std::sqrt(width);
}

TEST_P(RandomTest, Frequencies) {
  constexpr int64_t size = 1 << 20, bins = 64;
  ASSERT_NO_FATAL_FAILURE(compile(llvm::formatv(R"(
    func.func @draw(%seed: tensor<i64>, %step: tensor<f64>) -> tensor<1024x1024xf32> {{
      %0 = dtc.random_uniform %seed, %step {{id = 0 : i64} : (tensor<i64>, tensor<f64>) -> tensor<1024x1024xf32>
      return %0 : tensor<1024x1024xf32>
    }
    func.func @other(%seed: tensor<i64>, %step: tensor<f64>) -> tensor<1024x1024xf32> {{
      %0 = dtc.random_uniform %seed, %step {{id = 1 : i64} : (tensor<i64>, tensor<f64>) -> tensor<1024x1024xf32>
      return %0 : tensor<1024x1024xf32>
    })")));
  auto draw = [&](const char *name, int64_t seed, double step) {
    std::vector<float> numbers(size);
    kernels->call(name, {&seed, &step, numbers.data()});
    return numbers;
  };
  auto getBin = [&](float x) { return int64_t(x * float(bins)); };
  std::vector<float> numbers = draw("draw", 0, 1);
  constexpr double most = 4;
  {
    std::vector<int64_t> counts(bins);
    for (float x : numbers) {
      ASSERT_TRUE(x > 0 && x < 1);
      ++counts[size_t(getBin(x))];
    }
    EXPECT_LT(std::abs(getDeviation(counts)), most);
  }
  // An element and another: its neighbours in the row, in the block, in the
  // column, and itself under another seed, step and id.
  auto expectIndependent = [&](const std::vector<float> &other, int64_t shift,
                               const char *what) {
    std::vector<int64_t> counts(bins * bins);
    for (int64_t i = 0; i + shift < size; ++i)
      ++counts[size_t(getBin(numbers[size_t(i)]) * bins +
                      getBin(other[size_t(i + shift)]))];
    EXPECT_LT(std::abs(getDeviation(counts)), most) << what;
  };
  expectIndependent(numbers, 1, "next column");
  expectIndependent(numbers, 4, "next block");
  expectIndependent(numbers, 1024, "next sample");
  expectIndependent(draw("draw", 1, 1), 0, "seed");
  expectIndependent(draw("draw", int64_t(1) << 32, 1), 0, "high half of seed");
  expectIndependent(draw("draw", 0, 2), 0, "step");
  expectIndependent(draw("other", 0, 1), 0, "op");
}

INSTANTIATE_TEST_SUITE_P(Vectors, RandomTest, testing::Values(16u, 32u, 64u));

} // namespace
