//===- KernelTest.cpp - compiled kernels against a reference --------------===//
//
// Every op of a kernel, alone and fused, for sizes that do and do not fill
// vectors, in single and in double precision.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"
#include "KernelBuffer.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace dtc;

namespace {

struct KernelCase {
  const char *name;
  /// A function's arguments, results and body, in which T is an element type, C
  /// the number of columns and D twice that. An argument with a bound holds
  /// indices below it. `positive` makes an argument positive.
  const char *text;
};

const KernelCase cases[] = {
#include "KernelCases.inc"
};

constexpr int64_t columnCounts[] = {1, 7, 8, 33, 128, 129};

std::string instantiate(StringRef text, StringRef type, int64_t columns) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    // Placeholders are $T, $C, $D.
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    switch (text[++i]) {
    case 'T':
      result += type;
      break;
    case 'C':
      result += std::to_string(columns);
      break;
    case 'D':
      result += std::to_string(2 * columns);
      break;
    default:
      llvm_unreachable("a case has $T, $C and $D only");
    }
  }
  return result;
}

HostTensor makeArgument(func::FuncOp function, unsigned i,
                        std::mt19937 &random) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
  HostTensor tensor(type.getShape());
  auto bound = function.getArgAttrOfType<IntegerAttr>(i, "test.bound");
  auto value = function.getArgAttrOfType<FloatAttr>(i, "test.value");
  bool positive = function.getArgAttr(i, "test.positive") != nullptr;
  Type element = type.getElementType();
  std::uniform_real_distribution<double> numbers(positive ? 0.1 : -3.0, 3.0);
  for (double &x : tensor.data) {
    if (value)
      x = value.getValueAsDouble();
    else if (bound)
      x = double(random() % bound.getInt());
    else if (element.isInteger(1))
      x = double(random() % 2);
    else if (isa<IntegerType>(element))
      x = double(int64_t(random() % 9) - 4);
    else
      x = numbers(random);
    if (element.isF32())
      x = double(float(x));
  }
  return tensor;
}

class KernelTest
    : public testing::TestWithParam<std::tuple<const char *, unsigned>> {};

constexpr unsigned onGpu = 0; ///< instead of the bytes of a vector

/// Runs one function and compares all its results.
void check(func::FuncOp function, StringRef name, CompiledKernels &kernels) {
  std::mt19937 random(7);
  std::vector<HostTensor> arguments;
  arguments.reserve(function.getNumArguments());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(makeArgument(function, i, random));
  std::vector<HostTensor> found = kernels.run(function, name, arguments);
  std::vector<HostTensor> expected = interpret(function, arguments);
  bool isSingle = llvm::any_of(function.getArgumentTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isF32();
  });
  for (unsigned i = 0; i < expected.size(); ++i) {
    double largest = 0;
    for (double x : expected[i].data)
      largest = std::max(largest, std::abs(x));
    double tolerance = (isSingle ? 2e-6 : 1e-13) * std::max(largest, 1.0);
    for (size_t e = 0; e < expected[i].data.size(); ++e)
      ASSERT_NEAR(found[i].data[e], expected[i].data[e], tolerance)
          << name.str() << " result " << i << " element " << e;
  }
}

TEST_P(KernelTest, AgreesWithReference) {
  auto [type, vectorBytes] = GetParam();
  DialectRegistry registry;
  registry.insert<DTCDialect, func::FuncDialect>();
  registerLinalgLoweringModels(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  std::string text;
  for (const KernelCase &kernel : cases)
    for (int64_t columns : columnCounts)
      text += "func.func @" + std::string(kernel.name) + "_" +
              std::to_string(columns) + instantiate(kernel.text, type, columns);
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  module->walk([&](func::FuncOp function) {
    function->setAttr("dtc.kernel", UnitAttr::get(&context));
  });
  OwningOpRef<ModuleOp> compiled = module->clone();
  CpuOptions target = CpuOptions::getHost();
  if (vectorBytes != onGpu)
    target.vectorBytes = vectorBytes;
  auto kernels = CompiledKernels::create(
      *compiled, target,
      vectorBytes == onGpu ? KernelMachine::gpu : KernelMachine::cpu);
  ASSERT_TRUE(kernels);
  for (auto function : module->getOps<func::FuncOp>())
    check(function, function.getName(), *kernels);
}

INSTANTIATE_TEST_SUITE_P(Types, KernelTest,
                         testing::Combine(testing::Values("f32", "f64"),
                                          testing::Values(16u, 32u, 64u,
                                                          onGpu)));

} // namespace
