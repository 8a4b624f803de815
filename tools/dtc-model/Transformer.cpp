//===- Transformer.cpp - common parts of transformers ---------------------===//
//
// See Transformer.h.
//
//===----------------------------------------------------------------------===//

#include "Transformer.h"

#include <cmath>
#include <limits>

namespace dtc::model {

std::string addTokens(Network &network, const TransformerSizes &sizes) {
  network.builder.input("input_ids", {"batch", sizes.context},
                        onnx::TensorProto::INT64);
  return "input_ids";
}

std::string causalMask(Network &network, int64_t context) {
  std::string full =
      network.apply("mask", "Expand",
                    {network.scalar(std::numeric_limits<float>::lowest()),
                     network.ints({1, 1, context, context})});
  return network.apply("mask", "Trilu", {full, network.index(1)},
                       {{"upper", 1}});
}

std::string splitHeads(Network &network, const std::string &path,
                       const std::string &x, int64_t heads, int64_t width) {
  std::string parts =
      network.apply(path, "Reshape", {x, network.ints({0, 0, heads, width})});
  return network.apply(path, "Transpose", {parts},
                       {{"perm", Ints{0, 2, 1, 3}}});
}

std::string dropOut(Network &network, const std::string &path,
                    const TransformerSizes &sizes, const std::string &x) {
  if (sizes.dropout == 0)
    return x;
  return network.apply(path, "Dropout",
                       {x, network.scalar(sizes.dropout), network.yes()});
}

/// Repeats keys and values of a group for its heads, as models do: dtc
/// recognises grouped-query attention in this form.
std::string attend(Network &network, const std::string &path,
                   const TransformerSizes &sizes, const std::string &q,
                   std::string k, std::string v, const std::string &mask) {
  int64_t context = sizes.context, width = sizes.headWidth();
  int64_t headsOfGroup = sizes.heads / sizes.kvHeads;
  network.flops += 12.0 * context * sizes.width;
  auto reshape = [&](const std::string &x, const Ints &shape) {
    return network.apply(path, "Reshape", {x, network.ints(shape)});
  };
  auto repeat = [&](const std::string &x) {
    if (headsOfGroup == 1)
      return x;
    std::string each = reshape(x, {0, sizes.kvHeads, 1, context, width});
    std::string repeated = network.apply(
        path, "Expand", {each, network.ints({1, 1, headsOfGroup, 1, 1})});
    return reshape(repeated, {0, sizes.heads, context, width});
  };
  k = network.apply(path, "Transpose", {repeat(k)},
                    {{"perm", Ints{0, 1, 3, 2}}});
  v = repeat(v);
  std::string scores = network.apply(path, "MatMul", {q, k});
  std::string scale = network.scalar(static_cast<float>(1 / std::sqrt(width)));
  scores = network.apply(path, "Mul", {scores, scale});
  if (!mask.empty())
    scores = network.apply(path, "Add", {scores, mask});
  std::string weights =
      network.apply(path, "Softmax", {scores}, {{"axis", -1}});
  weights = dropOut(network, path + ".attn_dropout", sizes, weights);
  std::string result = network.apply(path, "MatMul", {weights, v});
  result =
      network.apply(path, "Transpose", {result}, {{"perm", Ints{0, 2, 1, 3}}});
  return reshape(result, {0, 0, sizes.width});
}

void addLogits(Network &network, const TransformerSizes &sizes,
               const std::string &logits) {
  network.builder.node("Identity", "logits", {logits}, {"logits"});
  network.builder.output("logits", {"batch", sizes.context, sizes.vocab});
}

} // namespace dtc::model
