//===- DivideAttentionTest.cpp - blocks against the definition ------------===//
//
// usage: DivideAttentionTests FILE
//
// Interprets each function of a lit test of DivideAttention or of
// DivideAttentionGradient, unchanged and divided into blocks of several sizes.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Schedule/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace dtc;

using Tensors = std::vector<HostTensor>;

/// A block of a group's two heads, in tiles of 128 queries and keys.
static constexpr int64_t smallestGradient = 2 * 128 * 128 * 2;

static int failures = 0;

/// The interpreter has whole tensors.
static void dropLayouts(ModuleOp module) {
  auto drop = [](auto values) {
    for (Value value : values)
      value.setType(withLayout(value.getType(), {}));
  };
  module.walk([&](func::FuncOp function) {
    drop(function.getArguments());
    function.walk([&](Operation *op) { drop(op->getResults()); });
    function.setType(FunctionType::get(
        module.getContext(), function.front().getArgumentTypes(),
        function.front().getTerminator()->getOperandTypes()));
  });
}

/// A third of a mask's numbers hide a key, and the first rows hide all their
/// keys.
static Tensors makeArguments(func::FuncOp function) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> numbers(-1, 1);
  Tensors arguments;
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    HostTensor &x = arguments.emplace_back(type.getShape());
    bool isMask = llvm::any_of(argument.getUses(), [](OpOperand &use) {
      auto op = dyn_cast<AttentionOp>(use.getOwner());
      return op && op.getMask() == use.get();
    });
    for (auto [i, element] : llvm::enumerate(x.data)) {
      element = numbers(random);
      if (isMask && (element < -0.4 || i < size_t(type.getShape().back())))
        element = -std::numeric_limits<double>::infinity();
    }
  }
  return arguments;
}

static OwningOpRef<ModuleOp> parse(MLIRContext &context, StringRef source) {
  auto module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    llvm::report_fatal_error("cannot parse the functions");
  return module;
}

static bool isClose(const HostTensor &x, const HostTensor &y) {
  return x.shape == y.shape &&
         llvm::all_of(llvm::zip_equal(x.data, y.data), [](auto pair) {
           auto [a, b] = pair;
           return a == b || std::abs(a - b) < 1e-6; // the scale may be f32
         });
}

/// A function has an op that one of the passes divides and the other ignores.
static void compare(MLIRContext &context, StringRef source, int64_t maxBlock,
                    int64_t minQueries) {
  OwningOpRef<ModuleOp> expected = parse(context, source);
  OwningOpRef<ModuleOp> divided = parse(context, source);
  PassManager passes(&context);
  DivideAttentionOptions options;
  options.maxBlock = maxBlock;
  options.minQueries = minQueries;
  passes.addPass(createDivideAttention(options));
  DivideAttentionGradientOptions gradient;
  gradient.maxScores = std::max<int64_t>(maxBlock, smallestGradient);
  passes.addPass(createDivideAttentionGradient(gradient));
  if (failed(passes.run(*divided)))
    llvm::report_fatal_error("cannot divide");
  divided->walk([&](Operation *op) {
    if (!op->hasAttr("divided"))
      return;
    ++failures;
    llvm::errs() << "FAILED: " << *op << " is not divided\n";
  });
  dropLayouts(*expected);
  dropLayouts(*divided);
  for (auto function : expected->getOps<func::FuncOp>()) {
    Tensors arguments = makeArguments(function);
    Tensors x = interpret(function, arguments);
    Tensors y = interpret(
        divided->lookupSymbol<func::FuncOp>(function.getSymName()), arguments);
    for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(x, y)))
      if (!isClose(std::get<0>(pair), std::get<1>(pair))) {
        ++failures;
        llvm::errs() << "FAILED: result " << i << " of @"
                     << function.getSymName() << " in blocks of " << maxBlock
                     << " bytes and " << minQueries << " queries\n";
      }
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    llvm::report_fatal_error("usage: DivideAttentionTests FILE");
  DialectRegistry registry;
  registry.insert<DTCDialect, func::FuncDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto file = llvm::MemoryBuffer::getFile(argv[1]);
  if (!file)
    llvm::report_fatal_error("cannot read the functions");
  for (int64_t maxBlock : {1, 2048, 4096, 8192, 1 << 17, 1 << 20})
    for (int64_t minQueries : {1, 4, 512})
      compare(context, (*file)->getBuffer(), maxBlock, minQueries);
  llvm::outs() << (failures ? "failed\n" : "passed\n");
  return failures != 0;
}
