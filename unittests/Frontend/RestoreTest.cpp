//===- RestoreTest.cpp - the parameters of what dynamo optimized ----------===//
//
// Graphs of a few nodes with the records that PyTorch's dynamo exporter keeps:
// which tensors become parameters, and which must not.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/ParameterView.h"
#include "Exporters/Dynamo/Term.h"
#include "Recorded.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace dtc;
using namespace dtc::frontend;

namespace {

TEST(RestoreTest, EqualTensorsOfOneCallAreApart) {
  Recorded model({"n.weight", "n.bias"});
  model.tensor("n.weight", {2}, {1, 1});
  model.node("LayerNormalization", {"x", "n.weight", "n.weight"}, "y", "y",
             "layer_norm(%x, [2], %p_n_weight, %p_n_bias)", "n");
  model.restore();
  EXPECT_EQ(model.inputs("y"), (Names{"x", "n.weight", "n.bias"}));
}

TEST(RestoreTest, NumberThatEqualsAParameterIsNone) {
  Recorded model({"scale"});
  model.tensor("scale", {}, {2});
  model.node("Pow", {"x", "scale"}, "a", "a", "pow(%x, 2)");
  model.node("Mul", {"a", "scale"}, "b", "b", "mul(%p_scale, %a)");
  model.node("Div", {"b", "scale"}, "c", "c", "div(%b, 2.0)");
  model.node("Add", {"c", "scale"}, "d", "d", "add(%c, 2.0)");
  model.node("Greater", {"x", "scale"}, "e", "e",
             "gt(%x, %scalar_tensor_default_2)");
  model.node("Mul", {"scale", "x"}, "tmp", "f",
             "addcmul(%x, %x, %x; value: 2)");
  // The call on the parameter is gone: its result may be this operand.
  model.node("Mul", {"d", "scale"}, "y", "y", "mul(%d, %clone)");
  model.restore();
  for (const char *node : {"a", "c", "d", "e"})
    EXPECT_NE(model.inputs(node)[1], "scale") << node;
  EXPECT_NE(model.inputs("tmp")[0], "scale");
  EXPECT_EQ(model.inputs("b"), (Names{"a", "scale"}));
  EXPECT_EQ(model.inputs("y"), (Names{"d", "scale"}));
}

/// "shared" is another name of a tie, or not used: no call is gone that could
/// have used it but one that moves elements.
TEST(RestoreTest, ParameterThatNoCallCanUseIsNoWarning) {
  Recorded model({"shared", "head"});
  model.tensor("head", {2}, {1, 2});
  model.node("Mul", {"x", "head"}, "m", "m", "mul(%x, %p_head)");
  model.node("Relu", {"m"}, "y", "y", "relu(%view_1)");
  EXPECT_TRUE(model.restore().warnings.empty());
}

/// The exporter dropped an addition: of zeros that were "shared", perhaps.
TEST(RestoreTest, ParameterThatADroppedCallMayUseIsAWarning) {
  Recorded model({"shared", "head"});
  model.tensor("head", {2}, {1, 2});
  model.node("Mul", {"x", "head"}, "m", "m", "mul(%x, %p_head)");
  model.node("Relu", {"m"}, "y", "y", "relu(%add_1)");
  RestoredTensors restored = model.restore();
  ASSERT_EQ(restored.warnings.size(), 1u);
  EXPECT_TRUE(StringRef(restored.warnings.front())
                  .contains("does not have these parameters, and dtc does not "
                            "train them: 'shared'"));
}

/// Nodes that are inserted come from no call, and are asked for none.
TEST(RestoreTest, ParameterThatIsGoneBesideManyInsertedNodes) {
  Recorded model({"shared", "head"});
  model.tensor("head", {2}, {1, 2});
  std::string last = "x";
  for (int i = 0; i < 100; ++i) {
    std::string name = "m_" + std::to_string(i);
    model.node("Mul", {last, last}, name, name,
               "mul(%" + last + ", %detach_" + std::to_string(i) + ")");
    last = name;
  }
  model.node("Mul", {last, "head"}, "y", "y", "mul(%" + last + ", %p_head)");
  EXPECT_TRUE(model.restore().warnings.empty());
  EXPECT_EQ(model.op(model.inputs("m_99")[1]), "StopGradient");
}

/// The exporter computes exp(t), and calls another call's result `t`.
TEST(RestoreTest, ResultIsCalledLikeAParameterThatIsGone) {
  Recorded model({"t", "w"});
  model.tensor("w", {2, 2}, {1, 2, 3, 4});
  model.tensor("exp", {}, {std::exp(2.0F)});
  model.node("Transpose", {"w"}, "t", "t", "t(%p_w)");
  model.node("MatMul", {"x", "t"}, "matmul", "matmul", "matmul(%x, %t)");
  model.node("Mul", {"exp", "matmul"}, "y", "y", "mul(%exp, %matmul)");
  model.sources("exp", "'t'");
  model.restore();
  EXPECT_EQ(model.inputs("matmul"), (Names{"x", "t_1"}));
  EXPECT_EQ(model.inputs("t_1"), Names{"w"});
  EXPECT_NE(model.find("t"), nullptr);
  EXPECT_NE(model.inputs("y")[0], "t_1");
}

/// The exporter computes the call whose result it calls `t`.
TEST(RestoreTest, ComputedTensorIsCalledLikeAParameterThatIsGone) {
  Recorded model({"t", "w"});
  model.tensor("exp", {}, {std::exp(2.0F)});
  model.sources("exp", "'t'");
  model.tensor("t", {2, 3}, {1, 4, 2, 5, 3, 6});
  model.sources("t", "'w'");
  model.node("MatMul", {"x", "t"}, "matmul", "matmul", "matmul(%x, %t)");
  model.node("Mul", {"exp", "matmul"}, "y", "y", "mul(%exp, %matmul)");
  model.restore();
  ASSERT_TRUE(model.find("t"));
  EXPECT_EQ(model.find("t")->dims_size(), 0);
  EXPECT_NE(model.find("w"), nullptr);
  EXPECT_NE(model.inputs("matmul")[1], "t");
}

/// The exporter's transpose before a lookup moves nothing if the first
/// dimensions are indexed.
TEST(RestoreTest, TableOfAnIndex) {
  Recorded model({"w"});
  model.node("GatherND", {"val_0", "x"}, "a", "a", "index(%p_w, [%x, %x])");
  model.node("GatherND", {"val_1", "x"}, "b", "b", "index(%p_w, [None, %x])");
  auto findTable = [&](StringRef value) {
    const onnx::NodeProto &node = *model.nodeOf(value);
    return findArgument(*readCall(node), node, 0);
  };
  EXPECT_EQ(findTable("a"), std::optional<unsigned>(0));
  EXPECT_EQ(findTable("b"), std::nullopt);
}

TEST(RestoreTest, InputIsCalledLikeAParameter) {
  Recorded model({"x", "w"});
  model.tensor("w", {2, 2}, {1, 2, 3, 4});
  model.tensor("x_1", {2}, {1, 2});
  model.node("MatMul", {"x", "w"}, "matmul", "matmul", "matmul(%x, %p_w)");
  model.node("Mul", {"matmul", "x_1"}, "y", "y", "mul(%matmul, %p_x)");
  RestoredTensors result = model.restore();
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].find("'x' is saved as 'x_1'"),
            std::string::npos);
  EXPECT_EQ(model.inputs("matmul"), (Names{"x", "w"}));
  EXPECT_EQ(model.inputs("y"), (Names{"matmul", "x_1"}));
  EXPECT_EQ(model.find("x"), nullptr);
}

/// An Identity that is no call stands for a parameter that equals another.
TEST(RestoreTest, IdentityThatIsAParameterKeepsItsName) {
  Recorded model({"a", "b"});
  model.tensor("a", {2}, {1, 2});
  model.node("Identity", {"a"}, "b");
  model.node("Mul", {"x", "a"}, "mul", "mul", "mul(%x, %p_a)");
  model.node("Add", {"mul", "b"}, "y", "y", "add(%mul, %p_b)");
  model.restore();
  EXPECT_EQ(model.producer("b"), "b");
}

/// The file has one of x / 8 and x / p, where p starts as 8.
TEST(RestoreTest, ParameterThatOnlyANumberEquals) {
  Recorded model({"p"});
  model.tensor("p", {}, {8});
  model.node("Div", {"x", "p"}, "div", "div", "div(%x, 8.0)");
  model.node("Add", {"div", "div"}, "y", "y", "add(%div, %div_1)");
  RestoredTensors result = model.restore();
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("because nothing uses them: 'p'"),
            std::string::npos);
}

TEST(RestoreTest, BoundsThatBeginAlikeAreApart) {
  Recorded model({"a.alpha", "b.alpha"});
  model.tensor("a.alpha", {}, {6});
  model.node("Min", {"x", "a.alpha"}, "h", "h", "clamp(%x, None, %p_a_alpha)");
  model.node("Min", {"h", "a.alpha"}, "y", "y", "clamp(%h, None, %p_b_alpha)");
  model.restore();
  EXPECT_EQ(model.inputs("h"), (Names{"x", "a.alpha"}));
  EXPECT_EQ(model.inputs("y"), (Names{"h", "b.alpha"}));
}

/// The third operand of a `Where` of this call, with or without IsNaN.
std::string restoreMask(const std::string &op, bool guards, float hidden) {
  Recorded model({});
  model.tensor("zero", {}, {0});
  model.tensor("hidden", {}, {hidden});
  std::string call = op + "(%x, %x, %x, %m)";
  model.node("Where", {"m", "zero", "hidden"}, "w", "s", call);
  model.node("Softmax", {"w"}, "p", "s", call);
  model.node(guards ? "IsNaN" : "Abs", {"p"}, "y", "s", call);
  model.restore();
  return model.inputs("w")[2];
}

TEST(RestoreTest, KeysThatABooleanMaskHides) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  const std::string attention = "scaled_dot_product_attention";
  EXPECT_NE(restoreMask(attention, true, lowest), "hidden");
  EXPECT_EQ(restoreMask(attention, true, -1e4), "hidden");
  EXPECT_EQ(restoreMask(attention, false, lowest), "hidden");
  EXPECT_EQ(restoreMask("where", true, lowest), "hidden");
}

TEST(RestoreTest, ClampByANumber) {
  for (const std::string bound : {"scalar_tensor_default_1", "b_low"}) {
    Recorded model({}, {"low"});
    model.tensor("low", {}, {0});
    model.node("Max", {"x", "low"}, "a", "a", "clamp(%x, %" + bound + ")");
    model.node("Min", {"a", "low"}, "y", "y",
               "clamp(%a, None, %" + bound + ")");
    model.restore();
    bool isNumber = bound != "b_low";
    EXPECT_EQ(model.op("a"), isNumber ? "Clip" : "Max");
    EXPECT_EQ(model.inputs("y"),
              isNumber ? (Names{"a", "", "low"}) : (Names{"a", "low"}));
  }
}

/// log(exp(x) + exp(p)): what a call computes of a parameter is not it.
TEST(RestoreTest, FunctionInsideOfACall) {
  Recorded model({"p"});
  model.tensor("val_1", {2}, {3, 4});
  model.sources("val_1", "'p'");
  const std::string call = "logaddexp(%x, %p_p)";
  model.node("Exp", {"x"}, "val_0", "y", call);
  model.node("Add", {"val_0", "val_1"}, "val_2", "y", call);
  model.node("Log", {"val_2"}, "y", "y", call);
  RestoredTensors result = model.restore();
  EXPECT_FALSE(model.find("p"));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("dtc trains the results"),
            std::string::npos)
      << result.warnings[0];
}

/// The scale of a norm without one equals that of another, reshaped.
TEST(RestoreTest, NormWithoutScale) {
  Recorded model({"a.weight"});
  model.tensor("val", {2, 1, 1}, {1, 1});
  model.sources("val", "'a.weight', 'val_2'");
  model.node("Mul", {"x", "val"}, "z", "group_norm",
             "group_norm(%x, 2, %p_a_weight, None)", "a");
  model.node("Mul", {"z", "val"}, "y", "group_norm_1",
             "group_norm(%group_norm, 2, None, None)", "b");
  RestoredTensors result = model.restore();
  EXPECT_EQ(model.inputs(model.inputs("z")[1])[0], "a.weight");
  EXPECT_EQ(model.inputs("y"), (Names{"z", "y/constant"}));
  EXPECT_TRUE(result.warnings.empty());
}

/// Unoptimized, a bound is the cast of a constant.
TEST(RestoreTest, ClampByANumberOfNodes) {
  Recorded model({});
  model.node("Constant", {}, "val_0", "scalar_tensor_default",
             "scalar_tensor(0)");
  model.attribute("value_int", 0);
  model.node("Cast", {"val_0"}, "scalar_tensor_default",
             "scalar_tensor_default", "scalar_tensor(0)");
  const std::string clamp = "clamp(%x, %scalar_tensor_default)";
  model.node("CastLike", {"scalar_tensor_default", "x"}, "val_1", "y", clamp);
  model.node("Max", {"x", "val_1"}, "y", "y", clamp);
  model.restore();
  EXPECT_EQ(model.op("y"), "Clip");
}

TEST(RestoreTest, TokensOfOneListAreApart) {
  Recorded model({"first", "second"});
  model.tensor("first", {1, 2}, {0, 0});
  model.node("Concat", {"first", "first", "x"}, "y", "y",
             "cat([%p_first, %p_second, %x])");
  model.restore();
  EXPECT_EQ(model.inputs("y"), (Names{"first", "second", "x"}));
}

TEST(RestoreTest, ConstantThatEqualsParameterIsNone) {
  Recorded model({"ln.weight", "n.weight"});
  model.tensor("ln.weight", {2}, {1, 1});
  model.tensor("w", {2, 1}, {1, 1});
  model.node("LayerNormalization", {"x", "ln.weight"}, "a", "layer_norm",
             "layer_norm(%x, [2], %p_ln_weight)", "ln");
  model.node("InstanceNormalization", {"a", "ln.weight", "ln.weight"}, "b",
             "group_norm", "group_norm(%layer_norm, 2, %p_n_weight)", "n");
  model.node("Mul", {"b", "w"}, "y", "group_norm",
             "group_norm(%layer_norm, 2, %p_n_weight)", "n");
  model.restore();
  EXPECT_EQ(model.inputs("a"), (Names{"x", "ln.weight"}));
  EXPECT_NE(model.inputs("b")[1], "ln.weight");
  EXPECT_NE(model.inputs("b")[1], "n.weight");
}

TEST(RestoreTest, ConstantsThatTheModelMakes) {
  Recorded model({"n.weight", "n.bias"});
  model.tensor("n.weight", {2}, {1, 1});
  model.tensor("n.bias", {2}, {0, 0});
  model.node("LayerNormalization", {"x", "n.weight", "n.bias"}, "a", "a",
             "layer_norm(%x, [2], %p_n_weight, %p_n_bias)", "n");
  model.node("Mul", {"a", "n.weight"}, "b", "b", "mul(%a, %ones)");
  // Its argument is gone with a pair of transposes.
  model.node("LayerNormalization", {"b", "n.weight", "n.bias"}, "c", "c",
             "layer_norm(%permute_1, [2], None, None)");
  model.node("LayerNormalization", {"c", "n.weight", "n.bias"}, "d", "d",
             "layer_norm(%c, [2])");
  // This one may be the parameter, moved.
  model.node("Add", {"d", "n.bias"}, "y", "y", "add(%d, %view)");
  model.restore();
  EXPECT_EQ(model.inputs("a"), (Names{"x", "n.weight", "n.bias"}));
  EXPECT_EQ(model.inputs("y"), (Names{"d", "n.bias"}));
  for (const char *node : {"b", "c", "d"})
    for (const std::string &input : model.inputs(node))
      EXPECT_FALSE(llvm::StringRef(input).starts_with("n."))
          << input << " of " << node;
}

TEST(RestoreTest, FactorsOfOneCall) {
  // The metadata do not say which of the two factors the ones were.
  Recorded model({"w"});
  model.tensor("w", {2}, {1, 1});
  model.node("Mul", {"h", "w"}, "a", "y", "addcmul(%x, %ones, %p_w)");
  model.node("Add", {"x", "a"}, "y", "y", "addcmul(%x, %ones, %p_w)");
  model.restore();
  EXPECT_EQ(model.inputs("a"), (Names{"h", "w"}));
}

TEST(RestoreTest, RecordThatDoesNotFitTheGraph) {
  Recorded model({"a.weight", "b.weight"});
  model.tensor("a.weight", {2}, {1, 1});
  model.node("LayerNormalization", {"x", "a.weight"}, "h", "x",
             "layer_norm(%x, [2], %p_a_weight)", "a");
  model.node("Mul", {"h", "x"}, "y", "y", "mul(%h, %x_1)");
  RestoredTensors restored = model.restore();
  EXPECT_EQ(model.inputs("y"), (Names{"h", "x"}));
  EXPECT_EQ(restored.warnings.size(), 1u); // b.weight
}

TEST(RestoreTest, SumByItsLine) {
  Recorded model({"m.weight"});
  model.tensor("add", {2}, {1.5, 0.75});
  model.node("Mul", {"x", "add"}, "y", "y", "mul(%x, %add)", "m",
             "return x * (1.0 + self.weight.float())");
  RestoredTensors restored = model.restore();
  EXPECT_TRUE(restored.warnings.empty());
  std::string sum = model.inputs("y")[1];
  EXPECT_EQ(model.op(sum), "Add");
  EXPECT_EQ(model.inputs(sum)[0], "m.weight");
  float values[2];
  ASSERT_TRUE(model.find("m.weight"));
  memcpy(values, model.find("m.weight")->raw_data().data(), sizeof(values));
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_EQ(values[1], -0.25f);
}

/// Each line was computed apart; only one can be known.
TEST(RestoreTest, SumsOfTwoLinesShareTheParameter) {
  Recorded model({"m.weight"});
  model.tensor("add_1", {2}, {1.5, 0.75});
  model.node("Mul", {"x", "add_1"}, "a", "a", "mul(%x, %add_1)", "m",
             "a = x * (1.0 + self.weight)");
  model.node("Mul", {"a", "add_1"}, "y", "y", "mul(%a, %add_2)", "m",
             "return a * (self.weight + 1.0)");
  model.restore();
  for (StringRef value : {"a", "y"})
    EXPECT_EQ(model.inputs(model.inputs(value)[1])[0], "m.weight");
}

TEST(RestoreTest, DifferentFunctionsOfOneParameterAreApart) {
  Recorded model({"m.scale"});
  model.tensor("pow_1", {2}, {4, 9});
  model.tensor("view", {1, 2}, {2, 3});
  model.node("Mul", {"x", "pow_1"}, "a", "a", "mul(%x, %pow_1)", "m",
             "a = x * self.scale.pow(2)");
  model.node("Mul", {"a", "view"}, "y", "y", "mul(%a, %view)", "m",
             "return a * self.scale.view(1, -1)");
  RestoredTensors restored = model.restore();
  EXPECT_EQ(model.find("m.scale"), nullptr);
  EXPECT_EQ(restored.warnings.size(), 2u);
}

TEST(RestoreTest, TableThatNoParameterCanExplain) {
  Recorded model({"scale"}, {"inv_freq"});
  model.tensor("exp", {}, {1});
  model.tensor("expand", {2, 2}, {0.5, 0.25, 0.5, 0.25});
  model.node("Mul", {"x", "exp"}, "a", "a", "mul(%x, %exp)", "",
             "a = x * self.scale.exp()");
  model.node("Mul", {"a", "expand"}, "y", "y", "mul(%a, %expand)", "rope",
             "return a * cos");
  model.restore();
  EXPECT_EQ(model.inputs("y")[1], "expand");
  EXPECT_TRUE(model.find("scale"));
}

TEST(RestoreTest, PenaltiesAreWarnings) {
  Recorded model({"a.weight"});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.tensor("mul", {}, {0.25});
  model.node("Gemm", {"x", "a.weight"}, "h", "h", "linear(%x, %p_a_weight)",
             "a");
  model.node("Add", {"h", "mul"}, "y", "y", "add(%h, %mul)");
  EXPECT_EQ(model.restore().warnings.size(), 1u);
}

TEST(RestoreTest, GradientsStopAtDetachedOperands) {
  Recorded model({"a.weight"});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.node("Gemm", {"x", "a.weight"}, "h", "h", "linear(%x, %p_a_weight)",
             "a");
  // By the place of the argument, and as what the call does not name.
  model.node("Mul", {"h", "h"}, "g", "g", "mul(%h, %detach)");
  model.node("Where", {"x", "g", "h"}, "y", "y", "where(%x, %g, %detach_1)");
  EXPECT_TRUE(model.restore().warnings.empty());
  EXPECT_EQ(model.inputs("g")[0], "h");
  EXPECT_EQ(model.op(model.inputs("g")[1]), "StopGradient");
  EXPECT_EQ(model.inputs("y")[1], "g");
  EXPECT_EQ(model.op(model.inputs("y")[2]), "StopGradient");
}

/// The warnings of a model whose second call is `call`, of `operands`.
size_t countDetachWarnings(const Names &operands, StringRef call) {
  Recorded model({"a.weight"});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.tensor("val_1", {}, {1});
  model.node("Gemm", {"x", "a.weight"}, "h", "h", "linear(%x, %p_a_weight)",
             "a");
  model.node("Where", operands, "y", "y", call);
  return model.restore().warnings.size();
}

TEST(RestoreTest, DetachedOperandThatIsNotToldIsAWarning) {
  // Two equal operands, then a part of a value, then a number.
  EXPECT_EQ(countDetachWarnings({"x", "h", "h"}, "where(%x, %h, %detach)"), 1u);
  EXPECT_EQ(
      countDetachWarnings({"x", "h_0", "h"}, "where(%x, %getitem, %detach)"),
      1u);
  EXPECT_EQ(countDetachWarnings({"x", "h", "val_1"}, "where(%x, %h, %detach)"),
            1u);
}

TEST(RestoreTest, SmallNumbersThatWereLeftOut) {
  auto count = [](StringRef call) {
    Recorded model({"a.weight"});
    model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
    model.node("Gemm", {"x", "a.weight"}, "h", "h", "linear(%x, %p_a_weight)",
               "a");
    model.node("Div", {"x", "h"}, "y", "y", call);
    return model.restore().warnings.size();
  };
  EXPECT_EQ(count("div(%x, %h)"), 0u);
  EXPECT_EQ(count("div(%x, %add)"), 1u);
}

TEST(RestoreTest, BatchNormWithoutWeights) {
  // Its ones and zeros were merged with running statistics.
  Recorded model({}, {"bn.running_mean", "bn.running_var"});
  model.tensor("bn.running_mean", {2}, {0, 0});
  model.tensor("bn.running_var", {2}, {1, 1});
  model.node("BatchNormalization",
             {"x", "bn.running_var", "bn.running_mean", "bn.running_mean",
              "bn.running_var"},
             "y", "y",
             "_native_batch_norm_legit_functional(%x, None, None, "
             "%b_bn_running_mean, %b_bn_running_var, True, 0.1, 1e-05)",
             "bn");
  model.restore();
  EXPECT_NE(model.inputs("y")[1], "bn.running_var");
  EXPECT_NE(model.inputs("y")[2], "bn.running_mean");
  EXPECT_EQ(model.inputs("y")[3], "bn.running_mean");
}

/// 'h @ self.NAME.T' with the elements of parameter 'a.weight'.
std::string restoreProduct(const Names &parameters, const Names &buffers,
                           StringRef line) {
  Recorded model(parameters, buffers);
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.tensor("numpy_t", {2, 2}, {1, 3, 2, 4});
  model.node("Gemm", {"x", "a.weight"}, "h", "h", "linear(%x, %p_a_weight)",
             "a", "return F.linear(x, self.weight)");
  model.node("MatMul", {"h", "numpy_t"}, "y", "y", "matmul(%h, %numpy_t)", "",
             line);
  model.restore();
  std::string operand = model.inputs("y")[1];
  return model.op(operand) == "Transpose" ? model.inputs(operand)[0] : operand;
}

TEST(RestoreTest, ProductWithAnotherTensorOfEqualElements) {
  EXPECT_EQ(restoreProduct({"a.weight"}, {}, "return h @ self.a.weight.T"),
            "a.weight");
  EXPECT_EQ(restoreProduct({"a.weight", "b.weight"}, {},
                           "return h @ self.b.weight.T"),
            "b.weight");
  EXPECT_EQ(
      restoreProduct({"a.weight"}, {"target"}, "return h @ self.target.T"),
      "numpy_t");
}

TEST(RestoreTest, ParameterThatWasMovedInTwoWays) {
  Recorded model({"a.weight"});
  model.tensor("a.weight", {2, 2}, {1, 2, 3, 4});
  model.tensor("numpy_t", {2, 2}, {1, 3, 2, 4});
  model.tensor("clone", {2, 2}, {1, 2, 3, 4});
  model.node("Gemm", {"x", "a.weight"}, "h", "h", "linear(%x, %p_a_weight)",
             "a", "return F.linear(x, self.weight)");
  model.node("MatMul", {"h", "numpy_t"}, "g", "g", "matmul(%h, %numpy_t)", "",
             "g = h @ self.a.weight.T");
  model.node("Add", {"g", "clone"}, "y", "y", "add(%g, %clone)", "",
             "return g + self.a.weight.clone()");
  model.restore();
  EXPECT_EQ(model.inputs(model.inputs("g")[1]), (Names{"a.weight"}));
  EXPECT_EQ(model.inputs("y")[1], "a.weight");
}

TEST(TermTest, Lines) {
  auto kind = [](StringRef line, StringRef op) -> int {
    std::optional<Term> term = findTerm(line, "w", op);
    return term ? int(term->kind) : -1;
  };
  EXPECT_EQ(kind("return x * (1.0 + self.w)", "add"), Term::AddConstant);
  EXPECT_EQ(kind("return x * (self.w.to(x.dtype) + 2)", "add"),
            Term::AddConstant);
  EXPECT_EQ(kind("return x * (1.0 + self.w * 2)", "add"), -1);
  EXPECT_EQ(kind("return x * (1.0 + self.weight)", "add"), -1);
  EXPECT_EQ(kind("return self.w.exp() * x", "exp"), Term::Exp);
  EXPECT_EQ(kind("return torch.exp(self.w) * x", "exp"), Term::Exp);
  EXPECT_EQ(kind("return self.clip.w.exp() * x", "exp"), Term::Exp);
  EXPECT_EQ(kind("return x * (self.norms.0.w + 1)", "add"), Term::AddConstant);
  EXPECT_EQ(kind("return self.w.v.exp() * x", "exp"), -1);
  EXPECT_EQ(kind("return w.exp() * x", "exp"), -1);
  EXPECT_EQ(kind("return torch.exp(self.w * 2) * x", "exp"), -1);
  EXPECT_EQ(findAttributes("self.a.weight @ x + other.self.b - self.c"),
            (std::vector<std::string>{"a.weight", "c"}));
}

std::optional<ParameterView> viewFloats(Shape shape,
                                        const std::vector<float> &values,
                                        StringRef op, int64_t batch) {
  TensorData data;
  data.dtype = DType::F32;
  data.shape = std::move(shape);
  data.bytes = ArrayRef(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(float));
  return findView(data, op, batch);
}

/// The second operand of a sum whose first call, a linear layer, is gone: of
/// module 'cell', with these weights and with this bias in another module.
std::string restoreLinear(const std::vector<float> &weight,
                          const std::string &module) {
  Recorded model({"cell.weight_hh", module + ".bias_hh"});
  model.tensor("cell.weight_hh", {2, 2}, weight);
  model.tensor(module + ".bias_hh", {2}, {1, 2});
  model.tensor("linear", {3, 2}, {1, 2, 1, 2, 1, 2});
  model.node("Gemm", {"x", "cell.weight_hh", module + ".bias_hh"}, "h", "h",
             "linear(%x, %p_cell_weight_hh, %p_" + module + "_bias_hh)", "cell",
             "h = self.cell(x, h)");
  model.node("Add", {"h", "linear"}, "y", "y", "add(%h, %linear)", "cell",
             "h = self.cell(x, h)");
  model.restore();
  std::string operand = model.inputs("y")[1];
  return model.op(operand) == "Reshape" ? model.inputs(operand)[0] : operand;
}

TEST(RestoreTest, LayerOfZerosIsItsBias) {
  EXPECT_EQ(restoreLinear({1, 2, 3, 4}, "cell"), "cell.bias_hh");
  // The product may be zero for its weights.
  EXPECT_EQ(restoreLinear({0, 0, 0, 0}, "cell"), "linear");
  // A copy of another module.
  EXPECT_EQ(restoreLinear({1, 2, 3, 4}, "target"), "linear");
}

/// A GRU of one unit and one input, whose gates are z, r and h in ONNX and r, z
/// and n in PyTorch, without biases, by a call of these parameters.
Recorded makeGru(const Names &parameters, StringRef list) {
  Recorded model(parameters);
  model.tensor("val_1", {1, 3, 1}, {1, 2, 3});
  model.tensor("val_2", {1, 3, 1}, {4, 5, 6});
  model.node(
      "GRU", {"x", "val_1", "val_2"}, "y", "gru",
      ("gru(%x, %zeros, [" + list + "], False, 1, 0.0, True, False, True)")
          .str(),
      "rnn");
  model.attribute("hidden_size", 1);
  return model;
}

TEST(RestoreTest, GatesOfRecurrentLayers) {
  Recorded model = makeGru({"rnn.weight_ih_l0", "rnn.weight_hh_l0"},
                           "%p_rnn_weight_ih_l0, %p_rnn_weight_hh_l0");
  EXPECT_EQ(model.restore().warnings.size(), 0u);
  const onnx::TensorProto *own = model.find("rnn.weight_hh_l0");
  ASSERT_TRUE(own);
  EXPECT_EQ(std::vector<int64_t>(own->dims().begin(), own->dims().end()),
            (std::vector<int64_t>{3, 1}));
  std::vector<float> gates(3);
  ASSERT_EQ(own->raw_data().size(), 3 * sizeof(float));
  std::memcpy(gates.data(), own->raw_data().data(), 3 * sizeof(float));
  EXPECT_EQ(gates, (std::vector<float>{5, 4, 6}));
  EXPECT_EQ(model.op(model.inputs("y")[2]), "Reshape");
}

TEST(RestoreTest, RecurrentLayersThatStay) {
  // With projections there are more parameters than ONNX has a place for.
  Recorded projected =
      makeGru({"rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.weight_hr_l0"},
              "%p_rnn_weight_ih_l0, %p_rnn_weight_hh_l0, %p_rnn_weight_hr_l0");
  projected.restore();
  EXPECT_EQ(projected.inputs("y")[1], "val_1");
  // A computed weight is no parameter.
  Recorded computed =
      makeGru({"rnn.weight_ih_l0"}, "%p_rnn_weight_ih_l0, %mul");
  computed.restore();
  EXPECT_EQ(computed.inputs("y")[1], "val_1");
  // The file has a tensor of the name in another shape.
  Recorded edited = makeGru({"rnn.weight_ih_l0", "rnn.weight_hh_l0"},
                            "%p_rnn_weight_ih_l0, %p_rnn_weight_hh_l0");
  edited.tensor("rnn.weight_ih_l0", {2, 1}, {1, 2});
  EXPECT_EQ(edited.restore().warnings.size(), 1u);
  EXPECT_EQ(edited.inputs("y")[1], "val_1");
}

TEST(ParameterViewTest, Shapes) {
  // Copies for two samples.
  std::vector<float> token{1, 2, 3, 1, 2, 3};
  EXPECT_EQ(viewFloats({2, 1, 3}, token, "expand", 2)->shape, (Shape{1, 1, 3}));
  // A vector in four dimensions, with values that repeat.
  EXPECT_EQ(viewFloats({1, 6, 1, 1}, token, "view", 2)->shape, (Shape{6}));
  // Channels that are as many as samples, all equal.
  EXPECT_EQ(viewFloats({2, 1, 1}, {1, 1}, "view", 2)->shape, (Shape{2}));
  // Time first: samples came first before.
  EXPECT_EQ(viewFloats({3, 2, 1}, {1, 1, 2, 2, 3, 3}, "transpose", 2)->shape,
            (Shape{1, 3, 1}));
  // It is not known which dimensions changed places.
  EXPECT_FALSE(viewFloats({1, 2, 3}, {1, 2, 3, 4, 5, 6}, "transpose", 4));
  EXPECT_FALSE(viewFloats({2}, {1, 2}, "softmax", 2));
  // A bias for each row.
  EXPECT_EQ(viewFloats({2, 3}, token, "linear", 2)->shape, (Shape{3}));
  EXPECT_FALSE(viewFloats({2, 3}, {1, 2, 3, 1, 2, 4}, "linear", 2));
  // Biases of two heads by distance of three tokens.
  std::vector<float> biases{1, 2, 3, 2, 1, 2, 3, 2, 1, //
                            4, 5, 6, 5, 4, 5, 6, 5, 4};
  std::optional<ParameterView> table =
      viewFloats({1, 2, 3, 3}, biases, "unsqueeze", 2);
  EXPECT_EQ(table->shape, (Shape{3, 2}));
  EXPECT_EQ(table->rowDim, 1u);
  EXPECT_EQ(table->indices, (std::vector<int64_t>{0, 1, 2, 1, 0, 1, 2, 1, 0}));
}
} // namespace
