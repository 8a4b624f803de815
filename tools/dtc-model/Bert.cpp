//===- Bert.cpp - BERT ----------------------------------------------------===//
//
// A matrix of transformers' BERT has shape [out, in]. Every token attends to
// all others: there is no mask.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"

#include <cmath>

namespace dtc::model {

namespace {
constexpr Start matrix = normal(0.02);

std::string dense(Network &network, const std::string &path,
                  const std::string &x, int64_t in, int64_t out) {
  std::string product = network.linear(path, x, in, out, matrix);
  return network.apply(
      path, "Add", {product, network.parameter(path + ".bias", {out}, zeros)});
}

std::string layerNorm(Network &network, const std::string &path,
                      const std::string &x, int64_t width) {
  std::string scale = network.parameter(path + ".weight", {width}, ones);
  std::string bias = network.parameter(path + ".bias", {width}, zeros);
  return network.apply(path, "LayerNormalization", {x, scale, bias},
                       {{"axis", -1}, {"epsilon", 1e-12f}});
}

/// Exact GELU: x / 2 (1 + erf(x / sqrt(2))).
std::string gelu(Network &network, const std::string &path,
                 const std::string &x) {
  std::string scaled = network.apply(
      path, "Div", {x, network.scalar(static_cast<float>(std::sqrt(2)))});
  std::string gate = network.apply(
      path, "Add", {network.apply(path, "Erf", {scaled}), network.scalar(1)});
  std::string half = network.apply(path, "Mul", {x, network.scalar(0.5f)});
  return network.apply(path, "Mul", {half, gate});
}

std::string embed(Network &network, const std::string &path,
                  const TransformerSizes &sizes, int64_t segments,
                  const std::string &words) {
  std::string tokens = addTokens(network, sizes);
  network.builder.input("token_type_ids", {"batch", sizes.context},
                        onnx::TensorProto::INT64);
  std::string positions =
      network.parameter(path + ".position_embeddings.weight",
                        {sizes.context, sizes.width}, matrix);
  std::string table = network.parameter(path + ".token_type_embeddings.weight",
                                        {segments, sizes.width}, matrix);
  std::string x = network.apply(
      path, "Add",
      {network.apply(path + ".word_embeddings", "Gather", {words, tokens}),
       network.apply(path + ".token_type_embeddings", "Gather",
                     {table, "token_type_ids"})});
  x = network.apply(path, "Add", {x, positions});
  return layerNorm(network, path + ".LayerNorm", x, sizes.width);
}

std::string attention(Network &network, const std::string &path,
                      const std::string &x, const TransformerSizes &sizes) {
  Names projected;
  for (const char *name : {".self.query", ".self.key", ".self.value"})
    projected.push_back(
        splitHeads(network, path + name,
                   dense(network, path + name, x, sizes.width, sizes.width),
                   sizes.heads, sizes.headWidth()));
  std::string mixed = attend(network, path + ".self", sizes, projected[0],
                             projected[1], projected[2], /*mask=*/"");
  return dense(network, path + ".output.dense", mixed, sizes.width,
               sizes.width);
}

/// Adds a layer's result to x and normalises the sum.
std::string addAndNorm(Network &network, const std::string &path,
                       const std::string &y, const std::string &x,
                       int64_t width) {
  return layerNorm(network, path + ".LayerNorm",
                   network.apply(path, "Add", {y, x}), width);
}
} // namespace

Network buildBert(const TransformerSizes &sizes, int64_t segments) {
  Network network("bert");
  std::string path = "bert.embeddings";
  std::string words = network.parameter(path + ".word_embeddings.weight",
                                        {sizes.vocab, sizes.width}, matrix);
  std::string x = embed(network, path, sizes, segments, words);
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    path = "bert.encoder.layer." + std::to_string(layer);
    std::string y = attention(network, path + ".attention", x, sizes);
    x = addAndNorm(network, path + ".attention.output", y, x, sizes.width);
    y = dense(network, path + ".intermediate.dense", x, sizes.width,
              sizes.hidden);
    y = gelu(network, path + ".intermediate", y);
    y = dense(network, path + ".output.dense", y, sizes.hidden, sizes.width);
    x = addAndNorm(network, path + ".output", y, x, sizes.width);
  }
  path = "cls.predictions";
  x = dense(network, path + ".transform.dense", x, sizes.width, sizes.width);
  x = gelu(network, path + ".transform", x);
  x = layerNorm(network, path + ".transform.LayerNorm", x, sizes.width);
  std::string logits = network.multiplyTransposed(path + ".decoder", x, words,
                                                  sizes.width, sizes.vocab);
  std::string bias = network.parameter(path + ".bias", {sizes.vocab}, zeros);
  addLogits(network, sizes,
            network.apply(path + ".decoder", "Add", {logits, bias}));
  return network;
}

} // namespace dtc::model
