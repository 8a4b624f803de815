//===- FxRoles.cpp - which argument of a call an operand is ---------------===//
//
// The signatures of PyTorch's operators, in the file native_functions.yaml of
// its sources, and the operators that its exporter makes of them.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/FxRoles.h"
#include "File/Nodes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
/// Any operand of a commutative operator.
constexpr int either = -1;

struct Role {
  StringLiteral call;
  unsigned argument;
  StringLiteral op;
  int operand;
};

constexpr Role roles[] = {
    {"linear", 0, "MatMul", 0},
    {"linear", 0, "Gemm", 0},
    {"linear", 1, "MatMul", 1},
    {"linear", 1, "Gemm", 1},
    {"linear", 2, "Gemm", 2},
    {"linear", 2, "Add", either},
    {"addmm", 0, "Gemm", 2},
    {"addmm", 0, "Add", either},
    {"addmm", 1, "Gemm", 0},
    {"addmm", 1, "MatMul", 0},
    {"addmm", 2, "Gemm", 1},
    {"addmm", 2, "MatMul", 1},
    {"addcmul", 0, "Add", either},
    {"addcmul", 1, "Mul", either},
    {"mm", 0, "Gemm", 0},
    {"mm", 1, "Gemm", 1},
    {"embedding", 0, "Gather", 0},
    {"layer_norm", 2, "LayerNormalization", 1},
    {"layer_norm", 3, "LayerNormalization", 2},
    {"native_layer_norm", 2, "LayerNormalization", 1},
    {"native_layer_norm", 3, "LayerNormalization", 2},
    {"rms_norm", 2, "RMSNormalization", 1},
    {"rms_norm", 2, "Mul", either},
    {"_fused_rms_norm", 2, "RMSNormalization", 1},
    {"_fused_rms_norm", 2, "Mul", either},
    {"group_norm", 2, "Mul", either},
    {"group_norm", 3, "Add", either},
    {"group_norm", 2, "GroupNormalization", 1},
    {"group_norm", 3, "GroupNormalization", 2},
    {"native_group_norm", 1, "Mul", either},
    {"native_group_norm", 2, "Add", either},
    {"native_group_norm", 1, "GroupNormalization", 1},
    {"native_group_norm", 2, "GroupNormalization", 2},
    {"instance_norm", 1, "InstanceNormalization", 1},
    {"instance_norm", 2, "InstanceNormalization", 2},
    {"scaled_dot_product_attention", 3, "Add", either},
    {"prelu", 1, "PRelu", 1},
    {"_prelu_kernel", 1, "PRelu", 1},
};

bool isConvolution(StringRef call) {
  return call == "conv1d" || call == "conv2d" || call == "conv3d" ||
         call == "convolution" || call.starts_with("conv_transpose");
}

/// Calls whose arguments are the operands of one node.
bool isElementwise(StringRef call, StringRef op) {
  constexpr std::pair<StringLiteral, StringLiteral> pairs[] = {
      {"add", "Add"},           {"sub", "Sub"},        {"mul", "Mul"},
      {"div", "Div"},           {"pow", "Pow"},        {"maximum", "Max"},
      {"minimum", "Min"},       {"matmul", "MatMul"},  {"bmm", "MatMul"},
      {"gt", "Greater"},        {"lt", "Less"},        {"eq", "Equal"},
      {"ge", "GreaterOrEqual"}, {"le", "LessOrEqual"},
  };
  return any_of(pairs, [&](const auto &pair) {
    return pair.first == call && pair.second == op;
  });
}
} // namespace

std::optional<double> findScale(const FxCall &call) {
  StringRef op = call.op;
  SmallVector<StringRef, 2> names;
  if (op == "add" || op == "sub" || op == "rsub")
    names = {"alpha"};
  else if (op == "addcmul" || op == "addcdiv")
    names = {"value"};
  else if (is_contained({"addmm", "addmv", "addr", "addbmm", "baddbmm"}, op))
    names = {"beta"}; // alpha is of the product
  for (StringRef name : names) {
    double scale;
    if (!StringRef(call.keywords.lookup(name)).getAsDouble(scale) && scale != 0)
      return scale;
  }
  return std::nullopt;
}

bool isBatchNorm(const FxCall &call) {
  return StringRef(call.op).contains("batch_norm");
}

std::optional<unsigned> findBiasArgument(const FxCall &call) {
  if (call.op == "addmm")
    return 0;
  if (call.op == "linear" || isConvolution(call.op))
    return 2;
  return std::nullopt;
}

/// Whether index(x, indices) looks up the first dimensions of x, which the
/// exporter else moves to the front.
static bool looksUpFront(const FxCall &call) {
  return call.op == "index" && call.texts.size() > 1 &&
         !StringRef(call.texts[1]).contains("None");
}

std::optional<unsigned> findArgument(const FxCall &call,
                                     const onnx::NodeProto &node, int operand) {
  StringRef op = node.op_type();
  if (looksUpFront(call) && (op == "GatherND" || op == "Gather") &&
      operand == 0)
    return 0;
  if ((isConvolution(call.op) && (op == "Conv" || op == "ConvTranspose")) ||
      (isBatchNorm(call) && op == "BatchNormalization"))
    return operand;
  if (isElementwise(call.op, op) && node.input_size() == 2)
    return operand;
  for (const Role &role : roles)
    if (role.call == call.op && role.op == op &&
        (role.operand == operand || role.operand == either))
      return role.argument;
  return std::nullopt;
}

std::optional<StringRef> findValue(const FxCall &call,
                                   const onnx::NodeProto &node, int operand) {
  std::optional<unsigned> number = findArgument(call, node, operand);
  // Each tensor of a list is an operand.
  bool isList = node.op_type() == "Concat" && call.op == "cat";
  if (isList)
    number = 0;
  if (!number || *number >= call.arguments.size())
    return std::nullopt;
  const auto &values = call.arguments[*number];
  if (isList && int(values.size()) == node.input_size())
    return values[operand];
  return values.size() == 1 ? std::optional<StringRef>(values.front())
                            : std::nullopt;
}

Holding findHolding(const FxCall &call, const onnx::NodeProto &node,
                    int operand, int rank) {
  if (call.op == "linear" && rank == 2 && operand == 1)
    return node.op_type() == "Gemm" && readInt(node, "transB", 0)
               ? Holding::Same
               : Holding::Transposed;
  StringRef name = call.op;
  if (rank > 1 && (name.contains("prelu") || name.contains("group_norm") ||
                   name.contains("instance_norm")))
    return Holding::Vector;
  return Holding::Same;
}

} // namespace dtc::frontend
