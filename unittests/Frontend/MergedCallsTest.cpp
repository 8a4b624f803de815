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
  // The norm of another stream, and that of the outer block, by its weights.
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

/// Two layers of `net`, whose result two calls read; `old` has the same.
void addTwins(Recorded &model) {
  model.tensor("net.0.weight", {2, 2}, {1, 2, 3, 4});
  model.tensor("net.2.weight", {2, 2}, {5, 6, 7, 8});
  model.node("Gemm", {"x", "net.0.weight"}, "linear", "linear",
             "linear(%x, %p_net_0_weight)", "net.0");
  model.node("Relu", {"linear"}, "relu", "relu", "relu(%linear)", "net.1");
  model.node("Gemm", {"relu", "net.2.weight"}, "linear_1", "linear_1",
             "linear(%relu, %p_net_2_weight)", "net.2");
}

TEST(MergedCallsTest, ModulesOfSeveralCalls) {
  Recorded model(
      {"net.0.weight", "net.2.weight", "old.0.weight", "old.2.weight"});
  addTwins(model);
  // One of two x / 2 is left, too.
  model.node("Mul", {"linear_1", "two"}, "mul", "mul", "mul(%linear_1, 0.5)");
  model.node("Sub", {"mul", "mul"}, "y", "sub", "sub(%mul, %mul_1)");
  model.restore();
  EXPECT_EQ(model.inputs("y"), (Names{"mul", "mul_1"}));
  EXPECT_EQ(model.inputs("mul_1"), (Names{"linear_3", "two"}));
  EXPECT_EQ(model.inputs("linear_3")[1], "old.2.weight");
  std::string relu = model.inputs("linear_3")[0];
  EXPECT_EQ(model.inputs(model.inputs(relu)[0]), (Names{"x", "old.0.weight"}));
  EXPECT_EQ(model.inputs("linear")[1], "net.0.weight");
}

TEST(MergedCallsTest, ExpressionThatOccursTwice) {
  // `pooler` is not called.
  Recorded model({"net.0.weight", "net.2.weight", "pooler.weight"});
  addTwins(model);
  model.node("Mul", {"linear_1", "two"}, "mul", "mul", "mul(%linear_1, 0.5)");
  model.node("Sub", {"mul", "mul"}, "y", "sub", "sub(%mul, %mul_1)");
  model.restore();
  EXPECT_EQ(model.inputs("y"), (Names{"mul", "mul"}));
}

/// A dropout that the exporter removes is not another module's norm.
TEST(MergedCallsTest, ResultOfADropout) {
  Recorded model({"norm.weight", "pooler.weight", "a.weight", "b.weight"});
  model.tensor("norm.weight", {2}, {1, 2});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.tensor("b.weight", {2, 2}, {5, 6, 7, 8});
  model.node("LayerNormalization", {"x", "norm.weight"}, "layer_norm",
             "layer_norm", "layer_norm(%x, [2], %p_norm_weight)", "norm");
  model.node("Gemm", {"layer_norm", "a.weight"}, "linear", "linear",
             "linear(%layer_norm, %p_a_weight)", "a");
  model.node("Gemm", {"layer_norm", "b.weight"}, "linear_1", "linear_1",
             "linear(%dropout_3, %p_b_weight)", "b");
  model.node("Add", {"linear", "linear_1"}, "y", "y",
             "add(%linear, %linear_1)");
  model.restore();
  EXPECT_EQ(model.inputs("linear_1"), (Names{"layer_norm", "b.weight"}));
}

TEST(MergedCallsTest, ModuleThatIsEqualInPart) {
  // The first result of `old` is used before its last layer.
  Recorded model(
      {"net.0.weight", "net.2.weight", "old.0.weight", "old.2.weight"});
  addTwins(model);
  model.node("Abs", {"relu"}, "abs_1", "abs_1", "abs(%relu_1)");
  model.node("Sub", {"linear_1", "linear_1"}, "sub", "sub",
             "sub(%linear_1, %linear_3)");
  model.node("Mul", {"abs_1", "sub"}, "y", "y", "mul(%abs_1, %sub)");
  model.restore();
  EXPECT_EQ(model.inputs("abs_1"), Names{"relu_1"});
  std::string last = model.inputs("sub")[1];
  EXPECT_EQ(model.inputs(last), (Names{"relu_1", "old.2.weight"}));
}

TEST(MergedCallsTest, CopyThatOneCallReadsTwice) {
  // The copy has the name of a later call already.
  Recorded model(
      {"net.0.weight", "net.2.weight", "old.0.weight", "old.2.weight"});
  addTwins(model);
  model.node("Sub", {"linear_1", "linear_1"}, "sub", "sub",
             "sub(%linear_1, %linear_3)");
  model.node("Mul", {"relu", "relu"}, "mul", "mul", "mul(%relu_5, %relu_5)");
  model.node("Add", {"mul", "sub"}, "y", "y", "add(%mul, %sub)");
  model.restore();
  std::string copy = model.inputs("mul")[0];
  EXPECT_NE(copy, "relu");
  EXPECT_EQ(model.inputs("mul")[1], copy);
  EXPECT_EQ(model.inputs(model.inputs(copy)[0]), (Names{"x", "old.0.weight"}));
}

TEST(MergedCallsTest, PartsOfAResult) {
  // Three blocks begin with zeros; the first two parts of each are read.
  for (const std::string scope : {"", "b."}) {
    Recorded model({"b.0.m.w", "b.1.m.w", "b.2.m.w", "h.w"});
    model.tensor("h.w", {2, 2}, {1, 2, 3, 4});
    model.tensor("b.0.m.w", {2, 2}, {0, 0, 0, 0});
    model.node("Gemm", {"x", "b.0.m.w"}, "linear", "linear",
               "linear(%x, %p_b_0_m_w)", "b.0.m");
    model.node("Split", {"linear"}, "part_0");
    model.secondOutput("part_1");
    auto add = [&](const std::string &input, int64_t block) {
      std::string number = block == 0 ? "" : "_" + std::to_string(block);
      std::string first = block == 0 ? "" : "_" + std::to_string(2 * block);
      std::string module = scope.empty() ? "" : scope + std::to_string(block);
      model.node("Mul", {input, "part_0"}, "mul" + number, "mul" + number,
                 "mul(%" + input + ", %getitem" + first + ")", module);
      model.node("Add", {"mul" + number, "part_1"}, "add" + number,
                 "add" + number,
                 "add(%mul" + number + ", %getitem_" +
                     std::to_string(2 * block + 1) + ")",
                 module);
    };
    add("x", 0);
    add("add", 1);
    add("add_1", 2);
    model.node("Gemm", {"add_2", "h.w"}, "y", "linear_3",
               "linear(%add_2, %p_h_w)");
    RestoredTensors result = model.restore();
    for (int block : {0, 1, 2}) {
      std::string number = block == 0 ? "" : "_" + std::to_string(block);
      std::string scale = model.inputs("mul" + number)[1];
      EXPECT_EQ(model.inputs(model.inputs(scale)[0]),
                (Names{"x", "b." + std::to_string(block) + ".m.w"}));
      EXPECT_EQ(model.producer(scale),
                model.producer(model.inputs("add" + number)[1]));
    }
    // The names of the readers tell, else the order of calls.
    EXPECT_EQ(result.warnings.size(), scope.empty() ? 1u : 0u);
  }
}

TEST(MergedCallsTest, EqualPartsOfAStack) {
  Recorded model({"e.0.w", "e.1.w", "e.2.w"});
  model.tensor("e.0.w", {2, 2}, {1, 2, 3, 4});
  model.node("Gemm", {"x", "e.0.w"}, "linear", "linear", "linear(%x, %p_e_0_w)",
             "e.0");
  std::string stack = "stack([%linear, %linear_1, %linear_2], -1)";
  model.node("Unsqueeze", {"linear", "axis"}, "val", "stack", stack);
  model.node("Concat", {"val", "val", "val"}, "y", "stack", stack);
  model.restore();
  std::vector<std::string> parts = model.inputs("y");
  for (int i : {0, 1, 2})
    EXPECT_EQ(model.inputs(model.inputs(parts[i])[0])[1],
              "e." + std::to_string(i) + ".w");
}

TEST(MergedCallsTest, ArgumentOfACallOfSeveralNodes) {
  Recorded model({"a.k.w", "a.v.w", "b.k.w", "b.v.w"});
  model.tensor("a.k.w", {2, 2}, {1, 2, 3, 4});
  model.tensor("a.v.w", {2, 2}, {5, 6, 7, 8});
  model.node("Gemm", {"x", "a.k.w"}, "linear", "linear", "linear(%x, %p_a_k_w)",
             "a.k");
  model.node("Gemm", {"x", "a.v.w"}, "linear_1", "linear_1",
             "linear(%x, %p_a_v_w)", "a.v");
  std::string attention =
      "scaled_dot_product_attention(%x, %linear, %linear_1)";
  model.node("Transpose", {"linear"}, "turned", "sdpa", attention, "a");
  model.node("MatMul", {"x", "turned"}, "scores", "sdpa", attention, "a");
  model.node("MatMul", {"scores", "linear_1"}, "sdpa", "sdpa", attention, "a");
  attention = "scaled_dot_product_attention(%sdpa, %linear_2, %linear_3)";
  model.node("MatMul", {"sdpa", "turned"}, "scores_1", "y", attention, "b");
  model.node("MatMul", {"scores_1", "linear_1"}, "y", "y", attention, "b");
  // The exporter keeps one transpose for both: a warning names what is lost.
  RestoredTensors result = model.restore();
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("'b.k.w'"), std::string::npos)
      << result.warnings[0];
  EXPECT_EQ(model.inputs("sdpa")[1], "linear_1");
}

TEST(MergedCallsTest, FrozenCopyThatWasMerged) {
  Recorded model({"a.weight"}, {"copy"});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.node("Gemm", {"x", "a.weight"}, "linear", "linear",
             "linear(%x, %p_a_weight)", "a");
  model.node("Mul", {"linear", "linear"}, "y", "y", "mul(%linear, %linear_1)");
  EXPECT_EQ(model.restore().warnings.size(), 1u);
}

/// The exporter keeps one term of |x - detach(h)| + |detach(h) - x|, and
/// doubles it; `other` detaches something else.
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
  EXPECT_NE(warnings[0].find("read 'detach_1' (perhaps 'abs_2')"),
            std::string::npos)
      << warnings[0];
}
} // namespace
