//===- RecordTest.cpp - what dynamo records and what it means -------------===//
//
// Calls, the table of operators, and the sentences of findings.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/Findings.h"
#include "Recorded.h"

using namespace llvm;
using namespace dtc::frontend;

namespace {
RecordedCall readCallOf(Recorded &model, StringRef result) {
  return *readCall(*model.nodeOf(result));
}

TEST(RecordTest, ArgumentsOfACall) {
  Recorded model({});
  model.node("Concat", {"x"}, "y", "cat",
             "cat([%x, %a], [1, (2, 3)], -1, None; alpha: 0.5, out: %b)");
  RecordedCall call = readCallOf(model, "y");
  EXPECT_EQ(call.result, "cat");
  EXPECT_EQ(call.op, "cat");
  ASSERT_EQ(call.arguments.size(), 4u);
  EXPECT_EQ(call.values(), (SmallVector<StringRef>{"x", "a"}));
  EXPECT_EQ(call.text(1), "[1, (2, 3)]");
  EXPECT_EQ(call.integer(2), std::optional<int64_t>(-1));
  EXPECT_EQ(call.integer(3), std::nullopt);
  EXPECT_EQ(call.text(9), "");
  EXPECT_EQ(call.keywords.lookup("alpha"), "0.5");
}

TEST(RecordTest, NumbersOfResults) {
  EXPECT_EQ(dropNumber("embedding_12"), "embedding");
  EXPECT_EQ(dropNumber("conv2d"), "conv2d");
  EXPECT_EQ(getNumber("conv2d_3"), 3);
  EXPECT_EQ(getNumber("conv2d"), 0);
  EXPECT_EQ(makeResultName("conv2d", 0), "conv2d");
}

TEST(CallTableTest, Kinds) {
  EXPECT_EQ(getKind("conv_transpose2d_1"), CallKind::Layer);
  EXPECT_EQ(getKind("_native_batch_norm_legit_functional"),
            CallKind::BatchNorm);
  EXPECT_EQ(getKind("scalar_tensor_default_2"), CallKind::Create);
  EXPECT_EQ(getKind("no_such_operator"), CallKind::Other);
  EXPECT_TRUE(isMove("unsqueeze_4"));
  EXPECT_FALSE(isMove("mul"));
  EXPECT_TRUE(isCreation("tril"));
  EXPECT_FALSE(isCreation("linear"));
}

TEST(CallTableTest, ArgumentsOfOperands) {
  Recorded model({});
  model.node("Gemm", {"a", "b", "c"}, "y", "addmm",
             "addmm(%c, %a, %b; beta: 2)");
  RecordedCall call = readCallOf(model, "y");
  const onnx::NodeProto &node = *model.nodeOf("y");
  EXPECT_EQ(findArgument(call, node, 0), std::optional<unsigned>(1));
  EXPECT_EQ(findArgument(call, node, 2), std::optional<unsigned>(0));
  EXPECT_EQ(findArgument(call, node, 3), std::nullopt);
  EXPECT_EQ(findBias(call), "c");
  EXPECT_EQ(findScale(call), std::optional<double>(2));
  // A norm's input is none of the operands that are weights.
  model.node("LayerNormalization", {"y", "w"}, "z", "layer_norm",
             "layer_norm(%y, [2], %w)");
  RecordedCall norm = readCallOf(model, "z");
  EXPECT_EQ(findArgument(norm, *model.nodeOf("z"), 0), std::nullopt);
  EXPECT_EQ(findValue(norm, *model.nodeOf("z"), 1),
            std::optional<StringRef>("w"));
}

/// One line for all findings of a kind, of which it names three.
TEST(FindingsTest, GroupsOfOneKind) {
  Findings findings;
  for (const char *name : {"a", "b", "c", "d", "e"})
    findings.add(Finding::ZeroBias, quote(name));
  findings.add(Finding::Moved, quote("expand", "of", "token"));
  findings.add(Finding::FoldedNorm, quote("bn"));
  RestoredTensors result = findings.finish();
  ASSERT_EQ(result.details.size(), 1u);
  EXPECT_NE(result.details[0].find("'a', 'b', 'c' and 2 more"),
            std::string::npos);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("('expand' of 'token')"), std::string::npos);
  EXPECT_EQ(result.warnings.size(), 1u);
}

/// The module that uses a tied tensor has another name for it, of which the
/// first of the state dict is that of the parameter.
TEST(RecordTest, TiedTensors) {
  Recorded model({"wte.weight", "head.weight"});
  model.tensor("head.weight", {2, 2}, {1, 2, 3, 4});
  model.node("Gather", {"head.weight", "x"}, "e", "embedding",
             "embedding(%p_head_weight, %x)", "wte");
  model.node("Gemm", {"e", "head.weight"}, "y", "linear",
             "linear(%embedding, %p_head_weight)", "head");
  model.attribute("transB", 1);
  RestoredTensors result = model.restore();
  EXPECT_EQ(model.inputs("e")[0], "wte.weight");
  EXPECT_EQ(model.inputs("y")[1], "wte.weight");
  EXPECT_EQ(result.aliases["wte.weight"], Names{"head.weight"});
}

TEST(RecordTest, BatchNormInsideOfAConvolution) {
  Recorded model({"bn.weight"}, {"bn.running_mean", "bn.running_var"});
  model.tensor("val_0", {1, 1, 1, 1}, {2});
  model.node("Conv", {"x", "val_0"}, "y", "batch_norm",
             "batch_norm(%conv2d, %p_bn_weight, None, %b_bn_running_mean, "
             "%b_bn_running_var)",
             "bn");
  RestoredTensors result = model.restore();
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_NE(result.warnings[0].find("layers before ('bn')"), std::string::npos);
  EXPECT_TRUE(result.explained.contains("bn.weight"));
}
} // namespace
