//===- DeviceKernelTest.cpp - device functions on large tensors -----------===//
//
// Rows that fill a warp, a block, and more than the registers; sums in many
// slices; rows of a table that get many updates. KernelTest has the other
// cases. Also checks that all threads have similar work.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace dtc;

namespace {

struct DeviceCase {
  const char *name, *text;
  double tolerance; ///< relative to a result's largest element
};

// The terms of a cross-entropy cancel, and sums have as many terms as rows.
const DeviceCase cases[] = {
    {"softmax_of_blocks",
     R"(func.func @k(%x: tensor<3x5000xf32>) -> tensor<3x5000xf32> {
       %0 = dtc.softmax %x : (tensor<3x5000xf32>) -> tensor<3x5000xf32>
       return %0 : tensor<3x5000xf32>
     })",
     2e-6},
    {"softmax_in_a_loop",
     R"(func.func @k(%x: tensor<2x50257xf32>) -> tensor<2x50257xf32> {
       %0 = dtc.softmax %x : (tensor<2x50257xf32>) -> tensor<2x50257xf32>
       return %0 : tensor<2x50257xf32>
     })",
     2e-6},
    {"norm_of_odd_rows",
     R"(func.func @k(%x: tensor<5x1023xf32>, %s: tensor<1023xf32>, %b: tensor<1023xf32>)
           -> (tensor<5x1023xf32>, tensor<5x1xf32>, tensor<5x1xf32>) {
       %y, %m, %r = dtc.layer_norm %x, %s, %b {epsilon = 1.0e-5 : f64}
           : (tensor<5x1023xf32>, tensor<1023xf32>, tensor<1023xf32>)
             -> (tensor<5x1023xf32>, tensor<5x1xf32>, tensor<5x1xf32>)
       return %y, %m, %r : tensor<5x1023xf32>, tensor<5x1xf32>, tensor<5x1xf32>
     })",
     2e-6},
    {"sums_over_rows",
     R"(func.func @k(%x: tensor<3001x132xf32>) -> (tensor<3001x132xf32>, tensor<1x132xf32>) {
       %0 = dtc.mul %x, %x : (tensor<3001x132xf32>, tensor<3001x132xf32>) -> tensor<3001x132xf32>
       %1 = dtc.reduce_sum %0 axes [0] : (tensor<3001x132xf32>) -> tensor<1x132xf32>
       return %0, %1 : tensor<3001x132xf32>, tensor<1x132xf32>
     })",
     2e-6},
    {"sums_over_outer_rows",
     R"(func.func @k(%x: tensor<50x7x36xf32>) -> tensor<1x7x36xf32> {
       %0 = dtc.reduce_sum %x axes [0] : (tensor<50x7x36xf32>) -> tensor<1x7x36xf32>
       return %0 : tensor<1x7x36xf32>
     })",
     2e-6},
    // Sums over rows of values that depend on sums of the rows, as in a norm's
    // gradient.
    {"sums_of_norms",
     R"(func.func @k(%x: tensor<700x96xf32>, %g: tensor<700x96xf32>)
           -> (tensor<700x96xf32>, tensor<1x96xf32>, tensor<1x96xf32>) {
       %s = dtc.reduce_sum %g axes [1] : (tensor<700x96xf32>) -> tensor<700x1xf32>
       %0 = dtc.mul %x, %s : (tensor<700x96xf32>, tensor<700x1xf32>) -> tensor<700x96xf32>
       %1 = dtc.reduce_sum %0 axes [0] : (tensor<700x96xf32>) -> tensor<1x96xf32>
       %2 = dtc.reduce_sum %g axes [0] : (tensor<700x96xf32>) -> tensor<1x96xf32>
       return %0, %1, %2 : tensor<700x96xf32>, tensor<1x96xf32>, tensor<1x96xf32>
     })",
     4e-6},
    // Sums by blocks of three warps.
    {"sums_of_norms_by_blocks",
     R"(func.func @k(%x: tensor<2900x768xf32>, %g: tensor<2900x768xf32>, %s: tensor<768xf32>)
           -> (tensor<2900x768xf32>, tensor<1x768xf32>, tensor<1x768xf32>) {
       %0 = dtc.mul %g, %s : (tensor<2900x768xf32>, tensor<768xf32>) -> tensor<2900x768xf32>
       %1 = dtc.reduce_sum %0 axes [1] : (tensor<2900x768xf32>) -> tensor<2900x1xf32>
       %2 = dtc.sub %x, %1 : (tensor<2900x768xf32>, tensor<2900x1xf32>) -> tensor<2900x768xf32>
       %3 = dtc.mul %2, %2 : (tensor<2900x768xf32>, tensor<2900x768xf32>) -> tensor<2900x768xf32>
       %4 = dtc.reduce_sum %3 axes [1] : (tensor<2900x768xf32>) -> tensor<2900x1xf32>
       %5 = dtc.div %2, %4 : (tensor<2900x768xf32>, tensor<2900x1xf32>) -> tensor<2900x768xf32>
       %6 = dtc.reduce_sum %5 axes [0] : (tensor<2900x768xf32>) -> tensor<1x768xf32>
       %7 = dtc.reduce_sum %g axes [0] : (tensor<2900x768xf32>) -> tensor<1x768xf32>
       return %5, %6, %7 : tensor<2900x768xf32>, tensor<1x768xf32>, tensor<1x768xf32>
     })",
     1e-5},
    {"sums_of_long_rows",
     R"(func.func @k(%x: tensor<9x40000xf32>) -> (tensor<9x40000xf32>, tensor<1x40000xf32>) {
       %s = dtc.reduce_sum %x axes [1] : (tensor<9x40000xf32>) -> tensor<9x1xf32>
       %0 = dtc.sub %x, %s : (tensor<9x40000xf32>, tensor<9x1xf32>) -> tensor<9x40000xf32>
       %1 = dtc.reduce_sum %0 axes [0] : (tensor<9x40000xf32>) -> tensor<1x40000xf32>
       return %0, %1 : tensor<9x40000xf32>, tensor<1x40000xf32>
     })",
     4e-6},
    {"total",
     R"(func.func @k(%x: tensor<611x1003xf32>) -> tensor<f64> {
       %0 = dtc.sum_squares %x : (tensor<611x1003xf32>) -> tensor<f64>
       return %0 : tensor<f64>
     })",
     1e-6},
    {"loss_and_gradient",
     R"(func.func @k(%x: tensor<37x2000xf32>, %l: tensor<37xi64> {test.bound = 2000 : i64}, %d: tensor<f64>)
           -> (tensor<f64>, tensor<37x2000xf32>) {
       %0 = dtc.cross_entropy %x, %l : (tensor<37x2000xf32>, tensor<37xi64>) -> tensor<f64>
       %1 = dtc.cross_entropy_grad %x, %l, %d : (tensor<37x2000xf32>, tensor<37xi64>, tensor<f64>) -> tensor<37x2000xf32>
       return %0, %1 : tensor<f64>, tensor<37x2000xf32>
     })",
     4e-6},
    {"loss_and_gradient_in_a_loop",
     R"(func.func @k(%x: tensor<5x24000xf32>, %l: tensor<5xi64> {test.bound = 23990 : i64}, %d: tensor<f64>)
           -> (tensor<f64>, tensor<5x24000xf32>) {
       %0 = dtc.cross_entropy %x, %l {classes = 23990 : i64} : (tensor<5x24000xf32>, tensor<5xi64>) -> tensor<f64>
       %1 = dtc.cross_entropy_grad %x, %l, %d {classes = 23990 : i64} : (tensor<5x24000xf32>, tensor<5xi64>, tensor<f64>) -> tensor<5x24000xf32>
       return %0, %1 : tensor<f64>, tensor<5x24000xf32>
     })",
     4e-6},
    {"many_updates_of_a_row",
     R"(func.func @k(%i: tensor<3x700xi64> {test.bound = 40 : i64}, %u: tensor<3x700x48xf32>) -> tensor<50x48xf32> {
       %0 = dtc.scatter_add %i, %u : (tensor<3x700xi64>, tensor<3x700x48xf32>) -> tensor<50x48xf32>
       return %0 : tensor<50x48xf32>
     })",
     4e-6},
    {"updates_of_wide_rows",
     R"(func.func @k(%i: tensor<40xi32> {test.bound = 5 : i64}, %u: tensor<40x2051xf32>) -> tensor<7x2051xf32> {
       %0 = dtc.scatter_add %i, %u : (tensor<40xi32>, tensor<40x2051xf32>) -> tensor<7x2051xf32>
       return %0 : tensor<7x2051xf32>
     })",
     4e-6},
    // A sort in runs, and two levels of carried sums.
    {"updates_of_frequent_rows",
     R"(func.func @k(%i: tensor<5x401xi64> {test.bound = 50000 : i64, test.frequent}, %u: tensor<5x401x24xf32>) -> tensor<50000x24xf32> {
       %0 = dtc.scatter_add %i, %u : (tensor<5x401xi64>, tensor<5x401x24xf32>) -> tensor<50000x24xf32>
       return %0 : tensor<50000x24xf32>
     })",
     4e-6},
    {"updates_of_one_row",
     R"(func.func @k(%i: tensor<16x256xi64> {test.bound = 1 : i64}, %u: tensor<16x256x24xf32>) -> tensor<30x24xf32> {
       %0 = dtc.scatter_add %i, %u : (tensor<16x256xi64>, tensor<16x256x24xf32>) -> tensor<30x24xf32>
       return %0 : tensor<30x24xf32>
     })",
     4e-6},
    {"updates_of_two_rows",
     R"(func.func @k(%i: tensor<16x255xi64> {test.bound = 2 : i64, test.frequent}, %u: tensor<16x255x24xf32>) -> tensor<2x24xf32> {
       %0 = dtc.scatter_add %i, %u : (tensor<16x255xi64>, tensor<16x255x24xf32>) -> tensor<2x24xf32>
       return %0 : tensor<2x24xf32>
     })",
     4e-6},
    // The gradient of a lookup with a row of padding.
    {"updates_without_padding",
     R"(func.func @k(%i: tensor<7x300xi64> {test.bound = 12 : i64, test.frequent}, %r: tensor<7x300x1xi64> {test.bound = 3 : i64}, %u: tensor<7x300x24xf32>) -> tensor<12x24xf32> {
       %row = dtc.constant dense<0> : tensor<i64> to tensor<i64>
       %zero = dtc.constant dense<0.0> : tensor<7x300x24xf32> to tensor<7x300x24xf32>
       %is = dtc.compare eq %r, %row : (tensor<7x300x1xi64>, tensor<i64>) -> tensor<7x300x1xi1>
       %m = dtc.select %is, %zero, %u : (tensor<7x300x1xi1>, tensor<7x300x24xf32>, tensor<7x300x24xf32>) -> tensor<7x300x24xf32>
       %0 = dtc.scatter_add %i, %m : (tensor<7x300xi64>, tensor<7x300x24xf32>) -> tensor<12x24xf32>
       return %0 : tensor<12x24xf32>
     })",
     4e-6},
    // The part has rows from 40 on. Most updates go to other parts of the
    // table.
    {"updates_of_a_part",
     R"(func.func @k(%i: tensor<2000xi64> {test.bound = 100 : i64}, %u: tensor<2000x24xf32>, %s: tensor<1xi64> {test.value = 40 : i64}) -> tensor<20x24xf32> {
       %0 = dtc.scatter_add %i, %u, %s : (tensor<2000xi64>, tensor<2000x24xf32>, tensor<1xi64>) -> tensor<20x24xf32>
       return %0 : tensor<20x24xf32>
     })",
     4e-6},
    {"updates_of_tables",
     R"(func.func @k(%i: tensor<3x600xi32> {test.bound = 11 : i64, test.frequent}, %u: tensor<3x600x5xf32>) -> tensor<3x11x5xf32> {
       %0 = dtc.scatter_add %i, %u {batch_dims = 1 : i64} : (tensor<3x600xi32>, tensor<3x600x5xf32>) -> tensor<3x11x5xf32>
       return %0 : tensor<3x11x5xf32>
     })",
     4e-6},
    {"updates_of_elements",
     R"(func.func @k(%i: tensor<40x3xi64> {test.bound = 11 : i64}, %u: tensor<40x3xf64>) -> tensor<40x11xf64> {
       %0 = dtc.scatter_add %i, %u {batch_dims = 1 : i64} : (tensor<40x3xi64>, tensor<40x3xf64>) -> tensor<40x11xf64>
       return %0 : tensor<40x11xf64>
     })",
     1e-14},
    {"tensors_of_many_sizes",
     R"(func.func @k(%rate: tensor<f32>, %x0: tensor<1000xf32>, %x1: tensor<1024xf32>, %x2: tensor<40xf32>, %x3: tensor<7xf32>, %x4: tensor<768x33xf32>, %x5: tensor<12288xf32>, %x6: tensor<2x3x4x5xf32>, %x7: tensor<100000xf32>) -> (tensor<1000xf32>, tensor<1024xf32>, tensor<40xf32>, tensor<7xf32>, tensor<768x33xf32>, tensor<12288xf32>, tensor<2x3x4x5xf32>, tensor<100000xf32>, tensor<1xf32>, tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>) {
       %m0 = dtc.mul %x0, %rate : (tensor<1000xf32>, tensor<f32>) -> tensor<1000xf32>
       %t0 = dtc.tanh %m0 : (tensor<1000xf32>) -> tensor<1000xf32>
       %m1 = dtc.mul %x1, %rate : (tensor<1024xf32>, tensor<f32>) -> tensor<1024xf32>
       %t1 = dtc.tanh %m1 : (tensor<1024xf32>) -> tensor<1024xf32>
       %m2 = dtc.mul %x2, %rate : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
       %t2 = dtc.tanh %m2 : (tensor<40xf32>) -> tensor<40xf32>
       %m3 = dtc.mul %x3, %rate : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
       %t3 = dtc.tanh %m3 : (tensor<7xf32>) -> tensor<7xf32>
       %m4 = dtc.mul %x4, %rate : (tensor<768x33xf32>, tensor<f32>) -> tensor<768x33xf32>
       %t4 = dtc.tanh %m4 : (tensor<768x33xf32>) -> tensor<768x33xf32>
       %m5 = dtc.mul %x5, %rate : (tensor<12288xf32>, tensor<f32>) -> tensor<12288xf32>
       %t5 = dtc.tanh %m5 : (tensor<12288xf32>) -> tensor<12288xf32>
       %m6 = dtc.mul %x6, %rate : (tensor<2x3x4x5xf32>, tensor<f32>) -> tensor<2x3x4x5xf32>
       %t6 = dtc.tanh %m6 : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
       %m7 = dtc.mul %x7, %rate : (tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
       %t7 = dtc.tanh %m7 : (tensor<100000xf32>) -> tensor<100000xf32>
       %s2 = dtc.reduce_sum %t2 axes [0] : (tensor<40xf32>) -> tensor<1xf32>
       %s4 = dtc.reduce_sum %t4 axes [0, 1] : (tensor<768x33xf32>) -> tensor<1x1xf32>
       %s5 = dtc.reduce_sum %t5 axes [0] : (tensor<12288xf32>) -> tensor<1xf32>
       %s7 = dtc.reduce_sum %t7 axes [0] : (tensor<100000xf32>) -> tensor<1xf32>
       return %t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7, %s2, %s4, %s5, %s7 : tensor<1000xf32>, tensor<1024xf32>, tensor<40xf32>, tensor<7xf32>, tensor<768x33xf32>, tensor<12288xf32>, tensor<2x3x4x5xf32>, tensor<100000xf32>, tensor<1xf32>, tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
     })",
     4e-6},
    {"transpose_of_images",
     R"(func.func @k(%x: tensor<3x70x45x40xf32>, %b: tensor<40xf32>) -> tensor<3x40x70x45xf32> {
       %0 = dtc.add %x, %b : (tensor<3x70x45x40xf32>, tensor<40xf32>) -> tensor<3x70x45x40xf32>
       %1 = dtc.transpose %0 [0, 3, 1, 2] : (tensor<3x70x45x40xf32>) -> tensor<3x40x70x45xf32>
       return %1 : tensor<3x40x70x45xf32>
     })",
     2e-6},
    // The first two are transposed along different loops. Each order has a
    // result.
    {"transposes_in_a_chain",
     R"(func.func @k(%x: tensor<33x64x50xf32>, %y: tensor<50x64x33xf32>, %z: tensor<64x50x33xf32>) -> (tensor<64x50x33xf32>, tensor<33x64x50xf32>) {
       %0 = dtc.transpose %x [1, 2, 0] : (tensor<33x64x50xf32>) -> tensor<64x50x33xf32>
       %1 = dtc.transpose %y [1, 0, 2] : (tensor<50x64x33xf32>) -> tensor<64x50x33xf32>
       %2 = dtc.mul %0, %1 : (tensor<64x50x33xf32>, tensor<64x50x33xf32>) -> tensor<64x50x33xf32>
       %3 = dtc.sub %2, %z : (tensor<64x50x33xf32>, tensor<64x50x33xf32>) -> tensor<64x50x33xf32>
       %4 = dtc.transpose %z [2, 0, 1] : (tensor<64x50x33xf32>) -> tensor<33x64x50xf32>
       %5 = dtc.add %4, %x : (tensor<33x64x50xf32>, tensor<33x64x50xf32>) -> tensor<33x64x50xf32>
       return %3, %5 : tensor<64x50x33xf32>, tensor<33x64x50xf32>
     })",
     2e-6},
    // Kernels read booleans, and tiles beyond a block's shared memory, in
    // place.
    {"transposes_that_do_not_fit",
     R"(func.func @k(%a: tensor<70x40xf32>, %b: tensor<70x40xf32>, %c: tensor<70x40xf32>, %d: tensor<70x40xf32>, %e: tensor<70x40xf32>, %m: tensor<70x40xi1> {test.bound = 2 : i64}) -> (tensor<40x70xf32>, tensor<40x70xf32>) {
       %at = dtc.transpose %a [1, 0] : (tensor<70x40xf32>) -> tensor<40x70xf32>
       %bt = dtc.transpose %b [1, 0] : (tensor<70x40xf32>) -> tensor<40x70xf32>
       %mt = dtc.transpose %m [1, 0] : (tensor<70x40xi1>) -> tensor<40x70xi1>
       %0 = dtc.select %mt, %at, %bt : (tensor<40x70xi1>, tensor<40x70xf32>, tensor<40x70xf32>) -> tensor<40x70xf32>
       %ct = dtc.transpose %c [1, 0] : (tensor<70x40xf32>) -> tensor<40x70xf32>
       %dt = dtc.transpose %d [1, 0] : (tensor<70x40xf32>) -> tensor<40x70xf32>
       %et = dtc.transpose %e [1, 0] : (tensor<70x40xf32>) -> tensor<40x70xf32>
       %1 = dtc.add %ct, %dt : (tensor<40x70xf32>, tensor<40x70xf32>) -> tensor<40x70xf32>
       %2 = dtc.mul %1, %et : (tensor<40x70xf32>, tensor<40x70xf32>) -> tensor<40x70xf32>
       %3 = dtc.sub %2, %0 : (tensor<40x70xf32>, tensor<40x70xf32>) -> tensor<40x70xf32>
       return %0, %3 : tensor<40x70xf32>, tensor<40x70xf32>
     })",
     2e-6},
    {"many_elements",
     R"(func.func @k(%x: tensor<2200000xf32>) -> tensor<2200000xf32> {
       %0 = dtc.tanh %x : (tensor<2200000xf32>) -> tensor<2200000xf32>
       return %0 : tensor<2200000xf32>
     })",
     2e-6},
};

class DeviceKernel : public testing::TestWithParam<DeviceCase> {};

/// Checks that no thread has much more work than the mean, for any data.
void expectBalance(ArrayRef<CompiledKernels::LaunchWork> launches) {
  double longest = 0, mean = 0;
  for (const CompiledKernels::LaunchWork &launch : launches) {
    longest += launch.longest;
    mean += launch.mean;
  }
  EXPECT_LE(longest, 2 * mean + 64) << "iterations of a thread";
}

std::vector<HostTensor> makeArguments(func::FuncOp function) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> numbers(-3.0, 3.0);
  std::vector<HostTensor> arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    HostTensor &tensor =
        arguments.emplace_back(cast<RankedTensorType>(type).getShape());
    auto bound = function.getArgAttrOfType<IntegerAttr>(i, "test.bound");
    auto value = function.getArgAttrOfType<IntegerAttr>(i, "test.value");
    bool isZipf = function.getArgAttr(i, "test.frequent") != nullptr;
    std::uniform_real_distribution<double> exponents(0.0, 1.0);
    for (double &x : tensor.data) {
      if (value)
        x = double(value.getInt());
      else if (isZipf) // row n about 1 / n as often as row 1
        x = std::floor(std::pow(bound.getInt() + 1, exponents(random))) - 1;
      else
        x = bound ? double(random() % bound.getInt())
                  : double(float(numbers(random)));
    }
  }
  return arguments;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the result of the kernel @k of one argument.
std::vector<double> runOne(StringRef text, const HostTensor &x) {
  DialectRegistry registry;
  registry.insert<DTCDialect, func::FuncDialect>();
  registerLinalgLoweringModels(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(text, &context);
  OwningOpRef<ModuleOp> compiled = module->clone();
  auto kernels = CompiledKernels::create(*compiled, CpuOptions::getHost(),
                                         KernelMachine::gpu);
  auto function = *module->getOps<func::FuncOp>().begin();
  return kernels->run(function, "k", {x})[0].data;
}

/// Rows whose running maximum changes: growing numbers, infinities at the
/// start, and infinities alone.
TEST(DeviceMath, SoftmaxOfLongRows) {
  constexpr int64_t columns = 24000;
  HostTensor x({3, columns});
  for (int64_t i = 0; i < columns; ++i) {
    x.data[i] = float(0.01 * double(i));
    x.data[columns + i] = i < 20000 ? -infinity : 1;
    x.data[2 * columns + i] = -infinity;
  }
  std::vector<double> y = runOne(
      R"(func.func @k(%x: tensor<3x24000xf32>) -> tensor<3x24000xf32> attributes {dtc.kernel} {
           %0 = dtc.softmax %x : (tensor<3x24000xf32>) -> tensor<3x24000xf32>
           return %0 : tensor<3x24000xf32>
         })",
      x);
  for (int64_t i = 0; i < columns; ++i) {
    double expected =
        std::exp(x.data[i] - x.data[columns - 1]) * (1 - std::exp(-0.01));
    ASSERT_NEAR(y[i], expected, 1e-3 * expected + 1e-12) << i;
    ASSERT_FLOAT_EQ(y[columns + i], i < 20000 ? 0 : 1.0 / 4000) << i;
    ASSERT_TRUE(std::isnan(y[2 * columns + i])) << i;
  }
}

/// Numbers whose exponential fits f32, larger ones, infinities and NaN.
TEST(DeviceMath, ExpIsAccurate) {
  constexpr int64_t count = 20000;
  HostTensor x({count});
  for (int64_t i = 0; i < count; ++i)
    x.data[i] = float(-87.3 + (87.3 + 88.7) * double(i) / count);
  x.data[0] = -infinity;
  x.data[1] = infinity;
  x.data[2] = std::nan("");
  x.data[3] = 1e30;
  x.data[4] = -1e30;
  x.data[5] = 88.75; // larger than f32 holds
  std::vector<double> y = runOne(
      R"(func.func @k(%x: tensor<20000xf32>) -> tensor<20000xf32> attributes {dtc.kernel} {
           %0 = dtc.exp %x : (tensor<20000xf32>) -> tensor<20000xf32>
           return %0 : tensor<20000xf32>
         })",
      x);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], infinity);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], infinity);
  EXPECT_EQ(y[4], 0);
  EXPECT_EQ(y[5], infinity);
  for (int64_t i = 6; i < count; ++i) {
    double expected = std::exp(x.data[i]);
    ASSERT_NEAR(y[i], expected, 0x1.8p-23 * expected) << x.data[i];
  }
}

TEST_P(DeviceKernel, AgreesWithReference) {
  const DeviceCase &test = GetParam();
  DialectRegistry registry;
  registry.insert<DTCDialect, func::FuncDialect>();
  registerLinalgLoweringModels(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  auto module = parseSourceString<ModuleOp>(test.text, &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  function->setAttr("dtc.kernel", UnitAttr::get(&context));
  OwningOpRef<ModuleOp> compiled = module->clone();
  auto kernels = CompiledKernels::create(*compiled, CpuOptions::getHost(),
                                         KernelMachine::gpu);
  ASSERT_TRUE(kernels);
  std::vector<HostTensor> arguments = makeArguments(function);
  std::vector<HostTensor> expected = interpret(function, arguments);
  std::vector<HostTensor> found = kernels->run(function, "k", arguments);
  expectBalance(kernels->getWork());
  // Blocks run in another order: the same bits.
  std::vector<HostTensor> again = kernels->run(function, "k", arguments);
  for (unsigned i = 0; i < expected.size(); ++i) {
    double largest = 0;
    for (double x : expected[i].data)
      largest = std::max(largest, std::abs(x));
    for (size_t e = 0; e < expected[i].data.size(); ++e) {
      ASSERT_NEAR(found[i].data[e], expected[i].data[e],
                  test.tolerance * largest)
          << "result " << i << " element " << e;
      ASSERT_EQ(found[i].data[e], again[i].data[e])
          << "result " << i << " element " << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Large, DeviceKernel, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<DeviceCase> &info) {
                           return std::string(info.param.name);
                         });

} // namespace
