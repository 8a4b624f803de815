//===- OptionsTest.cpp - the tables of options ----------------------------===//

#include "dtc/Options/Options.h"
#include "dtc/Options/ReadOption.h"
#include "dtc/Options/Strategy.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace dtc;

template <typename Visitor> static void visitAll(Visitor visit) {
  ModelOptions model;
  Strategy strategy;
  OutputOptions output;
  ModelOptions::visit(model, visit);
  Strategy::visit(strategy, visit);
  OutputOptions::visit(output, visit);
}

TEST(Options, HaveDifferentNames) {
  llvm::StringSet<> names;
  visitAll([&](const OptionRow &row, auto &) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name.str();
    EXPECT_FALSE(row.help.empty()) << row.name.str();
    if (!row.otherName.empty()) {
      EXPECT_TRUE(names.insert(row.otherName).second) << row.otherName.str();
    }
  });
  EXPECT_GT(names.size(), 70u);
}

// A default is one of the values that the row allows.
TEST(Options, ReadTheirDefaults) {
  visitAll([](const OptionRow &row, auto &field) {
    std::string text = printOption(row, field);
    if (text.empty())
      return;
    auto start = field;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>,
                                 std::vector<std::string>>)
      field.clear();
    llvm::Error error = readOption(row, text, field);
    EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
    EXPECT_EQ(field, start) << row.name.str();
  });
}

// A module returns the strategy that was written to it.
TEST(Options, SurviveInAModule) {
  Strategy strategy;
  Strategy::visit(strategy, [](const OptionRow &, auto &field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::string>)
      field = "text";
    else if constexpr (std::is_same_v<Field, std::vector<std::string>>)
      field = {"a", "b"};
    else if constexpr (std::is_same_v<Field, std::vector<double>>)
      field = {0.5, 2};
    else
      field = 1;
  });
  strategy.parallel.dp = 6;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  strategy.set(*module);
  mlir::FailureOr<Strategy> read = Strategy::get(*module);
  ASSERT_TRUE(succeeded(read));
  EXPECT_EQ(read->parallel.dp, 6);
  EXPECT_EQ(read->training.classWeights, std::vector<double>({0.5, 2}));
  EXPECT_EQ(read->training.ignoreIndex, 1);
  // Both print the same.
  mlir::OwningOpRef<mlir::ModuleOp> copy =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  read->set(*copy);
  EXPECT_EQ((*module)->getAttrDictionary(), (*copy)->getAttrDictionary());
}
