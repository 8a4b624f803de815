//===- Operators.cpp - the ONNX operators that dtc imports ----------------===//
//
// Collects the families and checks the use of an operator against its row.
//
//===----------------------------------------------------------------------===//

#include "Operators.h"
#include "StopGradients.h"

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
  addEinsumOperators(*this);
  addElementwiseOperators(*this);
  addIndexingOperators(*this);
  addLossOperators(*this);
  addMatMulOperators(*this);
  addNormalizationOperators(*this);
  addOrderingOperators(*this);
  addRandomOperators(*this);
  addReductionOperators(*this);
  addResizeOperators(*this);
  addSequenceOperators(*this);
  addShapeOperators(*this);
}

void OperatorTable::add(ArrayRef<Operator> operators) {
  for (const Operator &op : operators)
    table.try_emplace(op.name, op);
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

/// The type that ONNX gives to an attribute, whichever the operator; nothing
/// for names that operators give several types.
static std::optional<onnx::AttributeProto::AttributeType>
typeOfAttribute(StringRef name) {
  using Proto = onnx::AttributeProto;
  static const StringSet<>
      floats = {"alpha", "beta", "epsilon", "gamma",   "high",    "lambd",
                "low",   "mean", "ratio",   "softcap", "momentum"},
      integers = {"allowzero", "axis",    "batch_dims",    "blocksize",
                  "exclusive", "fmod",    "group",         "is_causal",
                  "keepdims",  "largest", "num_groups",    "reverse",
                  "sorted",    "to",      "training_mode", "transA",
                  "transB",    "upper"},
      lists = {"dilations", "kernel_shape", "pads", "perm", "strides"},
      texts = {"approximate", "auto_pad", "mode", "reduction"};
  if (floats.contains(name))
    return Proto::FLOAT;
  if (integers.contains(name))
    return Proto::INT;
  if (lists.contains(name))
    return Proto::INTS;
  if (texts.contains(name))
    return Proto::STRING;
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
  for (const auto &attribute : node.attribute()) {
    if (!is_contained(known, StringRef(attribute.name())))
      return problem("attribute '" + attribute.name() + "' is not supported",
                     "remove it or replace the operator");
    // Files of old versions do not say it.
    auto type = typeOfAttribute(attribute.name());
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
