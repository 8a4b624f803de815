//===- ComputedTest.cpp - tensors that the exporter computed --------------===//
//
// With what it says of their sources.
//
//===----------------------------------------------------------------------===//

#include "Recorded.h"

#include <cmath>

namespace dtc::frontend {

namespace {
using Floats = std::vector<float>;

Floats values(const onnx::TensorProto *tensor) {
  TensorReader reader("");
  TensorData data = llvm::cantFail(reader.read(*tensor));
  HostTensor host = toHostTensor(data);
  Floats result;
  for (int64_t i = 0; i < host.size(); ++i)
    result.push_back(host.getFloat(i));
  return result;
}

/// add(x, p, alpha=0.5): the exporter keeps p / 2.
TEST(ComputedTest, ScaledByItsCall) {
  Recorded graph({"p"});
  graph.tensor("val_2", {3}, {1, 2, 3});
  graph.sources("val_2", "'p', 'val_0', 'val_1'");
  graph.node("Add", {"x", "val_2"}, "y", "add", "add(%x, %p_p; alpha: 0.5)");
  RestoredTensors result = graph.restore();
  ASSERT_EQ(graph.inputs("y").size(), 2u);
  std::string product = graph.inputs("y")[1];
  EXPECT_EQ(graph.op(product), "Mul");
  EXPECT_EQ(graph.inputs(product)[0], "p");
  ASSERT_TRUE(graph.find("p"));
  EXPECT_EQ(values(graph.find("p")), Floats({2, 4, 6}));
  EXPECT_EQ(values(graph.find(graph.inputs(product)[1])), Floats({0.5}));
  EXPECT_TRUE(result.warnings.empty());
}

/// The product is scaled by alpha, what is added to it by beta.
TEST(ComputedTest, AddendOfAProduct) {
  Recorded graph({"p"});
  graph.tensor("mul", {2}, {1, 2});
  graph.sources("mul", "'p', 'val_0'");
  graph.node("Add", {"x", "mul"}, "y", "baddbmm",
             "baddbmm(%p_p, %x, %x; beta: 0.25, alpha: 0.5)");
  graph.restore();
  ASSERT_TRUE(graph.find("p"));
  EXPECT_EQ(values(graph.find("p")), Floats({4, 8}));
}

TEST(ComputedTest, FunctionOfOneOperand) {
  Recorded graph({"gate"});
  graph.tensor("sigmoid", {2}, {0.5, 0.75});
  graph.sources("sigmoid", "'gate'");
  graph.node("Mul", {"x", "sigmoid"}, "y", "mul", "mul(%x, %sigmoid)");
  RestoredTensors result = graph.restore();
  std::string value = graph.inputs("y")[1];
  EXPECT_EQ(graph.op(value), "Sigmoid");
  EXPECT_EQ(graph.inputs(value), Names({"gate"}));
  ASSERT_TRUE(graph.find("gate"));
  EXPECT_FLOAT_EQ(values(graph.find("gate"))[1], std::log(3.0f));
  EXPECT_TRUE(result.warnings.empty());
}

/// As CLIP's temperature begins, 1 / 0.07: large, but no mask.
TEST(ComputedTest, FunctionThatGivesALargeNumber) {
  Recorded graph({"logit_scale"});
  graph.tensor("exp", {}, {14.2857F});
  graph.sources("exp", "'logit_scale'");
  graph.node("Mul", {"exp", "x"}, "y", "mul", "mul(%exp, %x)");
  RestoredTensors result = graph.restore();
  std::string computed = graph.inputs("y")[0];
  EXPECT_EQ(graph.op(computed), "Exp");
  EXPECT_EQ(graph.inputs(computed), Names{"logit_scale"});
  ASSERT_TRUE(graph.find("logit_scale"));
  EXPECT_NEAR(values(graph.find("logit_scale"))[0], 2.6593F, 1e-4F);
  EXPECT_TRUE(result.warnings.empty());
}

/// x * sigmoid(p) + p: the record says what was computed of p, which the file
/// has.
TEST(ComputedTest, ParameterThatIsUsedTwice) {
  Recorded graph({"p"});
  graph.tensor("p", {2}, {0, 1});
  graph.tensor("sigmoid", {2}, {0.5, 0.731F});
  graph.sources("sigmoid", "'p'");
  graph.node("Mul", {"x", "sigmoid"}, "z", "mul", "mul(%x, %sigmoid)");
  graph.node("Add", {"z", "p"}, "y", "add", "add(%mul, %p_p)");
  RestoredTensors result = graph.restore();
  std::string function = graph.inputs("z")[1];
  EXPECT_EQ(graph.op(function), "Sigmoid");
  EXPECT_EQ(graph.inputs(function), Names{"p"});
  EXPECT_EQ(values(graph.find("p")), Floats({0, 1}));
  EXPECT_TRUE(result.warnings.empty());
}

/// x * (2 * p) + p: the record does not say the number.
TEST(ComputedTest, ParameterThatIsUsedTwiceByANumber) {
  Recorded graph({"p"});
  graph.tensor("p", {3}, {1, 2, -3});
  graph.tensor("mul", {3}, {2, 4, -6});
  graph.sources("mul", "'p', 'val_0'");
  graph.node("Mul", {"x", "mul"}, "z", "mul_1", "mul(%x, %mul)");
  graph.node("Add", {"z", "p"}, "y", "add", "add(%mul_1, %p_p)");
  RestoredTensors result = graph.restore();
  EXPECT_EQ(graph.inputs("z"), (Names{"x", "mul"}));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("by its results ('mul', perhaps of 'p')"),
            std::string::npos)
      << result.warnings[0];
}

/// A warning reports unknown arithmetic.
TEST(ComputedTest, ParameterThatIsUsedTwiceInAnUnknownWay) {
  Recorded graph({"p"});
  graph.tensor("p", {3}, {1, 2, -3});
  graph.tensor("mul", {3}, {1, 4, 9});
  graph.sources("mul", "'p'");
  graph.node("Mul", {"x", "mul"}, "z", "mul_1", "mul(%x, %mul)");
  graph.node("Add", {"z", "p"}, "y", "add", "add(%mul_1, %p_p)");
  RestoredTensors result = graph.restore();
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("by its results ('mul', perhaps of 'p')"),
            std::string::npos)
      << result.warnings[0];
}

/// x * (1 - p) with p of 1/2: the exporter keeps one of two equal tensors.
TEST(ComputedTest, EqualsTheParameter) {
  auto restore = [](std::vector<float> values) {
    Recorded graph({"p"});
    graph.tensor("p", {2}, std::move(values));
    graph.node("Mul", {"x", "p"}, "z", "mul", "mul(%x, %p_p)");
    graph.node("Mul", {"z", "p"}, "y", "mul_1", "mul(%mul, %rsub)");
    return graph.restore().warnings;
  };
  std::vector<std::string> warnings = restore({0.5, 0.5});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("('rsub' of 'p'). dtc trains these"),
            std::string::npos)
      << warnings[0];
  // Elements that differ are not what arithmetic gives back.
  EXPECT_TRUE(restore({0.5, 0.25}).empty());
}

/// x @ p and x @ p.t(), where p begins symmetric.
TEST(ComputedTest, EqualsItsTranspose) {
  Recorded graph({"p"});
  graph.tensor("p", {2, 2}, {1, 2, 2, 1});
  graph.node("MatMul", {"x", "p"}, "z", "matmul", "matmul(%x, %p_p)");
  graph.node("MatMul", {"z", "p"}, "y", "matmul_1", "matmul(%matmul, %t)");
  RestoredTensors result = graph.restore();
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("'t' of 'p'"), std::string::npos);
}

/// -exp(p), of which the exporter names the steps in no order.
TEST(ComputedTest, StepsOfSeveralCalls) {
  for (const std::string last : {"neg", "unsqueeze_1"}) {
    Recorded graph({"p"});
    bool isMoved = last != "neg";
    graph.tensor(last,
                 isMoved ? std::vector<int64_t>{1, 2, 1, 1}
                         : std::vector<int64_t>{2},
                 {-1, -2});
    graph.sources(last, isMoved ? "'exp', 'neg', 'p', 'unsqueeze', 'val_1', "
                                  "'unsqueeze_2'"
                                : "'exp', 'p'");
    graph.node("Mul", {"x", last}, "y", "mul", "mul(%x, %" + last + ")");
    RestoredTensors result = graph.restore();
    EXPECT_TRUE(result.warnings.empty());
    std::string negated = graph.inputs("y")[1];
    EXPECT_EQ(graph.op(negated), "Mul");
    std::string exponential = graph.inputs(negated)[0];
    EXPECT_EQ(graph.op(exponential), "Exp");
    std::string moved = graph.inputs(exponential)[0];
    EXPECT_EQ(isMoved ? graph.inputs(moved)[0] : moved, "p");
    const onnx::TensorProto *p = graph.find("p");
    ASSERT_TRUE(p);
    EXPECT_EQ(p->dims_size(), 1);
    float second;
    std::memcpy(&second, p->raw_data().data() + 4, 4);
    EXPECT_FLOAT_EQ(second, std::log(2.0f));
  }
}

TEST(ComputedTest, StepsThatKeepTheParameter) {
  // A slice of all is an alias.
  for (const std::string step : {"alias", "slice_1"}) {
    Recorded graph({"pos"});
    graph.tensor(step, {1, 2}, {3, 4});
    graph.sources(step, "'pos', 'val_2'");
    graph.node("Add", {"x", step}, "y", "add", "add(%x, %" + step + ")");
    RestoredTensors result = graph.restore();
    EXPECT_EQ(graph.inputs("y"), (Names{"x", "pos"}));
    EXPECT_TRUE(result.warnings.empty());
    EXPECT_EQ(result.notes.size(), step == "alias" ? 0u : 1u);
  }
}

/// (p * 3).unsqueeze(0), of which the numbers do not tell 3; positions that are
/// looked up, after their numbers were added to.
TEST(ComputedTest, StepsThatScaleOrLookUp) {
  for (const std::string step : {"mul", "embedding"}) {
    bool isLookup = step == "embedding";
    std::string last = isLookup ? "embedding" : "unsqueeze";
    Recorded graph({"p"});
    graph.tensor(last, {1, 2}, {3, 4});
    graph.sources(last, isLookup ? "'add', 'arange', 'p', 'val_2'"
                                 : "'mul', 'p', 'scalar_tensor_default'");
    graph.node("Add", {"x", last}, "y", "add_1", "add(%x, %" + last + ")");
    RestoredTensors result = graph.restore();
    EXPECT_EQ(result.warnings.size(), isLookup ? 0u : 1u) << step;
    EXPECT_EQ(result.notes.size(), isLookup ? 1u : 0u) << step;
  }
}

/// The token of a class, for each sample.
TEST(ComputedTest, StepsThatRepeat) {
  Recorded graph({"token"});
  graph.tensor("expand", {2, 1, 2}, {3, 4, 3, 4});
  graph.sources("expand", "'token', 'unsqueeze', 'val_2'");
  graph.node("Concat", {"expand", "x"}, "y", "cat", "cat([%expand, %x], 1)");
  RestoredTensors result = graph.restore();
  EXPECT_TRUE(result.warnings.empty());
  const onnx::TensorProto *token = graph.find("token");
  ASSERT_TRUE(token);
  EXPECT_EQ(token->dims_size(), 2); // 1 x 2
}

/// Copies cannot be told from equal elements: a warning reports this, or a note
/// if rows differ, since parameters rarely start with such rows.
TEST(ComputedTest, StepsThatMayRepeatMore) {
  using Values = std::vector<float>;
  for (const auto &[dims, values] :
       {std::pair(std::vector<int64_t>{2, 2}, Values{3, 3, 4, 4}),
        {{1, 2, 2}, {0, 0, 0, 0}},
        {{2, 2, 1}, {3, 3, 3, 3}}}) {
    Recorded graph({"p"});
    graph.tensor("expand", dims, values);
    graph.sources("expand", "'p', 'unsqueeze', 'val_2'");
    graph.node("Add", {"expand", "x"}, "y", "add", "add(%expand, %x)");
    RestoredTensors result = graph.restore();
    bool isUniform = values.front() == values.back();
    auto &messages = isUniform ? result.warnings : result.notes;
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_NE(messages[0].find("('expand' of 'p'). dtc trains the"),
              std::string::npos)
        << messages[0];
  }
}

/// exp(p) + 0.1: the number decides what the exponential undoes.
TEST(ComputedTest, NumberThatIsAddedLast) {
  Recorded graph({"p"});
  graph.tensor("add", {2}, {3, 4});
  graph.sources("add", "'exp', 'p', 'val_2'");
  graph.node("Mul", {"x", "add"}, "y", "mul", "mul(%x, %add)");
  RestoredTensors result = graph.restore();
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("dtc trains the results"),
            std::string::npos);
}

/// The record has no number, so 1 + gamma is trained as it is.
TEST(ComputedTest, NumberThatIsAdded) {
  // The file has one of two equal tensors, and the record of one.
  Recorded graph({"a.gamma", "b.gamma"});
  graph.tensor("add", {2}, {3, 4});
  graph.sources("add", "'a.gamma', 'val_2'");
  graph.node("Mul", {"x", "add"}, "z", "mul", "mul(%x, %add)", "a");
  graph.node("Mul", {"z", "add"}, "y", "mul_1", "mul(%mul, %add_1)", "b");
  RestoredTensors result = graph.restore();
  EXPECT_EQ(graph.inputs("z"), (Names{"x", "add"}));
  EXPECT_EQ(graph.inputs("y"), (Names{"z", "add_1"}));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("by its results ('add' of 'a.gamma', "
                                    "'add_1' of 'b.gamma')"),
            std::string::npos)
      << result.warnings[0];
}

/// tanh(sigmoid(p)) or sigmoid(tanh(p)): either gives numbers.
TEST(ComputedTest, StepsInNoKnownOrder) {
  Recorded graph({"p"});
  graph.tensor("view", {2}, {0.25, 0.5});
  graph.sources("view", "'p', 'sigmoid', 'tanh'");
  graph.node("Mul", {"x", "view"}, "y", "mul", "mul(%x, %view)");
  RestoredTensors result = graph.restore();
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("dtc trains the results"),
            std::string::npos)
      << result.warnings[0];
}

/// Two parameters of zeros that one line reshapes: the record names the source
/// of the tensor that is kept, and the other one is what is left.
TEST(ComputedTest, EqualTensorsOfOneLine) {
  Recorded graph({"n.bias", "n.weight"});
  graph.tensor("view", {1, 2}, {0, 0});
  graph.sources("view", "'n.bias', 'val_0'");
  const char *line = "x + self.bias.view(1, -1) + self.weight.view(1, -1)";
  graph.node("Add", {"x", "view"}, "z", "add", "add(%x, %view)", "n", line);
  graph.node("Add", {"z", "view"}, "y", "add_1", "add(%add, %view_1)", "n",
             line);
  graph.restore();
  EXPECT_TRUE(graph.find("n.bias"));
  EXPECT_TRUE(graph.find("n.weight"));
}

/// Numbers stay numbers, whatever parameters the file lacks.
/// The exporter's bias of zeros is no argument: it is not what the clone of the
/// permuted input was.
TEST(ComputedTest, BiasOfAConvolutionWithoutOne) {
  Recorded graph({"w", "lost"});
  graph.tensor("w", {2, 1, 1, 1}, {1, 2});
  graph.tensor("val_0", {2}, {0, 0});
  graph.node("Transpose", {"x"}, "permute", "permute", "permute(%x)");
  graph.node("Conv", {"permute", "w", "val_0"}, "y", "conv2d",
             "conv2d(%clone, %p_w)");
  for (const std::string &warning : graph.restore().warnings)
    EXPECT_EQ(warning.find("clone"), std::string::npos) << warning;
  EXPECT_EQ(graph.inputs("y"), Names({"permute", "w", "val_0"}));
}

TEST(ComputedTest, NumbersThatWereComputed) {
  Recorded graph({"lost"});
  graph.tensor("mul", {2, 1}, {0, 3});
  graph.sources("mul", "'arange', 'val_0'");
  graph.node("Add", {"x", "mul"}, "y", "add", "add(%x, %mul)");
  RestoredTensors result = graph.restore();
  EXPECT_EQ(graph.inputs("y"), Names({"x", "mul"}));
  EXPECT_TRUE(result.computed.empty());
}
} // namespace

} // namespace dtc::frontend
