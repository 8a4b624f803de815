//===- UnsupportedModels.cpp - valid models that dtc refuses --------------===//
//
// Versions, operators, types and shapes outside of what dtc supports.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <google/protobuf/unknown_field_set.h>

namespace dtc::test {

namespace {
/// A model of one node, y = op(x...).
ModelBuilder single(const std::string &op, const Names &inputs = {"x"},
                    int64_t opset = 17) {
  ModelBuilder m(opset);
  m.input("x", {"batch", 4});
  m.node(op, "node", inputs, {"y"});
  m.output("y");
  return m;
}

File oldOpset() { return single("Relu", {"x"}, 8); }
File newOpset() { return single("Relu", {"x"}, 25); }
File noOpset() {
  ModelBuilder m = single("Relu");
  m.model.mutable_opset_import(0)->set_domain("com.example");
  return m;
}
File newIr() {
  ModelBuilder m = single("Relu");
  m.model.set_ir_version(15);
  return m;
}
/// All values of the model are known.
File withoutInputs() {
  ModelBuilder m(17);
  m.weight("w", Ints{2, 2});
  m.node("Relu", "node", {"w"}, {"y"});
  m.output("y");
  return m;
}
/// One of the two inputs has no samples.
File otherBatch() {
  ModelBuilder m(17);
  m.input("x", {"batch", 4});
  m.input("shift", {4});
  m.weight("w", Ints{4, 4});
  m.node("MatMul", "product", {"x", "w"}, {"p"});
  m.node("Add", "node", {"p", "shift"}, {"y"});
  m.output("y");
  return m;
}
File sparse() {
  ModelBuilder m = single("Relu");
  m.graph().add_sparse_initializer();
  return m;
}

/// A tensor of unknown shape, beside outputs that are a loss or can have one.
File otherOutputs() {
  ModelBuilder m(17);
  m.input("x", {"batch", 4});
  m.weight("w", Ints{4, 4});
  m.node("MatMul", "product", {"x", "w"}, {"p"});
  m.node("ConstantOfShape", "node", {"p"}, {"places"});
  m.node("ReduceMean", "mean", {"p"}, {"l"});
  m.set(*m.graph().mutable_node()->rbegin(), "keepdims", int64_t(0));
  m.output("places");
  m.output("p");
  m.output("l");
  return m;
}

/// A model with one error of each kind.
File several() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.input("complex", {"batch", 4}, onnx::TensorProto::COMPLEX64);
  m.input("target", {2}, onnx::TensorProto::INT64);
  m.node("Frobnicate", "unknown", {"x"}, {"a"});
  m.node("FusedMatMul", "fused", {"x", "x"}, {"b"}).set_domain("com.microsoft");
  m.node("Gelu", "tooNew", {"x"}, {"c"});
  m.node("ConstantOfShape", "", {"x"}, {"d"});
  m.node("Reshape", "dynamicShape", {"x", "target"}, {"e"});
  m.node("Relu", "afterwards", {"a"}, {"f"});
  m.node("Relu", "onComplex", {"complex"}, {"g"});
  for (const char *name : {"b", "c", "d", "e", "f", "g"})
    m.output(name);
  return m;
}

/// The same unsupported operator many times, and another one in between.
File repeated() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  for (int i = 0; i < 9; ++i)
    m.node("Frobnicate", "layer." + std::to_string(i), {"x"},
           {"y" + std::to_string(i)});
  m.node("ConstantOfShape", "other", {"x"}, {"z"});
  for (int i = 0; i < 9; ++i)
    m.output("y" + std::to_string(i));
  m.output("z");
  return m;
}

File complexWeight() {
  ModelBuilder m = single("Add", {"x", "w"});
  m.weight("w", {4}).set_data_type(onnx::TensorProto::COMPLEX64);
  return m;
}
File dynamicDims() {
  ModelBuilder m;
  m.input("x", {"batch", "seq", ""});
  m.node("Relu", "node", {"x"}, {"y"});
  m.output("y");
  return m;
}
File fixedBatch() {
  ModelBuilder m;
  m.input("x", {1, 4});
  m.node("Relu", "node", {"x"}, {"y"});
  m.output("y");
  return m;
}
File noShape() {
  ModelBuilder m = single("Relu");
  m.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  return m;
}
/// A Reshape has a fixed number of rows.
File bakedBatch() {
  ModelBuilder m = single("Reshape", {"x", "shape"});
  m.ints("shape", {2, 2, 4});
  return m;
}
File matmulMismatch() {
  ModelBuilder m = single("MatMul", {"x", "w"});
  m.weight("w", {5, 3});
  return m;
}
File broadcastMismatch() {
  ModelBuilder m = single("Add", {"x", "w"});
  m.weight("w", {3});
  return m;
}
File mixedTypes() {
  ModelBuilder m = single("Add", {"x", "w"});
  m.ints("w", {1, 2, 3, 4});
  return m;
}
File tooManyOperands() { return single("Relu", {"x", "x"}); }
File missingOperand() { return single("Add", {"x", ""}); }
File unknownAttribute() {
  ModelBuilder m = single("Relu");
  m.set(m.graph().mutable_node()->at(0), "leak", 1);
  return m;
}
File attributeType() {
  ModelBuilder m = single("Softmax");
  m.set(m.graph().mutable_node()->at(0), "axis", "last");
  return m;
}
File badAxis() {
  ModelBuilder m = single("Softmax");
  m.set(m.graph().mutable_node()->at(0), "axis", 2);
  return m;
}
File badIndex() {
  ModelBuilder m = single("Gather", {"x", "index"});
  m.set(m.graph().mutable_node()->at(0), "axis", 1);
  m.ints("index", {1, 4});
  return m;
}
File repeatedUpdates() {
  ModelBuilder m = single("ScatterElements", {"x", "i", "u"});
  m.set(m.graph().mutable_node()->at(0), "axis", 1);
  m.input("i", {"batch", 2}, onnx::TensorProto::INT64);
  m.input("u", {"batch", 2});
  return m;
}
File diagonal() {
  ModelBuilder m = single("Einsum");
  m.set(m.graph().mutable_node()->at(0), "equation", std::string("ii->i"));
  return m;
}
/// Inputs of a graph network: its nodes and its edges.
ModelBuilder withEdges(const model::Dims &nodes, const model::Dims &edges) {
  ModelBuilder m(17);
  m.input("x", nodes);
  m.input("edges", edges);
  m.weight("w", Ints{4, 4});
  m.node("MatMul", "product", {"x", "w"}, {"y"});
  m.node("MatMul", "pairs", {"edges", "w"}, {"z"});
  m.output("y");
  m.output("z");
  return m;
}
File edges() { return withEdges({"num_nodes", 4}, {"num_edges", 4}); }
File edgesFixed() { return withEdges({10, 4}, {30, 4}); }
File openBranch() {
  ModelBuilder m = single("If", {"c"});
  m.input("c", {1}, onnx::TensorProto::BOOL);
  return m;
}
/// nn.EmbeddingBag(padding_idx=0) as dynamo writes it, without other nodes.
File paddedBag() {
  ModelBuilder m = single("If", {"c"});
  m.input("c", {1}, onnx::TensorProto::BOOL);
  onnx::StringStringEntryProto call;
  call.set_key("pkg.torch.onnx.fx_node");
  call.set_value("%embedding_bag : [num_users=1] = call_function[target=torch."
                 "ops.aten.embedding_bag.padding_idx](args = (%p_e_weight, "
                 "%view, %arange, False, 1, False, None, False, 0), kwargs = "
                 "{})");
  constexpr int metadata = 9;
  m.graph().mutable_node(0)->mutable_unknown_fields()->AddLengthDelimited(
      metadata, call.SerializeAsString());
  return m;
}
File outsideSequence() {
  ModelBuilder m = single("SplitToSequence");
  m.set(m.graph().mutable_node()->at(0), "axis", 1);
  m.ints("four", {4});
  m.node("SequenceAt", "element", {"y", "four"}, {"z"});
  m.graph().clear_output();
  m.output("z");
  return m;
}
/// z = op(sequence of the rows of x).
ModelBuilder ofSequence(const char *op) {
  ModelBuilder m = single("SplitToSequence");
  m.set(m.graph().mutable_node()->at(0), "axis", 1);
  m.node(op, "node", {"y"}, {"z"});
  m.graph().clear_output();
  m.output("z");
  return m;
}
File sequenceAsTensor() { return ofSequence("Relu"); }
File sequenceAsOutput() { return ofSequence("Identity"); }
/// A function in dtc's domain that dtc does not know.
File foreignDomain() {
  ModelBuilder m = single("Relu");
  m.graph().mutable_node(0)->set_domain("dtc");
  return m;
}
File divisionByZero() {
  ModelBuilder m = single("Add", {"x", "q"});
  m.graph().clear_node();
  m.ints("one", {1});
  m.ints("zero", {0});
  m.node("Div", "quotient", {"one", "zero"}, {"n"});
  m.node("Reshape", "node", {"x", "n"}, {"y"});
  return m;
}
File hugeConstant() {
  ModelBuilder m = single("Add", {"x", "c"});
  m.graph().clear_node();
  m.ints("shape", {1 << 20, 1 << 20});
  m.node("ConstantOfShape", "zeros", {"shape"}, {"c"});
  m.node("Add", "node", {"x", "c"}, {"y"});
  return m;
}
} // namespace

void addUnsupportedModels(ModelTable &table) {
  table["old-opset"] = oldOpset;
  table["new-opset"] = newOpset;
  table["no-opset"] = noOpset;
  table["new-ir"] = newIr;
  table["without-inputs"] = withoutInputs;
  table["other-batch"] = otherBatch;
  table["sparse"] = sparse;
  table["other-outputs"] = otherOutputs;
  table["several"] = several;
  table["repeated"] = repeated;
  table["complex-weight"] = complexWeight;
  table["dynamic-dims"] = dynamicDims;
  table["fixed-batch"] = fixedBatch;
  table["no-shape"] = noShape;
  table["baked-batch"] = bakedBatch;
  table["matmul-mismatch"] = matmulMismatch;
  table["broadcast-mismatch"] = broadcastMismatch;
  table["mixed-types"] = mixedTypes;
  table["too-many-operands"] = tooManyOperands;
  table["missing-operand"] = missingOperand;
  table["unknown-attribute"] = unknownAttribute;
  table["attribute-type"] = attributeType;
  table["bad-axis"] = badAxis;
  table["bad-index"] = badIndex;
  table["repeated-updates"] = repeatedUpdates;
  table["diagonal"] = diagonal;
  table["open-branch"] = openBranch;
  table["padded-bag"] = paddedBag;
  table["edges"] = edges;
  table["edges-fixed"] = edgesFixed;
  table["outside-sequence"] = outsideSequence;
  table["sequence-as-output"] = sequenceAsOutput;
  table["sequence-as-tensor"] = sequenceAsTensor;
  table["foreign-domain"] = foreignDomain;
  table["division-by-zero"] = divisionByZero;
  table["huge-constant"] = hugeConstant;
}

} // namespace dtc::test
