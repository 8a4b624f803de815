//===- MergedCallsTest.cpp - calls that dynamo's optimizer merged ---------===//
//
// Modules that begin alike and read the same, which the file has once. Warnings
// name the parameters that are gone.
//
//===----------------------------------------------------------------------===//

#include "Recorded.h"

using namespace llvm;
using namespace dtc::frontend;

namespace {
/// Expects one warning, and that it names these tensors.
void expectWarning(Recorded &model, const Names &names) {
  std::vector<std::string> warnings = model.restore().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  for (const std::string &name : names)
    EXPECT_NE(warnings[0].find("'" + name + "'"), std::string::npos)
        << warnings[0];
}

TEST(MergedCallsTest, NormOfGoneModule) {
  Recorded model({"l.a.weight", "l.b.weight"});
  model.tensor("l.a.weight", {2}, {1, 1});
  model.node("LayerNormalization", {"x", "l.a.weight"}, "layer_norm",
             "layer_norm", "layer_norm(%x, [2], %p_l_a_weight)", "l.a");
  model.node("Relu", {"layer_norm"}, "relu", "relu", "relu(%layer_norm)", "l");
  model.node("Mul", {"relu", "layer_norm"}, "y", "y",
             "mul(%relu, %layer_norm_1)", "l");
  expectWarning(model, {"l.b.weight"});
}

TEST(MergedCallsTest, NormsCalledInAnotherOrder) {
  // Equal tensors bear the name of the first of the state dict.
  Recorded model({"norm_kv.weight", "norm_q.weight"});
  model.tensor("norm_kv.weight", {2}, {1, 1});
  model.node("LayerNormalization", {"x", "norm_kv.weight"}, "layer_norm",
             "layer_norm", "layer_norm(%x, [2], %p_norm_q_weight)", "norm_q");
  model.node("Mul", {"x", "layer_norm"}, "y", "y", "mul(%x, %layer_norm_1)");
  expectWarning(model, {"norm_kv.weight"});
  EXPECT_EQ(model.inputs("layer_norm"), (Names{"x", "norm_q.weight"}));
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
  expectWarning(model, {"old.0.weight", "old.2.weight"});
}

TEST(MergedCallsTest, CallThatMovesElements) {
  Recorded model(
      {"net.0.weight", "net.2.weight", "old.0.weight", "old.2.weight"});
  addTwins(model);
  model.node("Reshape", {"linear_1", "shape"}, "view", "view",
             "view(%linear_1, [4])");
  model.node("Sub", {"view", "view"}, "y", "sub", "sub(%view, %view_1)");
  expectWarning(model, {"old.0.weight", "old.2.weight"});
}

TEST(MergedCallsTest, ExpressionThatOccursTwice) {
  Recorded model({"net.0.weight", "net.2.weight"});
  addTwins(model);
  model.node("Mul", {"linear_1", "two"}, "mul", "mul", "mul(%linear_1, 0.5)");
  model.node("Sub", {"mul", "mul"}, "y", "sub", "sub(%mul, %mul_1)");
  EXPECT_TRUE(model.restore().warnings.empty());
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
  EXPECT_TRUE(model.restore().warnings.empty());
}

TEST(MergedCallsTest, PartsOfAResult) {
  // Both blocks begin with zeros. Their parts are results of no call.
  Recorded model({"b.0.w", "b.1.w"});
  model.tensor("b.0.w", {2, 2}, {0, 0, 0, 0});
  model.node("Gemm", {"x", "b.0.w"}, "linear", "linear", "linear(%x, %p_b_0_w)",
             "b.0");
  model.node("Split", {"linear"}, "part_0");
  model.secondOutput("part_1");
  model.node("Mul", {"x", "part_0"}, "mul", "mul", "mul(%x, %getitem)");
  model.node("Add", {"mul", "part_1"}, "add", "add", "add(%mul, %getitem_1)");
  model.node("Mul", {"add", "part_0"}, "mul_1", "mul_1",
             "mul(%add, %getitem_2)");
  model.node("Add", {"mul_1", "part_1"}, "y", "add_1",
             "add(%mul_1, %getitem_3)");
  expectWarning(model, {"b.1.w"});
}

TEST(MergedCallsTest, PartsOfAParameter) {
  // The node that takes it apart has no call.
  Recorded model({"a.bias", "b.bias"});
  model.tensor("a.bias", {2}, {0, 0});
  model.node("Split", {"a.bias"}, "part_0");
  model.secondOutput("part_1");
  model.node("Add", {"x", "part_0"}, "add", "add", "add(%x, %getitem)", "a");
  model.node("Add", {"add", "part_1"}, "y", "y", "add(%add, %getitem_3)", "b");
  expectWarning(model, {"b.bias"});
}

TEST(MergedCallsTest, EqualPartsOfAStack) {
  Recorded model({"e.0.w", "e.1.w"});
  model.tensor("e.0.w", {2, 2}, {1, 2, 3, 4});
  model.node("Gemm", {"x", "e.0.w"}, "linear", "linear", "linear(%x, %p_e_0_w)",
             "e.0");
  model.node("Reshape", {"linear", "shape"}, "view", "view",
             "view(%linear, [4])");
  std::string stack = "stack([%view, %view_1], -1)";
  model.node("Unsqueeze", {"view", "axis"}, "val", "stack", stack);
  model.node("Concat", {"val", "val"}, "y", "stack", stack);
  expectWarning(model, {"e.1.w"});
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
  // The exporter keeps one transpose for both.
  expectWarning(model, {"b.k.w", "b.v.w"});
}

TEST(MergedCallsTest, FrozenCopyThatWasMerged) {
  Recorded model({"a.weight"}, {"copy"});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.node("Gemm", {"x", "a.weight"}, "linear", "linear",
             "linear(%x, %p_a_weight)", "a");
  model.node("Mul", {"linear", "linear"}, "y", "y", "mul(%linear, %linear_1)");
  expectWarning(model, {"copy"});
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
