//===- TensorRoles.cpp - uses of tensors in a graph -----------------------===//
//
// See TensorRoles.h.
//
//===----------------------------------------------------------------------===//

#include "Parameters/TensorRoles.h"
#include "File/InlineNodes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace dtc::frontend {

static bool movesElements(StringRef op) {
  for (StringRef name :
       {"Identity", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten",
        "Expand", "Tile", "Slice", "Split", "Concat", "Cast"})
    if (op == name)
      return true;
  return false;
}

static bool isFunction(StringRef op) {
  return is_contained(
      {"Exp", "Log", "Sigmoid", "Tanh", "Softplus", "Relu", "Sin", "Cos"}, op);
}

/// The role of an operand by the definition of the node's operator.
static TensorRole getRole(const onnx::NodeProto &node, int operand) {
  enum Kind {
    None,
    Product,
    Filters,
    Norm,
    BatchNorm,
    Table,
    Slope,
    Recurrent
  };
  Kind kind = StringSwitch<Kind>(node.op_type())
                  .Cases({"MatMul", "Gemm", "Einsum"}, Product)
                  .Cases({"Conv", "ConvTranspose"}, Filters)
                  .Cases({"LayerNormalization", "InstanceNormalization"}, Norm)
                  .Cases({"GroupNormalization", "RMSNormalization"}, Norm)
                  .Case("BatchNormalization", BatchNorm)
                  .Case("Gather", Table)
                  .Case("PRelu", Slope)
                  .Cases({"LSTM", "GRU", "RNN"}, Recurrent)
                  .Default(None);
  TensorRole role;
  role.isProduct =
      kind == Product && !(node.op_type() == "Gemm" && operand == 2);
  role.isLookup = kind == Table && operand == 0;
  role.isStatistic = kind == BatchNorm && operand >= 3;
  role.isLayer = (kind == Product && !role.isProduct) ||
                 (kind == Filters && operand >= 1) ||
                 ((kind == Norm || kind == BatchNorm || kind == Recurrent) &&
                  operand >= 1 && operand <= (kind == Recurrent ? 3 : 2)) ||
                 (kind == Slope && operand == 1);
  return role;
}

bool isCopyOfEqual(const onnx::NodeProto &node) {
  return node.op_type() == "Identity" && node.input_size() == 1 &&
         node.output_size() == 1 &&
         !StringRef(node.output(0))
              .starts_with("/"); // such a name is a node of the model
}

/// Lists the nodes of a graph and its initializers, those of inner graphs
/// included. The nodes of an inner graph come before the node that has it.
static void flatten(const onnx::GraphProto &graph,
                    std::vector<const onnx::NodeProto *> &nodes,
                    std::vector<const onnx::TensorProto *> &initializers) {
  for (const auto &tensor : graph.initializer())
    initializers.push_back(&tensor);
  for (const auto &node : graph.node()) {
    for (const auto &attribute : node.attribute())
      if (attribute.has_g())
        flatten(attribute.g(), nodes, initializers);
    nodes.push_back(&node);
  }
}

TensorRoles::TensorRoles(const onnx::GraphProto &graph) {
  std::vector<const onnx::NodeProto *> nodes;
  std::vector<const onnx::TensorProto *> initializers;
  flatten(graph, nodes, initializers);
  // Values that do not depend on inputs, and whether they are vectors.
  StringSet<> known;
  StringMap<bool> isVector;
  for (const onnx::TensorProto *tensor : initializers) {
    known.insert(tensor->name());
    isVector[tensor->name()] =
        tensor->dims_size() > 0 &&
        count_if(tensor->dims(), [](int64_t dim) { return dim != 1; }) <= 1;
  }
  // Results of products, and normalized channels before and after scaling.
  StringSet<> products, normal, scaled;
  for (const onnx::NodeProto *each : nodes) {
    const onnx::NodeProto &node = *each;
    auto isKnown = [&](const std::string &input) {
      return input.empty() || known.contains(input);
    };
    StringRef op = node.op_type();
    if (node.input_size() == 0 || node.output_size() == 0) {
      known.insert(node.output().begin(), node.output().end());
      continue; // a constant, or an error that the importer reports
    }
    bool isAllKnown = true;
    forEachRead(node, [&](const std::string &name) {
      isAllKnown &= known.contains(name);
    });
    if (isAllKnown) {
      known.insert(node.output().begin(), node.output().end());
      if (op == "Identity") // another name of a stored tensor
        isVector[node.output(0)] = isVector.lookup(node.input(0));
    } else if (((op == "MatMul" || op == "Conv" || op == "ConvTranspose") &&
                any_of(node.input(), isKnown)) ||
               ((op == "Cast" || op == "Transpose") &&
                products.contains(node.input(0))))
      products.insert(node.output(0));
    else if (op == "InstanceNormalization" ||
             (op == "Reshape" && normal.contains(node.input(0))))
      normal.insert(node.output(0));
    else if (op == "Mul" && any_of(node.input(), [&](const auto &input) {
               return normal.contains(input);
             }))
      scaled.insert(node.output(0));
  }
  for (const onnx::NodeProto *each : reverse(nodes)) {
    const onnx::NodeProto &node = *each;
    bool isKnown = node.output_size() > 0 && known.contains(node.output(0));
    bool isBias = node.op_type() == "Add" &&
                  any_of(node.input(), [&](const std::string &input) {
                    return products.contains(input);
                  });
    const StringSet<> *norms = nullptr;
    if (node.op_type() == "Mul")
      norms = &normal;
    else if (node.op_type() == "Add")
      norms = &scaled;
    bool isNorm = norms && any_of(node.input(), [&](const std::string &input) {
                    return norms->contains(input);
                  });
    for (auto [operand, input] : enumerate(node.input())) {
      TensorRole role;
      if (!isKnown)
        role = getRole(node, operand);
      else if (movesElements(node.op_type()))
        role = find(node.output(0));
      role.isArgument |= isFunction(node.op_type());
      role.isBias |= isBias && isVector.lookup(input);
      role.isNorm |= isNorm && isVector.lookup(input);
      roles[input].add(role);
      if (!isCopyOfEqual(node))
        direct[input].add(role);
    }
  }
}

} // namespace dtc::frontend
