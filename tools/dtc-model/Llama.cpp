//===- Llama.cpp - Llama --------------------------------------------------===//
//
// A matrix of transformers' Llama has shape [out, in].
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"

#include <cmath>

namespace dtc::model {

namespace {
constexpr Start matrix = normal(0.02);
constexpr double rotaryBase = 10000;
constexpr float epsilon = 1e-5f;

std::string rmsNorm(Network &network, const std::string &path,
                    const std::string &x, int64_t width) {
  std::string square = network.apply(path, "Mul", {x, x});
  std::string mean = network.apply(path, "ReduceMean", {square},
                                   {{"axes", Ints{-1}}, {"keepdims", 1}});
  std::string root = network.apply(
      path, "Sqrt",
      {network.apply(path, "Add", {mean, network.scalar(epsilon)})});
  std::string unit = network.apply(
      path, "Mul", {x, network.apply(path, "Reciprocal", {root})});
  return network.apply(
      path, "Mul", {network.parameter(path + ".weight", {width}, ones), unit});
}

/// Cosines and sines of the rotation angles of a head's element pairs, both
/// [context, width]. The angle is position times base^(-2i / width) for pair i,
/// whose elements are i and i + width / 2.
struct Rotary {
  std::string cosines, sines;

  Rotary(Network &network, int64_t context, int64_t width) {
    const std::string path = "rotary";
    std::vector<float> frequencies;
    frequencies.reserve(static_cast<size_t>(width / 2));
    for (int64_t i = 0; i < width / 2; ++i)
      frequencies.push_back(
          static_cast<float>(std::pow(rotaryBase, -2.0 * i / width)));
    // A Constant node, because an initializer of rank 1 would be a parameter.
    std::string pairs = path + "/Constant";
    network.builder.setTensor(
        network.builder.node("Constant", pairs, {}, {pairs}), "value",
        frequencies);
    std::string positions = network.apply(
        path, "Range",
        {network.scalar(0), network.scalar(static_cast<float>(context)),
         network.scalar(1)});
    positions =
        network.apply(path, "Unsqueeze", {positions, network.ints({1})});
    std::string angles = network.apply(path, "Mul", {positions, pairs});
    angles = network.apply(path, "Concat", {angles, angles}, {{"axis", -1}});
    cosines = network.apply(path, "Cos", {angles});
    sines = network.apply(path, "Sin", {angles});
  }

  std::string turn(Network &network, const std::string &path,
                   const std::string &x) const {
    Names halves = network.split(path, x, 2);
    std::string turned = network.apply(
        path, "Concat", {network.apply(path, "Neg", {halves[1]}), halves[0]},
        {{"axis", -1}});
    return network.apply(path, "Add",
                         {network.apply(path, "Mul", {x, cosines}),
                          network.apply(path, "Mul", {turned, sines})});
  }
};

std::string attention(Network &network, const std::string &path,
                      const std::string &x, const TransformerSizes &sizes,
                      const Rotary &rotary, const std::string &mask) {
  int64_t headWidth = sizes.headWidth();
  auto project = [&](const char *name, int64_t heads) {
    std::string value =
        network.linear(path + name, x, sizes.width, heads * headWidth, matrix);
    return splitHeads(network, path + name, value, heads, headWidth);
  };
  std::string q = project(".q_proj", sizes.heads);
  std::string k = project(".k_proj", sizes.kvHeads);
  std::string v = project(".v_proj", sizes.kvHeads);
  q = rotary.turn(network, path, q);
  k = rotary.turn(network, path, k);
  return network.linear(path + ".o_proj",
                        attend(network, path, sizes, q, k, v, mask),
                        sizes.width, sizes.width, matrix);
}

/// down(silu(gate(x)) up(x))
std::string swiGlu(Network &network, const std::string &path,
                   const std::string &x, const TransformerSizes &sizes) {
  std::string gate =
      network.linear(path + ".gate_proj", x, sizes.width, sizes.hidden, matrix);
  std::string up =
      network.linear(path + ".up_proj", x, sizes.width, sizes.hidden, matrix);
  std::string silu = network.apply(
      path, "Mul", {gate, network.apply(path, "Sigmoid", {gate})});
  return network.linear(path + ".down_proj",
                        network.apply(path, "Mul", {silu, up}), sizes.hidden,
                        sizes.width, matrix);
}
} // namespace

Network buildLlama(const TransformerSizes &sizes) {
  Network network("llama");
  const std::string root = "model";
  std::string mask = causalMask(network, sizes.context);
  Rotary rotary(network, sizes.context, sizes.headWidth());
  std::string tokens = addTokens(network, sizes);
  std::string table = network.parameter(root + ".embed_tokens.weight",
                                        {sizes.vocab, sizes.width}, matrix);
  std::string x =
      network.apply(root + ".embed_tokens", "Gather", {table, tokens});
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    std::string path = root + ".layers." + std::to_string(layer);
    std::string y = rmsNorm(network, path + ".input_layernorm", x, sizes.width);
    y = attention(network, path + ".self_attn", y, sizes, rotary, mask);
    x = network.apply(path, "Add", {x, y});
    y = rmsNorm(network, path + ".post_attention_layernorm", x, sizes.width);
    x = network.apply(path, "Add",
                      {x, swiGlu(network, path + ".mlp", y, sizes)});
  }
  x = rmsNorm(network, root + ".norm", x, sizes.width);
  addLogits(network, sizes,
            network.linear("lm_head", x, sizes.width, sizes.vocab, matrix));
  return network;
}

} // namespace dtc::model
