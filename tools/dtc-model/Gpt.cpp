//===- Gpt.cpp - GPT-2 ----------------------------------------------------===//
//
// A matrix of transformers' GPT-2 has shape [in, out]. Projections into the
// residual start smaller by the square root of the number of such additions.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"

#include <cmath>

namespace dtc::model {

namespace {
constexpr Start matrix = normal(0.02);

std::string layerNorm(Network &network, const std::string &path,
                      const std::string &x, int64_t width) {
  std::string scale = network.parameter(path + ".weight", {width}, ones);
  std::string bias = network.parameter(path + ".bias", {width}, zeros);
  return network.apply(path, "LayerNormalization", {x, scale, bias},
                       {{"axis", -1}, {"epsilon", 1e-5f}});
}

std::string attention(Network &network, const std::string &path,
                      const std::string &x, const TransformerSizes &sizes,
                      bool separate, const std::string &mask,
                      const Start &residual) {
  Names projected;
  if (separate)
    for (const char *name : {".c_q", ".c_k", ".c_v"})
      projected.push_back(
          network.affine(path + name, x, sizes.width, sizes.width, matrix));
  else
    projected = network.split(path,
                              network.affine(path + ".c_attn", x, sizes.width,
                                             3 * sizes.width, matrix),
                              3);
  for (std::string &value : projected)
    value = splitHeads(network, path, value, sizes.heads, sizes.headWidth());
  std::string mixed = attend(network, path, sizes, projected[0], projected[1],
                             projected[2], mask);
  return dropOut(network, path + ".resid_dropout", sizes,
                 network.affine(path + ".c_proj", mixed, sizes.width,
                                sizes.width, residual));
}
} // namespace

Network buildGpt(const TransformerSizes &sizes, bool separate) {
  Network network("gpt");
  const std::string root = "transformer";
  const Start residual = normal(0.02 / std::sqrt(2.0 * sizes.layers));
  std::string mask = causalMask(network, sizes.context);
  std::string tokens = addTokens(network, sizes);
  std::string table = network.parameter(root + ".wte.weight",
                                        {sizes.vocab, sizes.width}, matrix);
  std::string positions = network.parameter(
      root + ".wpe.weight", {sizes.context, sizes.width}, matrix);
  std::string x = network.apply(
      root, "Add",
      {network.apply(root + ".wte", "Gather", {table, tokens}), positions});
  x = dropOut(network, root + ".drop", sizes, x);
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    std::string path = root + ".h." + std::to_string(layer);
    std::string y = layerNorm(network, path + ".ln_1", x, sizes.width);
    y = attention(network, path + ".attn", y, sizes, separate, mask, residual);
    x = network.apply(path, "Add", {y, x});
    y = layerNorm(network, path + ".ln_2", x, sizes.width);
    y = network.affine(path + ".mlp.c_fc", y, sizes.width, sizes.hidden,
                       matrix);
    y = network.gelu(path + ".mlp", y);
    y = network.affine(path + ".mlp.c_proj", y, sizes.hidden, sizes.width,
                       residual);
    y = dropOut(network, path + ".mlp.dropout", sizes, y);
    x = network.apply(path, "Add", {x, y});
  }
  x = layerNorm(network, root + ".ln_f", x, sizes.width);
  addLogits(network, sizes,
            network.multiplyTransposed("lm_head", x, table, sizes.width,
                                       sizes.vocab));
  return network;
}

} // namespace dtc::model
