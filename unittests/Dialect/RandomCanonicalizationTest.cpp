//===- RandomCanonicalizationTest.cpp - patterns keep results -------------===//
//
// Each canonicalization pattern alone, and all of them, rewrite graphs drawn at
// random. The interpreter runs the graphs before and after. It computes in
// double precision, so that only the order of sums may differ.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"
#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace dtc;

namespace {

/// The canonicalization patterns of the dialect: all of them, or the one with
/// this name.
FrozenRewritePatternSet getPatterns(MLIRContext &context,
                                    std::optional<StringRef> name = {}) {
  RewritePatternSet patterns(&context);
  context.getLoadedDialect<DTCDialect>()->getCanonicalizationPatterns(patterns);
  if (!name)
    return std::move(patterns);
  return FrozenRewritePatternSet(std::move(patterns), {}, {name->str()});
}

std::vector<std::string> getNames(MLIRContext &context) {
  RewritePatternSet patterns(&context);
  context.getLoadedDialect<DTCDialect>()->getCanonicalizationPatterns(patterns);
  std::vector<std::string> names;
  for (const auto &pattern : patterns.getNativePatterns())
    names.push_back(pattern->getDebugName().str());
  return names;
}

/// The difference of two results; empty if they agree.
std::string compare(ArrayRef<HostTensor> expected, ArrayRef<HostTensor> found) {
  for (auto [number, x, y] : llvm::enumerate(expected, found)) {
    if (x.shape != y.shape)
      return "result " + std::to_string(number) + " has another shape";
    double largest = 1;
    for (double element : x.data)
      largest = std::max(largest, std::fabs(element));
    for (auto [a, b] : llvm::zip_equal(x.data, y.data))
      if (!(std::fabs(a - b) <= 1e-9 * largest))
        return "result " + std::to_string(number) + " has " +
               std::to_string(b) + ", expected " + std::to_string(a);
  }
  return "";
}

/// Rewrites a copy of the case. Returns whether a pattern applied.
bool rewriteAndCompare(const KernelCase &test,
                       const FrozenRewritePatternSet &patterns) {
  OwningOpRef<ModuleOp> module = cast<ModuleOp>((*test.module)->clone());
  KernelCase copy{std::move(module), test.arguments};
  func::FuncOp function = copy.getFunction();
  bool changed = false;
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(false).enableFolding(false);
  EXPECT_TRUE(succeeded(
      applyPatternsGreedily(function.getBody(), patterns, config, &changed)));
  EXPECT_TRUE(succeeded(verify(*copy.module)));
  std::string difference =
      ::testing::Test::HasFailure()
          ? "not interpreted"
          : compare(interpret(test.getFunction(), test.arguments),
                    interpret(function, copy.arguments));
  if (!difference.empty()) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "before: " << *test.module << "\nafter: " << *copy.module;
    ADD_FAILURE() << difference << "\n" << text;
  }
  return changed;
}

TEST(RandomCanonicalization, ComputesTheSame) {
  MLIRContext context;
  context.loadDialect<DTCDialect, func::FuncDialect>();
  const char *full = std::getenv("DTC_FULL_TESTS");
  uint64_t count = full && StringRef(full) == "1" ? 20000 : 2000;
  std::vector<std::string> names = getNames(context);
  std::vector<FrozenRewritePatternSet> alone;
  for (const std::string &name : names)
    alone.push_back(getPatterns(context, name));
  FrozenRewritePatternSet all = getPatterns(context);
  std::map<std::string, int> applied;
  for (uint64_t seed = 1; seed <= count && !HasFailure(); ++seed) {
    KernelCase test = drawKernel(context, seed);
    for (auto [name, pattern] : llvm::zip_equal(names, alone)) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", pattern " + name);
      applied[name] += rewriteAndCompare(test, pattern);
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ", all patterns");
    rewriteAndCompare(test, all);
  }
  if (HasFailure())
    return;
  for (const std::string &name : names)
    EXPECT_GT(applied[name], 0) << name << " applies to no graph";
}

} // namespace
