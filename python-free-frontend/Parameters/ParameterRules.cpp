//===- ParameterRules.cpp - whether a tensor is trained -------------------===//
//
// See ParameterRules.h.
//
//===----------------------------------------------------------------------===//

#include "Parameters/ParameterRules.h"
#include "Exporters/GeneratedNames.h"
#include "Parameters/ParameterNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Whether people often give this name to buffers of PyTorch.
static bool isBufferName(StringRef name) {
  StringRef last = name.rsplit('.').second;
  std::string leaf = (last.empty() ? name : last).lower();
  if (leaf == "pe" || leaf == "mean" || leaf == "std")
    return true;
  SmallVector<StringRef> words;
  StringRef(leaf).split(words, '_');
  for (StringRef word : {"token", "weight", "bias"})
    if (words.back() == word)
      return false;
  for (StringRef word :
       {"cos", "sin", "freq", "freqs", "frequencies", "rope", "mask", "buffer",
        "cache", "cached", "index", "anchors", "grid"})
    if (is_contained(words, word))
      return true;
  return false;
}

/// Whether modules of PyTorch give this name to parameters: "fc.weight",
/// "in_proj_bias", "weight_hh_l0_reverse".
static bool isModuleName(StringRef name) {
  StringRef leaf = name.rsplit('.').second;
  if (leaf.empty())
    leaf = name;
  for (StringRef start : {"in_proj_", "q_proj_", "k_proj_", "v_proj_"})
    if (leaf.consume_front(start))
      break;
  if (!leaf.consume_front("weight") && !leaf.consume_front("bias"))
    return leaf == "original0" || leaf == "original1" || leaf == "original";
  for (StringRef direction : {"_ih_l", "_hh_l", "_hr_l"})
    if (leaf.consume_front(direction)) {
      leaf.consume_back("_reverse");
      return leaf.find_first_not_of("0123456789") == StringRef::npos;
    }
  return is_contained({"", "_ih", "_hh", "_g", "_v", "_k", "_orig"}, leaf);
}

static bool containsAny(StringRef name, ArrayRef<StringRef> parts) {
  std::string lower = name.lower();
  return any_of(
      parts, [&](StringRef part) { return StringRef(lower).contains(part); });
}

/// Whether people give this name to parameters, and rarely to buffers. In a
/// PyTorch file, a name with "weight", "bias" or "scale" that no module uses
/// may be a buffer, such as class weights.
static bool isParameterName(StringRef name, bool isPyTorch) {
  return containsAny(name,
                     {"gamma", "beta", "token", "embed", "query", "alpha"}) ||
         (isPyTorch ? isModuleName(name)
                    : containsAny(name, {"weight", "bias", "scale"}));
}

Verdict judge(const Model &model, StringRef name, const TensorData &data,
              const Fingerprint &print, TensorRole role) {
  Verdict parameter{true}, constant{false};
  bool isPyTorch = model.hasPyTorchNames;
  // dtc keeps running statistics among the parameters.
  if (role.isStatistic)
    return parameter;
  if (model.record.isKnown()) {
    if (const Origin *origin = model.record.find(name)) {
      constant.reason =
          origin->kind == Origin::Buffer ? "buffer" : "constant of the model";
      parameter.isTrained = origin->isTrained;
      return origin->kind == Origin::Parameter ? parameter : constant;
    }
    if (model.restored.computed.contains(name))
      return parameter; // restoreModel has warned already
    constant.reason = "computed by the exporter";
    return constant;
  }
  // PyTorch's exporter keeps names of scalars only from the state dict.
  if (data.shape.empty() && !role.isWeight() && !isPyTorch) {
    constant.reason = "scalar";
    return constant;
  }
  if (isConstantName(name, product_of(data.shape) == 1)) {
    constant.reason = "constant by its name";
    constant.isDoubtful = true;
    return constant;
  }
  if (print.huge) {
    constant.reason = "mask";
    constant.isDoubtful = true;
    return constant;
  }
  // PyTorch's exporter keeps the names of biases. Keras calls this exporter
  // without names for biases.
  bool isMadeUp = isGeneratedName(name) && model.hasNames && isPyTorch &&
                  !role.isLookup && !role.isProduct && !role.isLayer &&
                  !role.isNorm;
  if (role.isWeight() && !isMadeUp) {
    // PyTorch's modules call their parameters weight and bias. Any other name
    // may be that of a buffer.
    parameter.isDoubtful =
        isPyTorch && !isGeneratedName(name) && !isParameterName(name, true);
    if (!isBufferName(name))
      return parameter;
    constant.reason = "buffer by its name";
    constant.isDoubtful = true;
    return constant;
  }
  if (isGeneratedName(name)) {
    constant.reason = "named by the exporter, and not used as a weight";
    constant.isComputed = !data.shape.empty() || role.isArgument;
    return constant;
  }
  parameter.isDoubtful = !isParameterName(name, isPyTorch);
  if (!isBufferName(name))
    return parameter;
  constant.reason = "buffer by its name";
  constant.isDoubtful = true;
  return constant;
}

} // namespace dtc::frontend
