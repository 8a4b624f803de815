//===- ParameterNames.cpp - readable parameter names ----------------------===//
//
// See ParameterNames.h.
//
//===----------------------------------------------------------------------===//

#include "Parameters/ParameterNames.h"
#include "Exporters/GeneratedNames.h"
#include "dtc/Support/ModulePath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

static StringRef getRole(const onnx::NodeProto &node, int operand) {
  StringRef op = node.op_type();
  bool hasBias = op == "Gemm" || op == "LayerNormalization" || op == "Conv" ||
                 op == "ConvTranspose" || op == "BatchNormalization";
  bool isBias = op == "Add" || op == "Sub" || (hasBias && operand == 2);
  if (op == "BatchNormalization" && operand >= 3)
    return operand == 3 ? "running_mean" : "running_var";
  return isBias ? "bias" : "weight";
}

/// Name of an operand in its module. PyTorch's attention stores the weights of
/// queries, keys and values as one `in_proj_weight`, beside `in_proj_bias`.
static std::string
getName(const onnx::NodeProto &node, int operand, const std::string &module,
        const StringMap<const onnx::TensorProto *> &initializers) {
  const onnx::TensorProto *weight = initializers.lookup(node.input(operand));
  const onnx::TensorProto *bias = initializers.lookup(module + ".in_proj_bias");
  if (node.op_type() == "MatMul" && operand == 1 && weight && bias &&
      weight->dims_size() == 2 && bias->dims_size() == 1 &&
      weight->dims(1) == bias->dims(0))
    return "in_proj_weight";
  return getRole(node, operand).str();
}

ParameterNamer::ParameterNamer(const Model &model) : record(model.record) {
  StringMap<const onnx::TensorProto *> initializers;
  for (const auto &initializer : model.graph().initializer()) {
    taken.insert(initializer.name());
    initializers[initializer.name()] = &initializer;
  }
  for (const auto &input : model.graph().input())
    taken.insert(input.name());
  for (const auto &node : model.graph().node()) {
    for (const std::string &output : node.output())
      taken.insert(output);
    // PyTorch's PReLU stores its slopes as a vector.
    if (node.op_type() == "PRelu" && node.input_size() == 2 &&
        model.hasPyTorchNames)
      slopes.insert(node.input(1));
    StringRef path = node.name();
    if (!path.starts_with("/"))
      continue;
    std::string module = getModulePath(path);
    if (module.empty())
      continue;
    std::string name = module + "." + path.rsplit('/').second.str();
    for (auto [i, input] : enumerate(node.input()))
      if (isGeneratedName(input))
        uses.try_emplace(input, Use{module, name,
                                    getName(node, i, module, initializers),
                                    node.op_type() == "MatMul" && i == 1});
  }
}

ParameterName ParameterNamer::choose(StringRef value, int rank) {
  auto use = uses.find(value);
  bool isRecorded = record.find(value) != nullptr;
  if (isGeneratedName(value) && !isRecorded && use != uses.end())
    for (const std::string &prefix : {use->second.module, use->second.node}) {
      std::string name = prefix + "." + use->second.role;
      if (taken.insert(name).second)
        return {name, use->second.transposed && rank == 2,
                slopes.contains(value) && rank > 1};
    }
  return {value.str(), false, slopes.contains(value) && rank > 1};
}

std::string ParameterNamer::findModule(StringRef value) const {
  auto use = uses.find(value);
  return use == uses.end() ? "" : use->second.module;
}

} // namespace dtc::frontend
