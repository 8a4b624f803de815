//===- CallTable.cpp - PyTorch's operators and what they do ---------------===//
//
// The signatures are those of native_functions.yaml in PyTorch's sources.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "File/Nodes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
struct Row {
  StringLiteral names; ///< of operators that are alike
  CallKind kind;
  /// The nodes that the exporter makes of the call, each with the argument that
  /// its first operand is, its second and so on: "-" for one that is none.
  StringLiteral nodes = "";
  /// The keyword that multiplies an operand.
  StringLiteral scale = "";
  int bias = -1; ///< the argument
};

using Kind = CallKind;

constexpr Row table[] = {
    // Layers.
    {"linear", Kind::Layer, "MatMul 01, Gemm 012, Add 22", "", 2},
    {"addmm", Kind::Layer, "Gemm 120, MatMul 12, Add 00", "beta", 0},
    {"conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d "
     "conv_transpose3d",
     Kind::Layer, "Conv 012, ConvTranspose 012", "", 2},
    {"layer_norm native_layer_norm", Kind::Layer, "LayerNormalization -23"},
    {"rms_norm", Kind::Layer, "RMSNormalization -2, Mul 22"},
    {"_fused_rms_norm", Kind::Other, "RMSNormalization -2, Mul 22"},
    {"group_norm", Kind::Other, "GroupNormalization -23, Mul 22, Add 33"},
    {"native_group_norm", Kind::Other,
     "GroupNormalization -12, Mul 11, Add 22"},
    {"instance_norm", Kind::Other, "InstanceNormalization -12"},
    {"batch_norm", Kind::BatchNorm, "BatchNormalization 01234"},
    {"prelu _prelu_kernel", Kind::Other, "PRelu -1"},
    {"scaled_dot_product_attention", Kind::Other, "Add 33"},
    {"dropout native_dropout", Kind::Dropout},
    // Sums and products.
    {"add", Kind::Scale, "Add 01", "alpha"},
    {"sub", Kind::Scale, "Sub 01", "alpha"},
    {"rsub", Kind::Scale, "", "alpha"},
    {"mul", Kind::Scale, "Mul 01"},
    {"div", Kind::Scale, "Div 01"},
    {"addcmul", Kind::Other, "Add 00, Mul 11", "value"},
    {"addcdiv", Kind::Other, "", "value"},
    {"addmv addr addbmm baddbmm", Kind::Other, "", "beta"},
    {"mm", Kind::Other, "Gemm 01"},
    {"matmul bmm", Kind::Other, "MatMul 01"},
    {"pow", Kind::Other, "Pow 01"},
    {"maximum", Kind::Other, "Max 01"},
    {"minimum", Kind::Other, "Min 01"},
    // Comparisons.
    {"gt", Kind::Compare, "Greater 01"},
    {"lt", Kind::Compare, "Less 01"},
    {"eq", Kind::Compare, "Equal 01"},
    {"ge", Kind::Compare, "GreaterOrEqual 01"},
    {"le", Kind::Compare, "LessOrEqual 01"},
    {"ne", Kind::Compare},
    // Rows of tables.
    {"embedding", Kind::Lookup, "Gather 0"},
    {"index", Kind::Lookup, "Gather 0, GatherND 0"},
    {"embedding_bag index_select gather", Kind::Lookup},
    // Moves.
    {"alias clone contiguous copy detach to _to_copy type_as", Kind::Copy},
    {"view _unsafe_view reshape flatten unflatten squeeze unsqueeze",
     Kind::Reshape},
    {"expand expand_as repeat tile", Kind::Repeat},
    {"t numpy_t transpose permute movedim", Kind::Permute},
    {"select slice narrow split", Kind::Select},
    {"getitem", Kind::Part},
    // Numbers.
    {"scalar_tensor full full_like fill arange eye linspace zeros zeros_like "
     "ones ones_like empty empty_like empty_permuted new_full new_zeros "
     "new_ones new_empty lift_fresh lift_fresh_copy sym_size_int tril_indices "
     "triu_indices",
     Kind::Create},
    {"tril triu", Kind::Triangle},
};

const Row *findRow(StringRef name) {
  static const auto *rows = [] {
    auto *map = new StringMap<const Row *>;
    for (const Row &row : table)
      for (StringRef name : split(row.names, ' '))
        map->try_emplace(name, &row);
    return map;
  }();
  // Calls of decompositions end in their overload.
  name.consume_back("_default");
  if (name.contains("batch_norm")) // native, functional, of cuDNN, ...
    name = "batch_norm";
  return rows->lookup(name);
}

/// Returns the text after the operator in "MatMul 01, Gemm 012, Add 22".
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
