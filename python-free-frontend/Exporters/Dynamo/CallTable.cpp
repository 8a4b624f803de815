//===- CallTable.cpp - PyTorch's operators and what they do ---------------===//
//
// The signatures are those of native_functions.yaml in PyTorch's sources.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "File/Nodes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
struct Row {
  StringLiteral name;
  CallKind kind;
  /// The nodes that the exporter makes of the call, each with the argument that
  /// its first operand is, its second and so on: "-" for one that is none.
  StringLiteral nodes = "";
  /// The keyword that multiplies an operand.
  StringLiteral scale = "";
  int bias = -1; ///< the argument
};

using Kind = CallKind;

constexpr StringLiteral convolutionNodes = "Conv 012, ConvTranspose 012";
constexpr StringLiteral batchNormNodes = "BatchNormalization 01234";

constexpr Row table[] = {
    // Layers.
    {"linear", Kind::Layer, "MatMul 01, Gemm 012, Add 22", "", 2},
    {"addmm", Kind::Layer, "Gemm 120, MatMul 12, Add 00", "beta", 0},
    {"conv1d", Kind::Layer, convolutionNodes, "", 2},
    {"conv2d", Kind::Layer, convolutionNodes, "", 2},
    {"conv3d", Kind::Layer, convolutionNodes, "", 2},
    {"convolution", Kind::Layer, convolutionNodes, "", 2},
    {"conv_transpose1d", Kind::Layer, convolutionNodes, "", 2},
    {"conv_transpose2d", Kind::Layer, convolutionNodes, "", 2},
    {"conv_transpose3d", Kind::Layer, convolutionNodes, "", 2},
    {"layer_norm", Kind::Layer, "LayerNormalization -23"},
    {"native_layer_norm", Kind::Layer, "LayerNormalization -23"},
    {"rms_norm", Kind::Layer, "RMSNormalization -2, Mul 22"},
    {"_fused_rms_norm", Kind::Other, "RMSNormalization -2, Mul 22"},
    {"group_norm", Kind::Other, "GroupNormalization -23, Mul 22, Add 33"},
    {"native_group_norm", Kind::Other,
     "GroupNormalization -12, Mul 11, Add 22"},
    {"instance_norm", Kind::Other, "InstanceNormalization -12"},
    {"batch_norm", Kind::BatchNorm, batchNormNodes},
    {"prelu", Kind::Other, "PRelu -1"},
    {"_prelu_kernel", Kind::Other, "PRelu -1"},
    {"scaled_dot_product_attention", Kind::Other, "Add 33"},
    {"dropout", Kind::Dropout},
    {"native_dropout", Kind::Dropout},
    // Sums and products.
    {"add", Kind::Scale, "Add 01", "alpha"},
    {"sub", Kind::Scale, "Sub 01", "alpha"},
    {"rsub", Kind::Scale, "", "alpha"},
    {"mul", Kind::Scale, "Mul 01"},
    {"div", Kind::Scale, "Div 01"},
    {"addcmul", Kind::Other, "Add 00, Mul 11", "value"},
    {"addcdiv", Kind::Other, "", "value"},
    {"addmv", Kind::Other, "", "beta"},
    {"addr", Kind::Other, "", "beta"},
    {"addbmm", Kind::Other, "", "beta"},
    {"baddbmm", Kind::Other, "", "beta"},
    {"mm", Kind::Other, "Gemm 01"},
    {"matmul", Kind::Other, "MatMul 01"},
    {"bmm", Kind::Other, "MatMul 01"},
    {"pow", Kind::Other, "Pow 01"},
    {"maximum", Kind::Other, "Max 01"},
    {"minimum", Kind::Other, "Min 01"},
    // Comparisons.
    {"gt", Kind::Compare, "Greater 01"},
    {"lt", Kind::Compare, "Less 01"},
    {"eq", Kind::Compare, "Equal 01"},
    {"ne", Kind::Compare},
    {"ge", Kind::Compare, "GreaterOrEqual 01"},
    {"le", Kind::Compare, "LessOrEqual 01"},
    // Rows of tables.
    {"embedding", Kind::Lookup, "Gather 0"},
    {"embedding_bag", Kind::Lookup},
    {"index", Kind::Lookup, "Gather 0, GatherND 0"},
    {"index_select", Kind::Lookup},
    {"gather", Kind::Lookup},
    // Moves.
    {"alias", Kind::Copy},
    {"clone", Kind::Copy},
    {"contiguous", Kind::Copy},
    {"copy", Kind::Copy},
    {"detach", Kind::Copy},
    {"to", Kind::Copy},
    {"_to_copy", Kind::Copy},
    {"type_as", Kind::Copy},
    {"view", Kind::Reshape},
    {"_unsafe_view", Kind::Reshape},
    {"reshape", Kind::Reshape},
    {"flatten", Kind::Reshape},
    {"unflatten", Kind::Reshape},
    {"squeeze", Kind::Reshape},
    {"unsqueeze", Kind::Reshape},
    {"expand", Kind::Repeat},
    {"expand_as", Kind::Repeat},
    {"repeat", Kind::Repeat},
    {"tile", Kind::Repeat},
    {"t", Kind::Permute},
    {"numpy_t", Kind::Permute},
    {"transpose", Kind::Permute},
    {"permute", Kind::Permute},
    {"movedim", Kind::Permute},
    {"select", Kind::Select},
    {"slice", Kind::Select},
    {"narrow", Kind::Select},
    {"split", Kind::Select},
    {"getitem", Kind::Part},
    // Numbers.
    {"scalar_tensor", Kind::Create},
    {"full", Kind::Create},
    {"full_like", Kind::Create},
    {"fill", Kind::Create},
    {"arange", Kind::Create},
    {"eye", Kind::Create},
    {"linspace", Kind::Create},
    {"zeros", Kind::Create},
    {"zeros_like", Kind::Create},
    {"ones", Kind::Create},
    {"ones_like", Kind::Create},
    {"empty", Kind::Create},
    {"empty_like", Kind::Create},
    {"empty_permuted", Kind::Create},
    {"new_full", Kind::Create},
    {"new_zeros", Kind::Create},
    {"new_ones", Kind::Create},
    {"new_empty", Kind::Create},
    {"lift_fresh", Kind::Create},
    {"lift_fresh_copy", Kind::Create},
    {"sym_size_int", Kind::Create},
    {"tril", Kind::Triangle},
    {"triu", Kind::Triangle},
    {"tril_indices", Kind::Create},
    {"triu_indices", Kind::Create},
};

const Row *findRow(StringRef name) {
  static const auto *rows = [] {
    auto *map = new StringMap<const Row *>;
    for (const Row &row : table)
      map->try_emplace(row.name, &row);
    return map;
  }();
  // Calls of decompositions end in their overload.
  name.consume_back("_default");
  if (name.contains("batch_norm")) // native, functional, of cuDNN, ...
    name = "batch_norm";
  return rows->lookup(name);
}

/// What follows the operator in "MatMul 01, Gemm 012, Add 22".
StringRef findOperands(StringRef nodes, StringRef op) {
  while (!nodes.empty()) {
    auto [first, rest] = nodes.split(", ");
    auto [name, operands] = first.split(' ');
    if (name == op)
      return operands;
    nodes = rest;
  }
  return "";
}
} // namespace

CallKind getKind(StringRef name) {
  const Row *row = findRow(dropNumber(name));
  return row ? row->kind : Kind::Other;
}

bool isMove(StringRef name) {
  return is_contained({Kind::Copy, Kind::Reshape, Kind::Repeat, Kind::Permute,
                       Kind::Select, Kind::Part},
                      getKind(name));
}

bool isCreation(StringRef name) {
  return is_contained({Kind::Create, Kind::Triangle}, getKind(name));
}

bool isLayerOrDropout(StringRef name) {
  return is_contained({Kind::Layer, Kind::BatchNorm, Kind::Dropout, Kind::Part},
                      getKind(name)) ||
         dropNumber(name).starts_with("embedding");
}

std::optional<double> findScale(const RecordedCall &call) {
  const Row *row = findRow(call.op);
  double scale;
  if (!row || row->scale.empty() ||
      StringRef(call.keywords.lookup(row->scale)).getAsDouble(scale) ||
      scale == 0)
    return std::nullopt;
  return scale;
}

bool isBatchNorm(const RecordedCall &call) {
  return getKind(call.op) == Kind::BatchNorm;
}

bool mayHaveBias(const RecordedCall &call) {
  const Row *row = findRow(call.op);
  return row && row->bias >= 0;
}

StringRef findBias(const RecordedCall &call) {
  if (!mayHaveBias(call))
    return "";
  unsigned number = findRow(call.op)->bias;
  if (number >= call.arguments.size())
    return "";
  const auto &values = call.arguments[number].values;
  return values.size() == 1 ? StringRef(values.front()) : "";
}

std::optional<unsigned> findArgument(const RecordedCall &call,
                                     const onnx::NodeProto &node, int operand) {
  const Row *row = findRow(call.op);
  StringRef operands = row ? findOperands(row->nodes, node.op_type()) : "";
  if (operand >= int(operands.size()) || operands[operand] == '-')
    return std::nullopt;
  // index(x, indices) looks up the first dimensions of x. The exporter moves
  // others to the front.
  if (call.op == "index" &&
      (call.arguments.size() < 2 || call.text(1).contains("None")))
    return std::nullopt;
  return operands[operand] - '0';
}

std::optional<StringRef> findValue(const RecordedCall &call,
                                   const onnx::NodeProto &node, int operand) {
  // Each tensor of a list is an operand.
  bool isList = node.op_type() == "Concat" && call.op == "cat";
  std::optional<unsigned> number =
      isList ? 0 : findArgument(call, node, operand);
  if (!number || *number >= call.arguments.size())
    return std::nullopt;
  const auto &values = call.arguments[*number].values;
  if (isList && int(values.size()) == node.input_size())
    return values[operand];
  return values.size() == 1 ? std::optional<StringRef>(values.front())
                            : std::nullopt;
}

Holding findHolding(const RecordedCall &call, const onnx::NodeProto &node,
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
