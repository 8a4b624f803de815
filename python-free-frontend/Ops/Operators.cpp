//===- Operators.cpp - the ONNX operators that dtc imports ----------------===//
//
// Collects all families of operators, and checks nodes against the table.
//
//===----------------------------------------------------------------------===//

#include "Ops/Operators.h"
#include "File/Annotations.h"
#include "File/StopGradientOp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace dtc::frontend {

OperatorTable::OperatorTable() {
  addActivationOperators(*this);
  addAttentionOperators(*this);
  addComposedNormOperators(*this);
  addConvolutionOperators(*this);
  addCoordinateOperators(*this);
  addDeformConvOperators(*this);
  addEinsumOperators(*this);
  addElementwiseOperators(*this);
  addGridSampleOperators(*this);
  addIndexingOperators(*this);
  addLossOperators(*this);
  addMatMulOperators(*this);
  addNormalizationOperators(*this);
  addOrderingOperators(*this);
  addPoolingOperators(*this);
  addRandomOperators(*this);
  addRecurrentOperators(*this);
  addReductionOperators(*this);
  addResizeOperators(*this);
  addSequenceOperators(*this);
  addShapeOperators(*this);
  addSpectrumOperators(*this);
}

void OperatorTable::add(ArrayRef<Operator> operators) {
  for (const Operator &op : operators)
    table.try_emplace(op.name, op);
}

void OperatorTable::addElementwise(ArrayRef<Operator> operators) {
  add(operators);
  for (const Operator &op : operators)
    table.find(op.name)->second.isElementwise = true;
}

const Operator *OperatorTable::find(StringRef name) const {
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

static std::string describeArity(const Operator &op) {
  std::string least = itostr(op.minOperands);
  if (op.maxOperands == any)
    return least + " or more";
  return op.maxOperands == op.minOperands
             ? least
             : least + " to " + itostr(op.maxOperands);
}

/// The type of an attribute. It depends on the name only, except for two
/// operators.
static std::optional<onnx::AttributeProto::AttributeType>
typeOfAttribute(StringRef op, StringRef name) {
  using Proto = onnx::AttributeProto;
  struct Group {
    Proto::AttributeType type;
    StringSet<> names;
  };
  static const Group groups[] = {
      {Proto::FLOAT,
       {"alpha", "beta", "bias", "clip", "cubic_coeff_a", "epsilon",
        "extrapolation_value", "gamma", "high", "lambd", "low", "max", "mean",
        "min", "momentum", "ratio", "scale", "softcap", "value_float"}},
      {Proto::INT,
       {"align_corners",
        "allowzero",
        "antialias",
        "axis",
        "batch_axis",
        "batch_dims",
        "blocksize",
        "ceil_mode",
        "count_include_pad",
        "detect_negative",
        "detect_positive",
        "dtype",
        "end",
        "exclude_outside",
        "exclusive",
        "fmod",
        "group",
        "hidden_size",
        "ignore_index",
        "input_forget",
        "interleaved",
        "inverse",
        "is_causal",
        "k",
        "keepdims",
        "kv_num_heads",
        "largest",
        "layout",
        "linear_before_reset",
        "new_axis",
        "noop_with_empty_axes",
        "num_groups",
        "num_heads",
        "num_outputs",
        "num_scan_inputs",
        "offset_group",
        "onesided",
        "p",
        "q_num_heads",
        "qk_matmul_output_mode",
        "reverse",
        "rotary_embedding_dim",
        "saturate",
        "select_last_index",
        "size",
        "softmax_precision",
        "sorted",
        "start",
        "stash_type",
        "storage_order",
        "time_axis",
        "to",
        "training_mode",
        "transA",
        "transB",
        "upper",
        "value_int"}},
      {Proto::INTS,
       {"axes", "dilations", "ends", "kernel_shape", "output_padding",
        "output_shape", "pads", "perm", "scan_input_axes",
        "scan_input_directions", "scan_output_axes", "scan_output_directions",
        "shape", "split", "starts", "strides", "value_ints"}},
      {Proto::FLOATS,
       {"activation_alpha", "activation_beta", "scales", "value_floats"}},
      {Proto::STRING,
       {"approximate", "auto_pad", "coordinate_transformation_mode",
        "direction", "equation", "keep_aspect_ratio_policy", "mode",
        "nearest_mode", "padding_mode", "reduction", "round_mode"}},
      {Proto::STRINGS, {"activations"}},
      {Proto::GRAPH, {"body", "else_branch", "then_branch"}}};
  if (name == "seed")
    return op == "Dropout" ? Proto::INT : Proto::FLOAT;
  if (name == "value")
    return op == "Pad" ? Proto::FLOAT : Proto::TENSOR;
  for (const Group &group : groups)
    if (group.names.contains(name))
      return group.type;
  return std::nullopt;
}

Error OperatorTable::check(const onnx::NodeProto &node, int64_t opset) const {
  bool isOwn = isStopGradient(node.domain(), node.op_type());
  if (!node.domain().empty() && node.domain() != "ai.onnx" && !isOwn)
    return problem("operator of domain '" + node.domain() +
                       "' is not supported",
                   "export with standard ONNX operators");
  const Operator *op = find(node.op_type());
  if (!op || (node.op_type() == stopGradientOp && !isOwn))
    return problem("operator is not supported",
                   "replace it in the model by supported operators");
  if (opset < op->since)
    return problem("operator is new in opset " + Twine(op->since) +
                       ", the model uses opset " + Twine(opset),
                   "export with a newer opset_version");
  int count = node.input_size();
  if (count < op->minOperands ||
      (op->maxOperands != any && count > op->maxOperands))
    return problem("has " + Twine(count) + " operands, expected " +
                       describeArity(*op),
                   "the model is not valid ONNX; export it again");
  for (int i = 0; i < count; ++i)
    if (node.input(i).empty() &&
        (i < op->minOperands || op->maxOperands == any))
      return problem("operand " + Twine(i) + " is missing",
                     "the model is not valid ONNX; export it again");
  if (node.output_size() == 0)
    return problem("has no outputs",
                   "the model is not valid ONNX; export it again");
  SmallVector<StringRef> known;
  op->attributes.split(known, ' ');
  StringSet<> given;
  for (const auto &attribute : node.attribute()) {
    if (!given.insert(attribute.name()).second)
      return problem("attribute '" + attribute.name() + "' appears twice",
                     "the model is not valid ONNX; export it again");
    if (StringRef(attribute.name()).starts_with(annotation::prefix))
      continue;
    if (!is_contained(known, StringRef(attribute.name())))
      return problem("attribute '" + attribute.name() + "' is not supported",
                     "remove it or replace the operator");
    // Files of old versions do not state the type.
    auto type = typeOfAttribute(node.op_type(), attribute.name());
    if (type && attribute.type() != onnx::AttributeProto::UNDEFINED &&
        attribute.type() != *type)
      return problem(
          "attribute '" + attribute.name() + "' is " +
              onnx::AttributeProto::AttributeType_Name(attribute.type()) +
              ", expected " + onnx::AttributeProto::AttributeType_Name(*type),
          "the model is not valid ONNX; export it again");
  }
  return Error::success();
}

} // namespace dtc::frontend
