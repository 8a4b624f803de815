//===- MergedCallsTest.cpp - calls that dynamo's optimizer merged ---------===//
//
// Modules that begin alike and read the same, which the file has once.
//
//===----------------------------------------------------------------------===//

#include "Recorded.h"

using namespace llvm;
using namespace dtc::frontend;

namespace {
TEST(MergedCallsTest, NormOfGoneModule) {
  Recorded model({"l.a.weight", "l.b.weight", "unused.deep.weight"});
  model.tensor("l.a.weight", {2}, {1, 1});
  model.node("LayerNormalization", {"x", "l.a.weight"}, "layer_norm",
             "layer_norm", "layer_norm(%x, [2], %p_l_a_weight)", "l.a");
  model.node("Relu", {"layer_norm"}, "relu", "relu", "relu(%layer_norm)", "l");
  model.node("Mul", {"relu", "layer_norm"}, "y", "y",
             "mul(%relu, %layer_norm_1)", "l");
  model.restore();
  EXPECT_EQ(model.inputs("y"), (Names{"relu", "layer_norm_1"}));
  EXPECT_EQ(model.inputs("layer_norm_1"), (Names{"x", "l.b.weight"}));
}

/// A norm of `called`, and a call of another that is gone, by the elements that
/// the file has of `stored`.
RestoredTensors restoreNorms(Recorded &model, const std::string &stored,
                             const std::string &called) {
  model.tensor(stored, {2}, {1, 1});
  model.node("LayerNormalization", {"x", stored}, "layer_norm", "layer_norm",
             "layer_norm(%x, [2], %p_" + called + "_weight)", called);
  model.node("Relu", {"layer_norm"}, "relu", "relu", "relu(%layer_norm)");
  model.node("Mul", {"relu", "layer_norm"}, "y", "y",
             "mul(%relu, %layer_norm_1)");
  return model.restore();
}

TEST(MergedCallsTest, NormsCalledInAnotherOrder) {
  // Equal tensors bear the name of the first of the state dict.
  Recorded model({"norm_kv.weight", "norm_q.weight"});
  RestoredTensors result = restoreNorms(model, "norm_kv.weight", "norm_q");
  EXPECT_EQ(model.inputs("layer_norm"), (Names{"x", "norm_q.weight"}));
  EXPECT_EQ(model.inputs("layer_norm_1"), (Names{"x", "norm_kv.weight"}));
  EXPECT_TRUE(result.warnings.empty());
}

TEST(MergedCallsTest, NormOfAModuleThatMayBeUnused) {
  Recorded model({"norm.weight", "head.weight"});
  RestoredTensors result = restoreNorms(model, "norm.weight", "norm");
  EXPECT_EQ(model.inputs("layer_norm_1"), (Names{"x", "head.weight"}));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("'layer_norm_1' of 'head'"),
            std::string::npos);
}

TEST(MergedCallsTest, NormOfOneOfSeveralModules) {
  Recorded model({"n1.weight", "n2.weight", "n3.weight"});
  restoreNorms(model, "n1.weight", "n1");
  EXPECT_EQ(model.inputs("y"), (Names{"relu", "layer_norm"}));
}

TEST(MergedCallsTest, NormThatIsCalledBefore) {
  // Of another stream, and of the block around, by its weights.
  for (const std::string scope : {"n1", ""}) {
    Recorded model({"n0.weight", "n1.weight", "n2.weight"});
    model.tensor("n0.weight", {2}, {1, 1});
    std::string first = scope.empty() ? "n0" : "n1";
    model.node("LayerNormalization", {"z", "n0.weight"}, "layer_norm",
               "layer_norm", "layer_norm(%z, [2], %p_" + first + "_weight)",
               scope);
    model.node("LayerNormalization", {"x", "n0.weight"}, "layer_norm_1",
               "layer_norm_1", "layer_norm(%x, [2], %p_n1_weight)", scope);
    if (!scope.empty()) // else n0 is called
      model.node("Mul", {"layer_norm", "n0.weight"}, "m", "m",
                 "mul(%layer_norm, %p_n0_weight)");
    model.node("Mul", {"layer_norm_1", "layer_norm_1"}, "y", "y",
               "mul(%layer_norm_1, %layer_norm_2)");
    model.restore();
    EXPECT_EQ(model.inputs("y"), (Names{"layer_norm_1", "layer_norm_2"}));
    EXPECT_EQ(model.inputs("layer_norm_2"), (Names{"x", "n2.weight"}));
  }
}

TEST(MergedCallsTest, FactorOfOneIsNoModule) {
  // Another module's calls would be mul_2 and mul_3, or mul_3 and mul_4.
  for (const std::string gone : {"mul_2", "mul_3", "mul_4"}) {
    Recorded model({"n1.weight", "n2.weight"});
    model.tensor("n1.weight", {2}, {1, 1});
    model.node("Mul", {"x", "x"}, "mul", "mul", "mul(%x, %x)", "n1");
    model.node("Mul", {"n1.weight", "mul"}, "mul_1", "mul_1",
               "mul(%p_n1_weight, %mul)", "n1");
    if (gone == "mul_4")
      model.node("Mul", {"x", "mul_1"}, "mul_3", "mul_3", "mul(%x, %mul_1)");
    model.node("Add", {"mul_1", "mul_1"}, "y", "add",
               "add(%mul_1, %" + gone + ")");
    model.restore();
    EXPECT_EQ(model.inputs("y")[1], gone == "mul_3" ? "mul_3" : "mul_1");
  }
}

TEST(MergedCallsTest, FrozenCopyThatWasMerged) {
  Recorded model({"a.weight"}, {"copy"});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.node("Gemm", {"x", "a.weight"}, "linear", "linear",
             "linear(%x, %p_a_weight)", "a");
  model.node("Mul", {"linear", "linear"}, "y", "y", "mul(%linear, %linear_1)");
  EXPECT_EQ(model.restore().warnings.size(), 1u);
}

/// Of |x - detach(h)| + |detach(h) - x| the exporter has one, which it doubles;
/// `other` detaches something else.
std::vector<std::string> warnOfDetached(StringRef other) {
  Recorded model({});
  model.node("Sub", {"x", "h"}, "sub", "sub", "sub(%x, %detach)");
  model.node("Abs", {"sub"}, "abs_1", "abs_1", "abs(%sub)");
  model.node("Add", {"abs_1", "abs_1"}, "add", "add", "add(%abs_1, %abs_2)");
  model.node("Add", {"add", "x"}, "y", "y",
             ("add(%add, %" + other + ")").str());
  return model.restore().warnings;
}

TEST(MergedCallsTest, MergedCallThatDetaches) {
  EXPECT_TRUE(warnOfDetached("detach_1").empty());
  std::vector<std::string> warnings = warnOfDetached("detach_2");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("('abs_2')"), std::string::npos);
  EXPECT_NE(warnings[0].find("what read 'detach_1'"), std::string::npos);
}
} // namespace
